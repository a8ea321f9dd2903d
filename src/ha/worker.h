/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One backend's thread, which owns its connection: takes what is posted, probes
 * when its member is quarantined, tells its pools how calls went.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "ha/counter.h"
#include "ha/events.h"

#define WORKER_BATCH 64 /* requests in one call of an engine */

/* Who leases the worker id of a local engine: see tenant.h. */
struct tenant;

/* A pool that the worker serves, as which member of it. */
struct worker_duty {
    struct ha_pool *pool;
    int32_t member;
};

struct worker {
    struct connection connection; /* first: an endpoint lists connections. Its
                                     thread's own */
    struct events *events;        /* NULL: only the log */
    struct tenant *tenant;      /* of a local engine: see tenant.h; else NULL */
    struct worker_duty *duties; /* constant after start */
    size_t duty_count;
    pthread_t thread;
    bool is_started;

    pthread_mutex_t lock; /* guards first ... is_woken */
    pthread_cond_t changed;
    struct worker_job *first;
    struct worker_job *last;
    bool is_stopping;
    bool is_woken; /* look again when the next probe is due */

    /* Of ha_open's and ha_admit's threads: it did not answer them in time, and
     * is not asked by them again. */
    bool is_silent;

    /* Startup is over: probes may begin. Relaxed: it carries nothing, and
     * worker_wake follows it. */
    atomic_bool is_serving;

    /* When a call was answered last; and whether another backend on the same
     * server could not connect since. Relaxed: whoever reads it looks again. */
    _Atomic int64_t well_ms;
    atomic_bool is_doubted;

    /* The thread's own. */
    bool is_probing;
    int64_t highest;       /* value of any direct counter granted, or window */
    int64_t mend_until_ms; /* one bound for the windows of a batch */
    struct slot *batch[WORKER_BATCH];
    struct seqb_request requests[WORKER_BATCH];
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

/* How a local engine's values are made up. */
struct bits_layout worker_local_bits(const struct worker *worker);

/* Sets up a worker that is zeroed but for its connection, with room for
 * `duties` duties, not yet running. */
enum seqb_status worker_init(struct worker *worker, size_t duties,
                             struct seqb_error *err);

/* Starts its thread; of serve.c. */
enum seqb_status worker_start(struct worker *worker, struct seqb_error *err);

/* Tells the thread to end; then waits for it. What is still posted is
 * answered SEQB_CLOSED. */
void worker_stop(struct worker *worker);
void worker_join(struct worker *worker);
void worker_fini(struct worker *worker);

/* Any thread. False, and nothing is posted, if the worker is stopping. */
bool worker_post(struct worker *worker, struct worker_job *job);

/* Takes all that was posted, in its order; NULL: nothing. */
struct worker_job *worker_take(struct worker *worker);

/* Any thread: looks again when its next probe is due. */
void worker_wake(struct worker *worker);
