/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence: its ring, who waits for it, and its refill. Private to this
 * folder.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "ha/ha.h"
#include "queue/queue.h"
#include "queue/refill.h"
#include "queue/ring.h"

struct seqb_sequence {
    struct ha_sink sink; /* first: grants are delivered to it */
    struct ring *ring;
    struct queue *queue;
    struct ha_counter *counter;
    struct queue_sequence_options options;
    char key[SEQB_KEY_MAX + 1];
    struct seqb_sequence *next_in_bucket;

    /* Threads in calls that found the ring empty, and whether a ready call is
     * owed. Sequentially consistent: a taker announces itself and looks at the
     * ring, a delivery fills the ring and looks here; one of them must see the
     * other. */
    atomic_int waiters;
    atomic_bool is_armed;
    _Atomic int64_t waits; /* calls that found the ring empty; a statistic */

    pthread_mutex_t lock; /* guards pushing, closing, and what follows */
    pthread_cond_t filled;
    bool is_closed;
    struct refill refill;
    int64_t low;      /* of the last plan */
    int64_t floor;    /* no run that begins at or below it is pushed */
    uint64_t dropped; /* numbers, by an operator's order: none was taken */

    pthread_mutex_t ready_lock; /* held while ready runs */
    void (*ready)(void *context);
    void *ready_context;

    /* Guarded by the queue's lock. */
    bool is_woken;
    bool is_active; /* looked at in every interval */
    struct seqb_sequence *next_active;
};

enum seqb_status sequence_new(struct queue *queue, struct ha_pool *pool,
                              const struct queue_sequence_options *options,
                              const char *key, struct seqb_sequence **out,
                              struct seqb_error *err);
void sequence_free(struct seqb_sequence *sequence);

/* Answers everybody who waits, now and later, with SEQB_CLOSED; returns when
 * nobody waits any more, so that the sequence may be freed. */
void sequence_close(struct seqb_sequence *sequence);

/* On the refill thread: plans, and asks. True while it wants to be looked at
 * again in the next interval, or at `*next_ms` if that is sooner. */
bool sequence_refill(struct seqb_sequence *sequence, int64_t now_ms,
                     int64_t *next_ms);

void sequence_status(struct seqb_sequence *sequence, int64_t now_ms,
                     struct seqb_sequence_status *out);

/* Of queue.c: has the refill thread look at the sequence now. Any thread. */
void queue_wake(struct seqb_sequence *sequence);
