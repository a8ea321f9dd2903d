/* SPDX-License-Identifier: Apache-2.0 */
/* The members of the queue, the lock that guards each, and the look-up of
 * sequences by key. Private to this folder. */
#pragma once

#include <fnmatch.h>
#include <pthread.h>

#include "queue/admitter.h"
#include "queue/catalog.h"
#include "queue/looks/looks.h"
#include "queue/queue.h"
#include "queue/sequence.h"

struct flusher;
struct text_list;

struct queue {
    const struct queue_options *first; /* the options of queue_open; constant */
    struct ha *ha;
    struct ha_counter_attributes
        *attributes; /* by the index of a sequence in `first->sequences`; the
                        last element is that of the automatic sequences */
    bool *is_alive;  /* in memory that is zero in a forked child */
    struct source_context context;

    pthread_rwlock_t catalog_lock;       /* guards the next four */
    const struct queue_options *options; /* of the last reload, or `first` */
    struct catalog catalog;
    int64_t automatic; /* automatic sequences */
    int64_t forgotten; /* at most so many automatic sequences without a number
                          do not count against auto_limit */

    /* Sequences that were made for a refused reload, linked by next_aside.
     * They are kept because a worker that hangs may still read their counters,
     * and the agenda may have them. Only reloads read and write the list. */
    struct seqb_sequence *abandoned;
    pthread_mutex_t admit_lock; /* held over ha_admit once the queue is open.
                                   Only the admitter and reloads take it */
    struct admitter admitter;
    struct looks looks;

    struct flusher *flusher; /* exchanges with the spool; NULL: no spool.
                                Constant after queue_open. */

    pthread_t thread; /* the refill thread */
    bool is_started;
    int64_t keep_until_ms; /* see queue_end_waits */
    struct resume resume;  /* used by the refill thread only */
};

/* In resume.c. The refill thread calls it about once a second. If the machine's
 * clocks jumped apart, it drops all numbers that are held. */
void queue_watch(struct queue *queue);

/* In clock.c: whether the guarded clock gives no time, and all sequences have a
 * period, the automatic ones too. */
bool queue_lacks_time(struct queue *queue);

/* In generators.c: the generators of the pools' snowflakes. Open them before
 * their sequences are made. Start them when the sequences are claimed; the call
 * waits until `until_ms` at most for the first answers. generators_shut ends
 * the waits of callers: no id is made after it. Close them before the ha, and
 * free them with the queue. */
enum seqb_status generators_open(struct queue *queue, struct seqb_error *err);
enum seqb_status generators_start(struct queue *queue, int64_t until_ms,
                                  struct seqb_error *err);
void generators_shut(struct queue *queue);
void generators_close(struct queue *queue);
void generators_free(struct queue *queue);

/* Whether each pool with snowflakes can make ids now, or in the next ms; else
 * `why` says why not: it has no worker id, its clock is behind, or its time
 * does not fit its bits. */
bool generators_can_make(const struct queue *queue, struct text_list *why);

/* This and the next two are in make.c. What the counter of a sequence with
 * these options claims, and which numbers it may give. */
struct ha_counter_attributes
queue_attributes(const struct queue_sequence_options *options);

/* Makes a sequence with a copy of the options. It is not in the catalog yet. */
enum seqb_status queue_make(struct queue *queue,
                            const struct queue_sequence_options *options,
                            const char *key, struct seqb_sequence **out,
                            struct seqb_error *err);

/* Makes a sequence and adds it to the catalog. The catalog is locked for
 * writing, or no other thread knows the queue yet. */
enum seqb_status queue_add(struct queue *queue,
                           const struct queue_sequence_options *options,
                           const char *key, struct seqb_sequence **out,
                           struct seqb_error *err);

/* Whether auto_sequences of these options match the key. */
static inline bool options_match(const struct queue_options *options,
                                 const char *key)
{
    return options->automatic != NULL &&
           fnmatch(options->auto_pattern, key, 0) == 0;
}

/* The template by which auto_sequences of these options make texts of the key,
 * also on other brokers; NULL: none. */
const struct template *options_template(const struct queue_options *options,
                                        const char *key);

/* The next four are in automatic.c. SEQB_INVALID if no sequence of
 * auto_sequences can have this key. */
enum seqb_status automatic_check(const struct queue_sequence_options *options,
                                 const char *key, struct seqb_error *err);

/* With the catalog locked, for a key that matches and has no sequence:
 * SEQB_AGAIN if automatic_add may make one, else as looks_ask. */
enum seqb_status automatic_may_add(struct queue *queue, const char *key,
                                   struct seqb_error *err);

/* With the catalog locked for writing: makes the key's sequence, unless the
 * limit is reached. */
enum seqb_status automatic_add(struct queue *queue, const char *key,
                               struct seqb_sequence **out,
                               struct seqb_error *err);

/* The stores know the key: makes its sequence, above the limit if need be. If
 * memory is short, it does not. With the catalog not locked. */
void automatic_add_known(struct queue *queue, const char *key);

/* The rest is in find.c. The sequence of a key; NULL if there is none. */
struct seqb_sequence *queue_peek(struct queue *queue, const char *key);

/* With the catalog locked, calls `visit` for some sequences from index `*at`
 * on, and advances `*at`. False when there are no more. */
bool queue_visit(struct queue *queue, size_t *at,
                 void (*visit)(void *context, struct seqb_sequence *sequence),
                 void *context);
