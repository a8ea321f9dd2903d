/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the ids of a pool's snowflakes, for all of its sequences: with one
 * worker id, one open ms, and one counter within that ms. So ids are unique
 * over the sequences. This is the front header of this folder; the folder's
 * source is declared in source.h.
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
    struct guarded_clock *clock; /* NULL: only the machine's clock is used */
    bool is_shared; /* several sequences use it; each counts its own ids */
    struct flake_gate *gate;

    pthread_mutex_t lock; /* guards the rest */
    struct flake flake;
    bool is_closed;
};

/* Sets up a zeroed generator; `memory` is zero in a forked child. Call
 * generator_fini even after a failure, or for a generator that is still zeroed.
 * SEQB_CONFIG: the pool has no direct store; SEQB_NO_MEMORY. */
enum seqb_status generator_init(struct generator *generator, struct ha *ha,
                                const struct lease_options *options,
                                struct fork_wiped *memory,
                                struct seqb_error *err);
void generator_fini(struct generator *generator, struct fork_wiped *memory);

/* generator_shut: makes no more ids, and does not wait. generator_close: also
 * gives the worker id back, and waits for its store. A zeroed generator is
 * allowed. */
void generator_shut(struct generator *generator);
void generator_close(struct generator *generator);

/* Takes up to `count` ids of the present ms, in order. SEQB_AGAIN: it has none
 * left, and `*taken` is 0. SEQB_UNAVAILABLE: no worker id, or a clock that is
 * behind; SEQB_EXHAUSTED, SEQB_CLOSED, SEQB_FORKED. */
enum seqb_status generator_take(struct generator *generator, size_t count,
                                int64_t *out, size_t *taken,
                                struct seqb_error *err);

/* Takes contiguous ids, all of one ms. SEQB_INVALID: no ms has so many;
 * SEQB_AGAIN: the present one has too few left; else as generator_take. */
enum seqb_status generator_take_run(struct generator *generator, size_t count,
                                    int64_t *first, struct seqb_error *err);

/* Whether ids can be taken now: the statuses of generator_take. err may be
 * NULL. */
enum seqb_status generator_poll(struct generator *generator,
                                struct seqb_error *err);

/* The same, and opens no ms: who looks again and again, and takes no ids, must
 * not use up times. */
enum seqb_status generator_look(struct generator *generator,
                                struct seqb_error *err);

/* How many ids were taken so far. */
int64_t generator_taken(struct generator *generator);

/* When the time will no longer fit in the ids, in ms since 1970. */
int64_t generator_end_ms(const struct generator *generator);
