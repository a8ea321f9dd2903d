/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running parts of this folder, and which thread or lock owns each field.
 *
 * A worker is one backend's thread and connection. It stands in at most one
 * partition of one pool, and may lease windows for pools besides (its
 * duties). A slot is one counter in one backend: the unit of work, at most one
 * of it under way at any time.
 *
 * Locks: ha_pool.lock, then worker.lock. Neither is held over a call of an
 * engine or of a sink.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "ha/events.h"
#include "ha/fence.h"
#include "ha/ha.h"
#include "ha/pool.h"
#include "period/period.h"
#include "store/store.h"

#define CLASSES 3 /* of enum seqb_guarantee */

#define WORKER_BATCH 64 /* requests in one call of an engine */

struct worker;

/* Something for a worker to do, in the order of posting. */
struct worker_job {
    struct worker_job *next;
    /* NULL: a slot, to be batched with others. Runs on the worker's thread. */
    void (*call)(struct worker *worker, struct worker_job *job);
    /* Instead of the call, on the same thread, once that has ended; NULL:
     * nobody minds. */
    void (*abandon)(struct worker_job *job);
};

/* Who leases the worker id of a local engine: see tenant.h. */
struct tenant;

/* Where the windows of one slot come from: see window.h. */
struct window_source;

/* What a counter's forecast is made of: see sample.h. */
struct sample;

/* The forgetting of its old stamps: see purge.c. */
struct purge;

/* One for each partition of every sequence: small things stand together. */
struct slot {
    struct worker_job job;
    struct ha_counter *counter;    /* NULL: of no sequence, see ticket_slot */
    struct window_source *windows; /* NULL: none was taken from it yet */

    /* The question, set by who posts it; then the answer, set by the worker
     * just before it calls done. */
    int64_t want;
    int64_t floor; /* the block, or its window, must lie above it; 0: none */
    struct seqb_block block;
    struct seqb_error *why; /* valid in done only; NULL on success */
    void (*done)(struct slot *slot);

    /* The worker's own. */
    struct fence_mark mark;
    uint32_t admitted_on; /* the connection on which the claim was compared */

    /* Guarded by the pool's lock; not used for a lease. */
    enum seqb_status closed; /* EXHAUSTED or LAYOUT: never ask again */
    int64_t last;            /* the highest value granted; 0: none yet */
    int64_t at_ms; /* busy: when it was asked; else: not to be asked before, as
                      this counter alone has failed */
    char *reason;  /* of closed or rest; NULL: none */

    int16_t partition; /* constant, as the next three */
    bool is_windowed;
    bool is_local;
    bool is_lease;   /* the counter is that of a window source */
    bool is_busy;    /* guarded by the pool's lock */
    bool was_raised; /* the worker's own: to get this answer */
};

static inline enum seqb_guarantee slot_class(const struct slot *slot)
{
    if (slot->is_local)
        return SEQB_LOCAL;
    return slot->is_windowed ? SEQB_WINDOWED : SEQB_DIRECT;
}

/* A lease of a counter that belongs to no sequence. */
struct ticket_slot {
    struct slot slot; /* first: it is posted to the worker */
    struct ha_pool *pool;
    const char *key;
};

/* With the pool's lock held: the slot is to be asked for `want` values, near
 * the level of its class. */
void slot_ask(struct slot *slot, int64_t want, int64_t now_ms);

struct ha_counter {
    struct ha_pool *pool;
    struct ha_sink *sink;
    const char *key;              /* behind the slots */
    const struct ha_terms *terms; /* NULL: the usual ones */
    struct ha_stamp stamp; /* digits 0: none. Changes only while nothing is
                              under way for it */
    struct purge *purge;   /* NULL: nothing was purged yet */
    int32_t memory_bits;
    int32_t partitions; /* number of slots; freeing outlives the pool */
    /* The highest value, or window, that any partition of the class granted;
     * guarded by the pool's lock. */
    int64_t level[CLASSES];
    /* By class, and guarded by it too: nothing at or below that value, or
     * window, is used any more, by an operator's order. */
    int64_t floor[CLASSES];
    int32_t advancing;     /* calls that wait for the pool's `answered` */
    struct sample *sample; /* of sample.c; NULL: it was never asked */
    struct slot slots[];   /* one a partition */
};

struct ha_pool {
    const struct ha_pool_options *options;
    struct worker *workers[POOL_MEMBERS_MAX]; /* by member */
    struct worker *authority;                 /* NULL: none */
    int32_t members;

    pthread_mutex_t lock;    /* guards what follows, and the slots' flags */
    pthread_cond_t answered; /* a slot of a counter that is being advanced */
    struct pool pool;
    struct ha_counter *recent; /* the last one asked: probes reserve for it */
    /* Written once, before any worker is asked to verify; then constant. */
    struct layout_claim claim;
};

static inline struct ha_pool *slot_pool(const struct slot *slot)
{
    return slot->counter == NULL ? ((const struct ticket_slot *)slot)->pool
                                 : slot->counter->pool;
}

static inline const char *slot_key(const struct slot *slot)
{
    return slot->counter == NULL ? ((const struct ticket_slot *)slot)->key
                                 : slot->counter->key;
}

/* Bits of a number that are no counter's: those of the partition, and those
 * that the sequence has no use for. */
static inline int32_t counter_spent_bits(const struct ha_counter *counter)
{
    const int32_t value_bits =
        counter->terms == NULL ? BITS_ALL : counter->terms->value_bits;

    return counter->pool->options->layout.bits + BITS_ALL - value_bits;
}

/* What is claimed for the counter's sequence. */
static inline struct claim_terms counter_claim(const struct ha_counter *counter)
{
    return (struct claim_terms){
        .layout = &counter->pool->options->layout,
        .key = counter->key,
        .memory_bits = counter->memory_bits,
        .more = counter->terms == NULL ? "" : counter->terms->claim};
}

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
static inline struct bits_layout slot_local_bits(const struct slot *slot)
{
    const struct seqb_backend_options *options =
        &slot->counter->pool->workers[slot->partition]
             ->connection.options->options;

    return (struct bits_layout){.epoch_ms = options->epoch_ms,
                                .unit_ms = 1,
                                .time = options->time_bits,
                                .shard = options->worker_bits,
                                .counter = options->counter_bits};
}
