/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the windows of one slot come from: the inside of source.c, of window.c
 * and of lease.c, which leases from neighbours.
 */
#pragma once

#include "ha/counter/counter.h"
#include "ha/worker.h"

/* The last lease that a lessor made for the slot, in one of its runs. */
struct lease_mark {
    int64_t value;
    uint32_t run;
};

/* A lease of neighbours on its way: asked of a lessor, then noted at a witness.
 * One that fails goes on with the next lessor or witness. */
struct lease {
    struct worker_job note; /* first: it is posted to the witness */
    struct window_source *source;
    struct slot *waiting; /* the slot, which is posted once there is a window;
                             NULL: it does not wait */
    int64_t floor;        /* the lease must be above it */
    bool is_blind;        /* no cell says what was used: see lease_is_low */
    struct seqb_block
        leased;     /* a run of leases, whose last one is to be noted */
    uint64_t asked; /* lessors, bit i */
    uint64_t noted; /* witnesses that were asked for this lease */
    int32_t lessor;
    int32_t witness;
    char counter[SEQB_COUNTER_SIZE]; /* its name in the stores */
    char nonce[TERM_NONCE_SIZE];     /* of the lessor's term, as it is asked */
    char term[TERM_SIZE];            /* in which it was leased */
    struct lease_mark marks[];       /* by lessor */
};

/* Windows that were leased together and are used one after another. */
struct run {
    int64_t next; /* window; read if some are left */
    int64_t step; /* from one to the next */
    int64_t left;
    int64_t taken;
    uint32_t resumed; /* the pool's, when it was asked for */
};

struct window_source {
    struct slot lease;        /* the counter of windows at who leases */
    struct worker *authority; /* serves the lease; NULL: neighbours do */
    struct lease *neighbours; /* NULL: the authority leases */
    pthread_mutex_t *lock; /* of the ha: guards what follows, and the lease of
                              neighbours */
    pthread_cond_t changed;
    uint32_t resumed; /* the pool's, when the last lease was asked for */
    bool is_asked;    /* a lease is under way */
    bool has_spare;   /* windows are left, and the pool counts it */
    struct run run;   /* leased and not yet taken */
    struct run after; /* leased ahead, above all of that run */
    struct pace pace;
    enum seqb_status status; /* of the last lease */
    bool is_refused;         /* it failed alone: who leases is well */
    char *why;               /* it failed; NULL: no words for it */
};

static inline struct window_source *source_of(struct slot *lease)
{
    return (struct window_source *)lease;
}

/* With the lock held: how a lease went, NULL for well. */
void source_result(struct window_source *source, bool is_refused,
                   const struct seqb_error *why);

/* The rest of source.c with the lock held, too. A run was leased, above all
 * that is left: `count` windows from `first` on, each `step` above the last. */
void source_leased(struct window_source *source, int64_t first, int64_t step,
                   int64_t count);

/* Windows up to `floor` are too low, and those that were leased before this
 * process was resumed from an image may be used: they are dropped for good. */
void source_drop(struct window_source *source, int64_t floor);

/* The last window that is left; SEQB_NO_WINDOW: none is. */
int64_t source_last(const struct window_source *source);

/* Takes the next windows of the run, at most `most` of them; one must be there.
 */
struct windows source_next(struct window_source *source, int64_t most);

/* The rest is of lease.c. NULL when out of memory. */
struct lease *lease_new(struct window_source *source);

/* With the lock held: leases a run of `lease.want` windows above `floor`, or
 * says why not. `is_asked` until then. `is_blind`: for a cell that is absent,
 * above all that the witness knows as well. */
void lease_begin(struct window_source *source, int64_t floor, bool is_blind);

/* On the lessor's thread: it answered. */
void lease_answered(struct slot *slot);
