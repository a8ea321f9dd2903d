/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool in any state, and events of its members, for the test programs about
 * it. Most events happen to member 1.
 */
#pragma once

#include "ha/policy/order.h"
#include "ha/policy/round_robin.h"
#include "platform/error.h"
#include "support/test.h"

#define STATUSES (SEQB_POISONED + 1)
#define STATES   (SEQB_PARTITION_POISONED + 1)

#define START_MS        5000
#define NOW_MS          8000 /* when the tested event happens */
#define TIMEOUT_MS      ((int64_t)200)
#define TIMEOUT_US      (TIMEOUT_MS * 1000)
#define FAST_US         ((int64_t)100)
#define SLOW_COUNT      3
#define SLOW_WINDOW_MS  60000
#define RESCUE_AFTER_MS 300000

struct fixture {
    struct ha_pool_options options;
    struct pool pool;
};

static inline void fixture_init_seeded(struct fixture *fixture, int32_t bits,
                                       uint64_t seed)
{
    const int32_t members = (1 << bits) + 1;

    fixture->options = (struct ha_pool_options){
        .layout.name = "main",
        .layout.bits = bits,
        .timeout_ms = (int32_t)TIMEOUT_MS,
        .slow_count = SLOW_COUNT,
        .slow_window_ms = SLOW_WINDOW_MS,
        .rescue_after_ms = RESCUE_AFTER_MS,
        .rescue = HA_RESCUE_BACKOFF,
    };
    pool_init(&fixture->pool, &fixture->options, members, seed, START_MS);
    for (int32_t i = 0; i < members; i++)
        (void)pool_succeeded(&fixture->pool, i, FAST_US, START_MS);
}

/* 2^bits partitions, and an authority that is not a partition; all are up. */
static inline void fixture_init(struct fixture *fixture, int32_t bits)
{
    fixture_init_seeded(fixture, bits, 20261121);
}

static inline enum seqb_partition_state state_of(const struct fixture *fixture,
                                                 int32_t i)
{
    return fixture->pool.member[i].state;
}

static inline void expect_change(struct pool_change change,
                                 enum seqb_partition_state from,
                                 enum seqb_partition_state to)
{
    assert_string_equal(seqb_partition_state_name(change.from),
                        seqb_partition_state_name(from));
    assert_string_equal(seqb_partition_state_name(change.to),
                        seqb_partition_state_name(to));
}

static inline void expect_none(struct pool_change change)
{
    expect_change(change, change.from, change.from);
}

static inline void expect_state(const struct fixture *fixture, int32_t i,
                                enum seqb_partition_state state)
{
    assert_string_equal(seqb_partition_state_name(state_of(fixture, i)),
                        seqb_partition_state_name(state));
}

/* --- events --- */

static inline struct pool_change fail_after(struct fixture *fixture, int32_t i,
                                            enum seqb_status status,
                                            int64_t elapsed_us, int64_t now_ms)
{
    struct seqb_error why;

    (void)error_set(&why, status, "because of %s", seqb_status_name(status));
    return pool_failed(&fixture->pool, i, &why, elapsed_us, now_ms);
}

static inline struct pool_change fail_at(struct fixture *fixture, int32_t i,
                                         enum seqb_status status,
                                         int64_t now_ms)
{
    return fail_after(fixture, i, status, FAST_US, now_ms);
}

static inline struct pool_change answer_at(struct fixture *fixture, int32_t i,
                                           int64_t now_ms)
{
    return pool_succeeded(&fixture->pool, i, FAST_US, now_ms);
}

static inline struct pool_change slow_at(struct fixture *fixture, int32_t i,
                                         int64_t now_ms)
{
    return pool_succeeded(&fixture->pool, i, TIMEOUT_US, now_ms);
}

static inline struct pool_change order_at(struct fixture *fixture, int32_t i,
                                          enum seqb_order order, int64_t now_ms)
{
    struct pool_change change = {.from = SEQB_PARTITION_STARTING,
                                 .to = SEQB_PARTITION_STARTING};
    struct seqb_error err;

    if (pool_command(&fixture->pool, i, order, now_ms, &change, &err) !=
        SEQB_OK)
        fail_msg("order refused: %s", err.text);
    return change;
}

/* --- probes --- */

/* Begins a probe when it is due, and lets it fail. Returns when it began. */
static inline int64_t probe_fails(struct fixture *fixture, int32_t i)
{
    const int64_t at_ms = pool_probe_at(&fixture->pool, i);

    assert_true(at_ms < INT64_MAX);
    pool_probe_begins(&fixture->pool, i, at_ms);
    expect_none(fail_at(fixture, i, SEQB_UNREACHABLE, at_ms));
    return at_ms;
}

/* The same, but the probe succeeds. */
static inline struct pool_change probe_succeeds(struct fixture *fixture,
                                                int32_t i)
{
    const int64_t at_ms = pool_probe_at(&fixture->pool, i);

    assert_true(at_ms < INT64_MAX);
    pool_probe_begins(&fixture->pool, i, at_ms);
    return answer_at(fixture, i, at_ms);
}

/* --- states --- */

/* A pool of four partitions with member 1 in that state since before NOW_MS. A
 * ramp began at START_MS + 200. */
static inline void fixture_bring(struct fixture *fixture,
                                 enum seqb_partition_state wanted)
{
    fixture_init(fixture, 2);
    if (wanted == SEQB_PARTITION_STARTING)
        pool_init(&fixture->pool, &fixture->options, 5, 1, START_MS);
    if (wanted == SEQB_PARTITION_SUSPECT)
        (void)slow_at(fixture, 1, START_MS);
    if (wanted == SEQB_PARTITION_QUARANTINED ||
        wanted == SEQB_PARTITION_PROBING || wanted == SEQB_PARTITION_RAMPING)
        (void)fail_at(fixture, 1, SEQB_UNREACHABLE, START_MS);
    if (wanted == SEQB_PARTITION_PROBING)
        pool_probe_begins(&fixture->pool, 1, START_MS + POOL_FIRST_PROBE_MS);
    for (int k = 0; wanted == SEQB_PARTITION_RAMPING && k < 2; k++)
        (void)probe_succeeds(fixture, 1);
    if (wanted == SEQB_PARTITION_DRAINED)
        (void)order_at(fixture, 1, SEQB_ORDER_DRAIN, START_MS);
    if (wanted == SEQB_PARTITION_REFUSED)
        (void)fail_at(fixture, 1, SEQB_LAYOUT, START_MS);
    if (wanted == SEQB_PARTITION_POISONED)
        (void)fail_at(fixture, 1, SEQB_POISONED, START_MS);
    expect_state(fixture, 1, wanted);
}

static inline bool is_usable_state(enum seqb_partition_state state)
{
    return state == SEQB_PARTITION_UP || state == SEQB_PARTITION_SUSPECT ||
           state == SEQB_PARTITION_RAMPING;
}

/* For cmocka: *state becomes a pool of so many partitions, all of them up, or
 * one of four with member 1 ramping. */
static inline int setup_of(void **state, int32_t bits)
{
    static struct fixture fixture;

    fixture_init(&fixture, bits);
    *state = &fixture;
    return 0;
}

static inline int setup_one(void **state)
{
    return setup_of(state, 0);
}

static inline int setup_two(void **state)
{
    return setup_of(state, 1);
}

static inline int setup_four(void **state)
{
    return setup_of(state, 2);
}

static inline int setup_ramping(void **state)
{
    const int failed = setup_four(state);

    fixture_bring(*state, SEQB_PARTITION_RAMPING);
    return failed;
}

#define ONE_MEMBER   FIXTURE(struct fixture *fixture, setup_one, NULL)
#define TWO_MEMBERS  FIXTURE(struct fixture *fixture, setup_two, NULL)
#define FOUR_MEMBERS FIXTURE(struct fixture *fixture, setup_four, NULL)
#define RAMPING_POOL FIXTURE(struct fixture *fixture, setup_ramping, NULL)

/* --- a call that hangs --- */

#define CALL_MS 10000 /* when the current call began */

static inline struct pool_change uncertain_at(struct fixture *fixture,
                                              int32_t i, int64_t elapsed_us,
                                              int64_t now_ms)
{
    return fail_after(fixture, i, SEQB_UNCERTAIN, elapsed_us, now_ms);
}

/* Evaluates a call of member 1 that has lasted for `past_ms`. */
static inline struct pool_change hang_for(struct fixture *fixture,
                                          int64_t past_ms)
{
    int64_t next_ms;

    return pool_evaluate(&fixture->pool, 1, CALL_MS, CALL_MS + past_ms,
                         &next_ms);
}

static inline int64_t next_poll(struct fixture *fixture, int64_t call_ms,
                                int64_t now_ms)
{
    int64_t next_ms = 0;

    expect_none(pool_evaluate(&fixture->pool, 1, call_ms, now_ms, &next_ms));
    return next_ms;
}
