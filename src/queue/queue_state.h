/* SPDX-License-Identifier: Apache-2.0 */
/* The queue's own members, and which lock owns each. Private to this folder:
 * of queue.c and find.c. */
#pragma once

#include <pthread.h>

#include "queue/catalog.h"
#include "queue/queue.h"
#include "queue/sequence.h"

struct queue {
    const struct queue_options *options;
    struct ha *ha;
    struct ha_terms *terms; /* of those without a period, by the index of their
                               options; behind the listed ones the automatic
                               ones' */
    struct wiped *memory;   /* that a forked child finds zero */
    bool *is_alive;         /* in it */

    pthread_rwlock_t catalog_lock; /* guards the next two */
    struct catalog catalog;
    int64_t automatic; /* sequences that made themselves */

    struct keeper *keeper; /* of the spool; NULL: none. Constant after open. */
    struct wall *wall;     /* NULL: nothing has a period. Likewise */

    pthread_t thread;
    bool is_started;
    pthread_mutex_t lock; /* guards what follows, and the sequences' flags */
    pthread_cond_t changed;
    struct seqb_sequence *active; /* to be looked at in the next interval */
    int64_t turn_ms; /* when one with a period is to be looked at; INT64_MAX */
    bool is_woken;
    bool is_stopping;
};

/* Makes a sequence. With the catalog locked for writing, or nobody else there
 * yet. */
enum seqb_status queue_add(struct queue *queue,
                           const struct queue_sequence_options *options,
                           const char *key, struct seqb_sequence **out,
                           struct seqb_error *err);
