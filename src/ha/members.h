/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool with its workers. One lock, of struct ha, guards all pools, what is
 * posted to the workers, and the windows that are leased: it is held for short
 * steps only, never over a call of an engine or of a sink.
 */
#pragma once

#include <pthread.h>

#include "ha/ha.h"
#include "ha/policy/policy.h"

struct worker;

struct ha_pool {
    const struct ha_pool_options *options; /* the next ones */
    struct ha_pool_options current; /* the layout is constant, and a reload
                                       changes the rest with the lock held */
    char name[LAYOUT_POOL_SIZE];    /* what its stores call it */
    struct worker *workers[POOL_MEMBERS_MAX]; /* by member */
    struct worker *authority;                 /* NULL: none */
    char synced[SEQB_COUNTER_SIZE]; /* claim that says which lessor is level */
    int32_t members;

    pthread_mutex_t *lock;   /* of the ha: guards what follows, and the slots'
                                flags */
    pthread_cond_t answered; /* a slot of a counter that is being advanced */
    struct pool pool;
    struct lessors lessors;            /* count 0: it has no neighbours */
    pthread_cond_t *lessors_changed;   /* wakes who looks at them */
    int32_t spares[HA_PARTITIONS_MAX]; /* windows that are leased ahead, of all
                                          counters, by partition */
    struct ha_counter *recent; /* the last one asked: probes reserve for it */
    struct refusals refusals[HA_PARTITIONS_MAX]; /* by partition */
    uint32_t resumed;     /* times that this process may have been resumed */
    int64_t failover_gap; /* the largest of all brokers, as far as was seen */
    /* Written once, before any worker is asked to verify; then constant. */
    struct layout_claim claim;
};
