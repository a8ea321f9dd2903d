/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of one backend, which owns its connection. It carries out what is
 * posted, probes its store while the member is quarantined, looks at the store
 * when nobody asks it, and reports to its pools how calls went.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "ha/counter/counter.h"
#include "ha/events.h"
#include "ha/raised.h"

#define WORKER_BATCH 64 /* requests in one call of an engine */

/* A pool that the worker serves, and the worker's member index in it. */
struct worker_membership {
    struct ha_pool *pool;
    int32_t member;
};

struct worker {
    struct connection connection; /* used by its thread only */
    struct worker *all;      /* the ha's workers, with this one; constant */
    size_t all_count;        /* constant after start */
    struct events *events;   /* NULL: only the log */
    struct raised *raised;   /* of the ha; NULL: nothing is kept */
    struct granted *granted; /* the same */
    const _Atomic int64_t *begun_ms;       /* of the ha, see ha_begun */
    const _Atomic int64_t *limit_ms;       /* of the ha, see ha_end_waits;
                                              NULL: no limit */
    struct worker_membership *memberships; /* constant after start */
    size_t membership_count;
    pthread_t thread;
    bool is_started;

    pthread_mutex_t *lock; /* of the ha: guards first ... wanted_endpoint */
    pthread_cond_t changed;
    struct worker_job *first;
    struct worker_job *last; /* valid if there is a first one */
    bool is_stopping;
    struct worker_job again; /* job that closes the connection */
    bool is_again_posted;
    const struct store_options *wanted; /* options of the next connection */
    struct endpoint *wanted_endpoint;   /* server of the next connection */

    /* Startup is over: probes may begin. Relaxed, because no other data depends
     * on it, and worker_wake follows the store. */
    atomic_bool is_serving;

    /* Another backend on the same server could not connect since this one's
     * store last answered. Relaxed: the reader checks the server itself. */
    atomic_bool is_doubted;

    /* Used by its thread only. */
    bool is_probing;
    bool is_looking;               /* its call is a look */
    char origin[SEQB_ORIGIN_SIZE]; /* of the store, at the last open */
    uint32_t history;              /* counts the changes of `origin` */
    int64_t highest; /* value granted of any direct counter, or of windows */
    int64_t compared_ms; /* when claims were last compared, in a store that may
                            forget them */
    int64_t mend_until_ms; /* end of the wait for windows, for all of a batch */
    struct slot *batch[WORKER_BATCH];
    size_t asked; /* length of the first part of the batch, for which the store
                     is asked */
    struct seqb_request requests[WORKER_BATCH];
    struct seqb_guard guards[WORKER_BATCH]; /* of requests that have one */
    char names[WORKER_BATCH][SEQB_COUNTER_SIZE];
};

static inline const char *worker_name(const struct worker *worker)
{
    return connection_name(&worker->connection);
}

static inline enum seqb_guarantee worker_guarantee(const struct worker *worker)
{
    return connection_guarantee(&worker->connection);
}

/* Whether that member of the pool counts in windows. An engine that could count
 * directly may do so, too. */
static inline bool pool_is_windowed(const struct ha_pool *pool, int32_t member)
{
    return layout_is_windowed(&pool->options->layout, member,
                              pool->workers[member]->connection.options->ops);
}

/* With the pool's lock held. Bit i: the present call of partition i's
 * worker, for any counter, takes longer than usual. Other partitions are
 * asked first. */
static inline uint64_t pool_hanging(const struct ha_pool *pool, int64_t now_ms)
{
    uint64_t hanging = 0;

    for (int32_t i = 0; i < pool->pool.partitions; i++) {
        const int64_t call_ms = atomic_load_explicit(
            &pool->workers[i]->connection.call_ms, memory_order_relaxed);

        if (call_ms >= 0 && now_ms - call_ms > pool_patience_ms(&pool->pool, i))
            hanging |= (uint64_t)1 << i;
    }
    return hanging;
}

/* Sets up a worker that is zeroed except for its connection, with room for that
 * many memberships. It does not run yet. */
enum seqb_status worker_init(struct worker *worker, pthread_mutex_t *lock,
                             size_t memberships, struct seqb_error *err);

/* Starts its thread. In serve.c. */
enum seqb_status worker_start(struct worker *worker, struct seqb_error *err);

/* The first tells the thread to end, the second waits for it. Jobs that are
 * still posted are answered SEQB_CLOSED. */
void worker_stop(struct worker *worker);
void worker_join(struct worker *worker);
void worker_fini(struct worker *worker);

/* Any thread. False, and nothing is posted, if the worker is stopping. */
bool worker_post(struct worker *worker, struct worker_job *job);

/* The same with the lock held. */
static inline bool worker_push(struct worker *worker, struct worker_job *job)
{
    if (worker->is_stopping)
        return false;
    job->next = NULL;
    if (worker->first == NULL)
        worker->first = job;
    else
        worker->last->next = job;
    worker->last = job;
    pthread_cond_signal(&worker->changed);
    return true;
}

/* With the lock held: closes the connection after the jobs that are already
 * posted, and opens it again. */
void worker_connect_again(struct worker *worker);

/* The same, with other options. They must outlive the worker. */
void worker_change(struct worker *worker, const struct store_options *options,
                   struct endpoint *endpoint);

/* Any thread: makes the worker check again when its next probe is due. */
void worker_wake(struct worker *worker);

/* In clocks.c. The time that a raise passes for the store's base: no period
 * that any broker has begun so far begins after it. */
int64_t worker_base_ms(const struct worker *worker);
