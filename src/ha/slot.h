/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is posted to a worker, and the usual kind of it: a slot is one counter
 * in one backend, at most one of it under way at any time.
 */
#pragma once

#include "ha/fence.h"
#include "ha/ha.h"

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

/* Where the windows of one slot come from: see window.h. */
struct window_source;

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
