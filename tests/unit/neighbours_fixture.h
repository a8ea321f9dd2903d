/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools with neighbours over scripted stores, for the test programs about them.
 */
#pragma once

#include <stdlib.h>

#include "ha/neighbours/sync.h"
#include "ha/startup.h"
#include "platform/text.h"
#include "support/rig.h"
#include "support/test.h"

#define RUN          4 /* 2^memory_bits */
#define WINDOW_STOCK ((size_t)256 * RUN)
#define LEASES(i)    "window/main/" #i "/order"

/* Lessors in the first `lessors` partitions, and stores that may forget in the
 * others. A window can be installed again only in the latter. */
static inline struct rig *mixed(void **state, int32_t lessors)
{
    struct rig *rig = *state;

    rig_shape(rig, RIG_NEIGHBOURS, 2);
    for (int32_t i = lessors; i < RIG_PARTITIONS; i++)
        rig->backends[i].ops = &backend_fake_windowed;
    return rig;
}

static inline int setup_two_lessors(void **state)
{
    assert_int_equal(rig_setup_neighbours(state), 0);
    (void)mixed(state, 2);
    return 0;
}

static inline int setup_three_lessors(void **state)
{
    assert_int_equal(rig_setup_neighbours(state), 0);
    (void)mixed(state, 3);
    return 0;
}

#define TWO_LESSORS FIXTURE(struct rig *rig, setup_two_lessors, rig_teardown)
#define THREE_LESSORS                                                          \
    FIXTURE(struct rig *rig, setup_three_lessors, rig_teardown)

static inline void forget(struct rig *rig, int32_t lessors)
{
    for (int32_t i = lessors; i < RIG_PARTITIONS; i++)
        fake_flush(rig->stores[i]);
}

/* Store i leases no windows to those that may forget. */
static inline void bar_lessor(struct rig *rig, int32_t i)
{
    fake_refuse(rig->stores[i], FAKE_RESERVE, LEASES(2), SEQB_REFUSED);
    fake_refuse(rig->stores[i], FAKE_RESERVE, LEASES(3), SEQB_REFUSED);
}

static inline struct ha_lessor lessor_of(const struct rig_broker *broker,
                                         int32_t i)
{
    struct ha_lessor lessors[RIG_PARTITIONS];
    size_t count;

    ha_lessors(broker->ha, lessors, RIG_PARTITIONS, &count);
    assert_true((size_t)i < count);
    return lessors[i];
}

struct awaited_lessor {
    const struct rig_broker *broker;
    int32_t lessor;
    enum ha_lessor_state state;
};

static inline bool is_in_state(void *context)
{
    const struct awaited_lessor *awaited = context;

    return lessor_of(awaited->broker, awaited->lessor).state == awaited->state;
}

static inline void await_lessor(const struct rig_broker *broker, int32_t i,
                                enum ha_lessor_state state)
{
    struct awaited_lessor awaited = {broker, i, state};

    rig_await(is_in_state, &awaited);
}

static inline bool has_no_look_to_make(void *context)
{
    const struct rig_broker *broker = context;
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);
    bool has_none;

    pthread_mutex_lock(pool->lock);
    has_none = pool->lessors.poll_ms == INT64_MAX &&
               pool->lessors.rest_ms == LESSORS_FIRST_MS;
    pthread_mutex_unlock(pool->lock);
    return has_none;
}

/* Waits until all lessors are level, and all marks are written. */
static inline void await_no_look(struct rig_broker *broker)
{
    rig_await(has_no_look_to_make, broker);
}

/* What a look at two level lessors without marks finds. The caller frees it. */
static inline struct seen *seen_level(void)
{
    struct seen *seen = calloc(LESSORS_MAX, sizeof *seen);

    assert_non_null(seen);
    for (int32_t i = 0; i < 2; i++) {
        seen[i].is_there = true;
        (void)text_copy(seen[i].incarnation, sizeof seen[i].incarnation,
                        "run-0");
        (void)text_copy(seen[i].synced, sizeof seen[i].synced, "run-0");
    }
    return seen;
}
