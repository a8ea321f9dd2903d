/* SPDX-License-Identifier: Apache-2.0 */
/* The queue's own members, which lock owns each, and its sequences by key.
 * Private to this folder. */
#pragma once

#include <pthread.h>

#include "queue/catalog.h"
#include "queue/queue.h"
#include "queue/sequence.h"

struct flusher;

struct queue {
    const struct queue_options *first; /* that it was opened with; constant */
    struct ha *ha;
    struct ha_counter_attributes
        *attributes; /* by the index of the sequence's options in the first
      ones; behind the listed ones the automatic ones' */
    bool *is_alive;  /* in memory that a forked child finds zero */
    struct source_context context;

    pthread_rwlock_t catalog_lock;       /* guards the next four */
    const struct queue_options *options; /* of the last reload */
    struct catalog catalog;
    int64_t automatic; /* sequences that made themselves */
    int64_t forgotten; /* of these, that count only from their first number on:
                          at most so many of those that have none */

    /* Made for a reload that was refused, by next_active: a worker that hangs
     * may still look at their counters. Only reloads read and write it. */
    struct seqb_sequence *abandoned;
    pthread_mutex_t admit_lock; /* held over ha_admit once the queue is open */

    struct flusher
        *flusher; /* of the spool; NULL: none. Constant after open. */

    pthread_t thread; /* of the agenda */
    bool is_started;
    struct resume resume; /* that thread's own */
};

/* Of resume.c, on the refill thread, now and then: if the machine's clocks
 * leapt apart, all numbers that are held are dropped. */
void queue_watch(struct queue *queue);

/* Of generators.c. The pools' generators: made before their sequences, started
 * when these are claimed, waiting until `until_ms` for the first answers;
 * closed before the ha, freed with the queue. */
enum seqb_status generators_open(struct queue *queue, struct seqb_error *err);
enum seqb_status generators_start(struct queue *queue, int64_t until_ms,
                                  struct seqb_error *err);
void generators_close(struct queue *queue);
void generators_free(struct queue *queue);

/* Of make.c, as the next two are. What the counter of a sequence with such
 * options claims, and may give. */
struct ha_counter_attributes
queue_attributes(const struct queue_sequence_options *options);

/* Makes a sequence that is in no catalog yet, with a
 * copy of the options. */
enum seqb_status queue_make(struct queue *queue,
                            const struct queue_sequence_options *options,
                            const char *key, struct seqb_sequence **out,
                            struct seqb_error *err);

/* Makes a sequence. With the catalog locked for writing,
 * or nobody else there yet. */
enum seqb_status queue_add(struct queue *queue,
                           const struct queue_sequence_options *options,
                           const char *key, struct seqb_sequence **out,
                           struct seqb_error *err);

/* Whether a key makes its sequence with such options. */
bool options_match(const struct queue_options *options, const char *key);

/* The next three are of automatic.c. A key that no sequence of auto_sequences
 * can have is SEQB_INVALID. */
enum seqb_status automatic_check(const struct queue_sequence_options *options,
                                 const char *key, struct seqb_error *err);

/* Of a key that is not there and matches, with the catalog locked: SEQB_AGAIN
 * if automatic_add may make its sequence, or SEQB_UNKNOWN_KEY. */
enum seqb_status automatic_may_add(struct queue *queue, const char *key,
                                   struct seqb_error *err);

/* With the catalog locked for writing: makes the sequence. */
enum seqb_status automatic_add(struct queue *queue, const char *key,
                               struct seqb_sequence **out,
                               struct seqb_error *err);

/* The rest is of find.c. The sequence of a key if it is there, else NULL. */
struct seqb_sequence *queue_peek(struct queue *queue, const char *key);

/* Visits some sequences with the catalog locked, from `*at` on, which is moved
 * behind them; false when there are no more. */
bool queue_visit(struct queue *queue, size_t *at,
                 void (*visit)(void *context, struct seqb_sequence *sequence),
                 void *context);
