/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool with its workers. One lock, of struct ha, guards all pools, what is
 * posted to the workers, and the leased windows. It is only held for short
 * steps, never over a call of an engine or a sink.
 */
#pragma once

#include <pthread.h>

#include "ha/ha.h"
#include "ha/policy/policy.h"

struct worker;

struct ha_pool {
    const struct ha_pool_options *options; /* always &current */
    struct ha_pool_options current; /* the layout is constant, and a reload
                                       changes the rest with the lock held */
    char name[LAYOUT_POOL_SIZE];    /* what its stores call it */
    struct worker *workers[POOL_MEMBERS_MAX]; /* by member index */
    struct worker *authority;                 /* NULL: none */
    char synced[SEQB_COUNTER_SIZE]; /* name of the claim that holds the term in
                                       which a lessor is level */
    int32_t members;

    pthread_mutex_t *lock;   /* of the ha: guards what follows, and the slots'
                                flags */
    pthread_cond_t answered; /* a slot of a counter that is being advanced
                                was */
    struct pool pool;
    struct lessors lessors;            /* count 0: it has no neighbours */
    pthread_cond_t *lessors_changed;   /* wakes the thread that looks at
                                          lessors */
    int32_t spares[HA_PARTITIONS_MAX]; /* by partition: how many counters have
                                          windows leased ahead */
    struct ha_counter *recent; /* last one that was asked: probes reserve
                                  from it */
    struct refusals refusals[HA_PARTITIONS_MAX]; /* by partition */
    uint32_t resumed; /* times that this process may have been resumed from an
                         image */
    int64_t failover_gap; /* largest of all brokers, as far as is known */
    /* Written once before any worker verifies it, then constant. */
    struct layout_claim claim;
};
