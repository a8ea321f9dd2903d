/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool with every member up, as two programs of tests about it need it.
 */
#pragma once

#include "ha/pool.h"
#include "platform/error.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])
#define STATUSES        (SEQB_POISONED + 1)

#define START_MS        5000
#define TIMEOUT_US      ((int64_t)200000)
#define FAST_US         ((int64_t)100)
#define SLOW_WINDOW_MS  60000
#define RESCUE_AFTER_MS 300000

struct fixture {
    struct ha_pool_options options;
    struct pool pool;
};

/* 2^bits partitions and an authority that is none of them, all up. */
static inline void fixture_init(struct fixture *fixture, int32_t bits)
{
    const int32_t members = (1 << bits) + 1;

    fixture->options = (struct ha_pool_options){
        .name = "main",
        .bits = bits,
        .timeout_ms = TIMEOUT_US / 1000,
        .slow_count = 3,
        .slow_window_ms = SLOW_WINDOW_MS,
        .rescue_after_ms = RESCUE_AFTER_MS,
        .rescue = HA_RESCUE_BACKOFF,
    };
    pool_init(&fixture->pool, &fixture->options, members, START_MS);
    for (int32_t i = 0; i < members; i++)
        (void)pool_succeeded(&fixture->pool, i, FAST_US, START_MS);
}

static inline enum pool_event fail_at(struct fixture *fixture, int32_t i,
                                      enum seqb_status status, int64_t now_ms)
{
    struct seqb_error why;

    (void)error_set(&why, status, "because of %s", seqb_status_name(status));
    return pool_failed(&fixture->pool, i, &why, FAST_US, now_ms);
}

static inline enum pool_event slow_at(struct fixture *fixture, int32_t i,
                                      int64_t now_ms)
{
    return pool_succeeded(&fixture->pool, i, TIMEOUT_US, now_ms);
}

static inline enum seqb_partition_state state_of(const struct fixture *fixture,
                                                 int32_t i)
{
    return fixture->pool.member[i].state;
}

/* A probe begins when it is due, and fails. Returns when it began. */
static inline int64_t probe_fails(struct fixture *fixture, int32_t i)
{
    const int64_t at_ms = pool_probe_at(&fixture->pool, i);

    pool_probe_begins(&fixture->pool, i, at_ms);
    (void)fail_at(fixture, i, SEQB_UNREACHABLE, at_ms);
    return at_ms;
}
