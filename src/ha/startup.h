/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of the pools: reads every store, settles the layout, and verifies
 * it everywhere. Runs on ha_open's thread, which waits for the workers.
 */
#pragma once

#include "ha/neighbours/neighbours.h"
#include "ha/worker.h"

struct ha {
    pthread_mutex_t lock; /* see members.h */
    const struct ha_options *options;
    struct raised *raised;   /* NULL: nothing is kept */
    struct granted *granted; /* the same */
    struct watchdog *watchdog;
    struct events events;
    struct endpoint *endpoints; /* one for each different server */
    size_t endpoint_count;
    struct worker *workers; /* one for each backend, in the options' order */
    struct ha_pool *pools;
    size_t pools_made;              /* pools whose lock is initialised */
    struct neighbours *neighbours;  /* NULL: no pool has any, or not started */
    pthread_cond_t lessors_changed; /* wakes the thread that looks at lessors */
    struct ha_reload *reloads;      /* the committed ones, the latest first */
    _Atomic int64_t begun_ms; /* see ha_begun. Relaxed, because no other data
                                 depends on it */
    _Atomic int64_t limit_ms; /* see ha_end_waits; INT64_MAX: no limit.
                                 Relaxed, because it only ends waits */
};

/* In reload.c: frees all reloads. Call it after the workers have ended. */
void reloads_free(struct ha *ha);

/* In operate.c; with the pool's lock held. Whether the member is usable and
 * refuses counters. */
bool member_refuses(const struct ha_pool *pool, int32_t i);

/* In operate.c; with the pool's lock held. Why the member is not well, and what
 * it refuses; or "". */
void member_reason(const struct ha_pool *pool, int32_t i, char *out,
                   size_t size);

/* Settles the layout of every pool. After a failure nothing serves, and nothing
 * was granted. */
enum seqb_status startup_run(struct ha *ha, struct seqb_error *err);
