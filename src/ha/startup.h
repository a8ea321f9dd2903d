/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The start of the pools: look at every store, settle the layout, verify it
 * everywhere. On ha_open's thread, which waits for the workers.
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
    struct endpoint *endpoints; /* as many as are different */
    size_t endpoint_count;
    struct worker *workers; /* one a backend, in the options' order */
    struct ha_pool *pools;
    size_t pools_made;              /* pools whose lock is initialised */
    struct neighbours *neighbours;  /* NULL: no pool has any, or not started */
    pthread_cond_t lessors_changed; /* wakes who looks at lessors */
    struct ha_reload *reloads; /* that were committed, the last one first */
};

/* Of reload.c: frees them, once no worker runs. */
void reloads_free(struct ha *ha);

/* Of operate.c; with the pool's lock held. Whether the member is well and
 * refuses counters. */
bool member_refuses(const struct ha_pool *pool, int32_t i);

/* The same: why it is not well, and what it refuses; or "". */
void member_reason(const struct ha_pool *pool, int32_t i, char *out,
                   size_t size);

/* Settles every pool; on failure nothing serves and nothing was granted. */
enum seqb_status startup_run(struct ha *ha, struct seqb_error *err);
