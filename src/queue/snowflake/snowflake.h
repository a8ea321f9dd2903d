/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes the ids of a pool's snowflakes, for all of its sequences: one
 * worker id, one ms that is open, one count within it. So ids are unique over
 * the sequences. The front header of this folder, whose source is one of
 * source.h.
 */
#pragma once

#include <pthread.h>

#include "lease/lease.h"
#include "queue/snowflake/flake.h"

struct guarded_clock;
struct fork_wiped;

struct generator {
    const struct lease_options *options;
    struct worker_lease *lease;
    const bool *is_alive;        /* false in a forked child */
    struct guarded_clock *clock; /* NULL: the machine's clock alone */
    bool is_shared; /* by several sequences, which count by themselves */
    struct flake_gate *gate;

    pthread_mutex_t lock; /* guards the rest */
    struct flake flake;
    bool is_closed;
};

/* Sets up a zeroed one, of memory that a forked child finds zero. Takes what
 * failed, or is zeroed, in generator_fini. SEQB_CONFIG: the pool has no direct
 * store; SEQB_NO_MEMORY. */
enum seqb_status generator_init(struct generator *generator, struct ha *ha,
                                const struct lease_options *options,
                                struct fork_wiped *memory,
                                struct seqb_error *err);
void generator_fini(struct generator *generator, struct fork_wiped *memory);

/* No more ids from here on; gives the worker id back. Takes a zeroed one. */
void generator_close(struct generator *generator);

/* Takes up to `count` ids of the present ms, in order; `*taken` may be 0 with
 * SEQB_AGAIN: it has no more. SEQB_UNAVAILABLE: no worker id, or a clock that
 * is behind; SEQB_EXHAUSTED, SEQB_CLOSED, SEQB_FORKED. */
enum seqb_status generator_take(struct generator *generator, size_t count,
                                int64_t *out, size_t *taken,
                                struct seqb_error *err);

/* Takes contiguous ids, all of one ms. SEQB_INVALID: no ms has so many;
 * SEQB_AGAIN: this one has too few; else as above. */
enum seqb_status generator_take_run(struct generator *generator, size_t count,
                                    int64_t *first, struct seqb_error *err);

/* Whether some can be taken now; the same statuses, err may be NULL. */
enum seqb_status generator_poll(struct generator *generator,
                                struct seqb_error *err);

/* Ids that were taken so far. */
int64_t generator_taken(struct generator *generator);

/* When its time does not fit its bits any more, ms since 1970. */
int64_t generator_end_ms(const struct generator *generator);
