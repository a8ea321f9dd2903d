/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the stores whether they know a new automatic sequence with other
 * settings or in another pool, before its first number. It has a thread of its
 * own, because the stores may take long to answer, and neither a call that
 * looks up a key nor the refill may wait for them. Until they have answered,
 * the sequence is SEQUENCE_ADMITTING: callers wait for its numbers, and none is
 * asked for. If a store of another pool cannot be asked, the sequence is put
 * off, and asked about again. So is a listed one. Private to this folder.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include <seqbroker/status.h>

#include "queue/retry.h"

struct queue;
struct seqb_sequence;

struct admitter {
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    struct seqb_sequence *first;   /* to be admitted, linked by next_aside */
    struct seqb_sequence *put_off; /* the same, at the next retry */
    struct retry retry;            /* read only if there are some put off */
    size_t waiting;                /* sequences with is_waiting */
    pthread_t thread;
    bool is_started; /* at the first sequence */
    bool is_stopping;
};

void admitter_init(struct admitter *admitter);
void admitter_fini(struct admitter *admitter);

/* Any thread: has the stores asked about a sequence that no other thread uses
 * yet. If that fails, no thread knows the sequence. SEQB_CLOSED: after
 * admitter_stop. */
enum seqb_status admitter_add(struct queue *queue,
                              struct seqb_sequence *sequence,
                              struct seqb_error *err);

/*
 * Of sequences that ha_admit was called for: the first marks those that are
 * unasked, which no other thread uses yet. The second puts them off, once the
 * catalog has them, and cannot fail.
 */
enum seqb_status admitter_expect(struct queue *queue,
                                 struct seqb_sequence *const *sequences,
                                 size_t count, struct seqb_error *err);
void admitter_put_off(struct queue *queue,
                      struct seqb_sequence *const *sequences, size_t count);

/* A reload changed which sequences are listed: those that are put off are
 * looked at now. */
void admitter_retry_now(struct queue *queue);

/* Waits until the sequence is settled, or until its deadline. SEQB_LAYOUT: it
 * is refused. SEQB_UNKNOWN_KEY: a reload took it out. SEQB_UNAVAILABLE: it is
 * not settled yet. */
enum seqb_status admitter_wait(struct seqb_sequence *sequence,
                               struct seqb_error *err);

/* How many sequences are put off. Any thread. */
size_t admitter_waiting(struct queue *queue);

/* Waits for the stores' answers, and ends the thread. */
void admitter_stop(struct admitter *admitter);
