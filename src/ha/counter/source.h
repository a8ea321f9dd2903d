/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the windows of one slot come from: internals of source.c, window.c and
 * lease.c, which leases from neighbours.
 */
#pragma once

#include "ha/counter/counter.h"
#include "ha/worker.h"

/* The last lease that a lessor made for the slot, in one of the lessor's
 * runs. */
struct lease_mark {
    int64_t value;
    uint32_t run;
    uint32_t admitted_on; /* as in struct slot, at that lessor */
};

/* A lease from neighbours under way: asked of a lessor, then noted at a
 * witness. If a step fails, it continues with the next lessor or witness. */
struct lease {
    struct worker_job note; /* first: it is posted to the witness */
    struct window_source *source;
    struct slot *waiting;     /* waits for a window; NULL: none */
    int64_t floor;            /* the lease must be above it */
    struct seqb_block leased; /* run of leases; the last one is noted */
    uint64_t asked;           /* bit i: lessor i was asked */
    uint64_t noted; /* bit i: lessor i was asked to witness this lease */
    int32_t lessor;
    int32_t witness;
    int32_t refusals; /* witnesses that knew a part of what was leased */
    char counter[SEQB_COUNTER_SIZE]; /* its name in the stores */
    char nonce[TERM_NONCE_SIZE]; /* of the lessor's term, when it was asked */
    char term[TERM_SIZE];        /* the term of the lease */
    struct lease_mark marks[];   /* by lessor */
};

/* Windows that were leased together and are used one after another. */
struct run {
    int64_t next; /* the next window; valid if some are left */
    int64_t step; /* from one window to the next */
    int64_t left;
    int64_t taken;
    uint32_t resumed; /* the pool's `resumed`, when the run was asked for */
};

struct window_source {
    struct slot lease;        /* slot of the window counter at the lessor or
                                 authority */
    struct worker *authority; /* worker of the pool's authority; NULL:
                                 neighbours lease */
    struct lease *neighbours; /* NULL: the authority leases */
    pthread_mutex_t *lock;    /* of the ha: guards what follows, and the lease
                                 of neighbours */
    pthread_cond_t changed;
    uint32_t resumed; /* the pool's, when a lease was last asked for */
    bool is_asked;    /* a lease is under way */
    bool has_spare; /* windows are left, and the pool's `spares` counts them */
    struct run run; /* leased and not yet taken */
    struct run after; /* leased ahead; above all of `run` */
    struct pace pace;
    enum seqb_status status; /* of the last lease */
    bool is_refused; /* only this counter was refused: the lessor is well */
    char *why;       /* of the failure; NULL: no text for it */
};

static inline struct window_source *source_of(struct slot *lease)
{
    return (struct window_source *)lease;
}

/* With the lock held: keeps the result of a lease; `why` is NULL for
 * success. */
void source_result(struct window_source *source, bool is_refused,
                   const struct seqb_error *why);

/* Hold the lock for the other functions of source.c, too. A run was leased,
 * above all windows that are left: `count` windows from `first` on, each `step`
 * above the one before. */
void source_leased(struct window_source *source, int64_t first, int64_t step,
                   int64_t count);

/* Drops for good the windows up to `floor`, which are too low, and those that
 * were leased before this process was resumed from an image, which may be used
 * already. */
void source_drop(struct window_source *source, int64_t floor);

/* The last window that is left; SEQB_NO_WINDOW if none is. */
int64_t source_last(const struct window_source *source);

/* Takes the next windows of the run, at most `most` of them. At least one must
 * be left. */
struct windows source_next(struct window_source *source, int64_t most);

/* The rest is in lease.c. NULL when out of memory. */
struct lease *lease_new(struct window_source *source);

/* With the lock held: begins to lease a run of `lease.want` windows above
 * `floor`. `is_asked` is set until the result is there. */
void lease_begin(struct window_source *source, int64_t floor);

/* On the lessor's thread: the lessor answered. */
void lease_answered(struct slot *slot);
