/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool with its workers. Locks: ha_pool.lock, then worker.lock. Neither is
 * held over a call of an engine or of a sink.
 */
#pragma once

#include <pthread.h>

#include "ha/ha.h"
#include "ha/pool_turn.h"
#include "ha/refusal.h"

struct worker;

struct ha_pool {
    const struct ha_pool_options *options;
    struct worker *workers[POOL_MEMBERS_MAX]; /* by member */
    struct worker *authority;                 /* NULL: none */
    int32_t members;

    pthread_mutex_t lock;    /* guards what follows, and the slots' flags */
    pthread_cond_t answered; /* a slot of a counter that is being advanced */
    struct pool pool;
    struct ha_counter *recent; /* the last one asked: probes reserve for it */
    struct refusals refusals[HA_PARTITIONS_MAX]; /* by partition */
    /* Written once, before any worker is asked to verify; then constant. */
    struct layout_claim claim;
};
