/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a store that nobody asks is looked at, and what becomes of its
 * partition. That a worker does it is in test_looks.c.
 */
#include "pool_fixture.h"

#include "store/connection.h"
#include "support/test.h"

#define INTERVAL_MS 1500
#define CONNECT_MS  ((int64_t)1000) /* connect_timeout */

static int64_t look_at(const struct fixture *fixture, int64_t answered_ms)
{
    return pool_look_at(&fixture->pool, 1, answered_ms);
}

/* Member 1 is in that state, and looks are made. */
static void bring(struct fixture *fixture, enum seqb_partition_state state)
{
    fixture_bring(fixture, state);
    fixture->options.check_interval_ms = INTERVAL_MS;
}

static struct pool_change look_ends(struct fixture *fixture, int64_t elapsed_us,
                                    int64_t now_ms)
{
    return pool_looked(&fixture->pool, 1, elapsed_us, now_ms);
}

/* --- when --- */

TEST(a_look_is_due_an_interval_after_the_last_answer)
{
    struct fixture fixture;

    bring(&fixture, SEQB_PARTITION_UP);
    assert_int_equal(look_at(&fixture, NOW_MS), NOW_MS + INTERVAL_MS);
    assert_int_equal(look_at(&fixture, NOW_MS + 7), NOW_MS + 7 + INTERVAL_MS);
    fixture.options.check_interval_ms = 86400000;
    assert_int_equal(look_at(&fixture, NOW_MS), NOW_MS + 86400000);
}

TEST(a_usable_store_that_never_answered_is_looked_at_at_once)
{
    struct fixture fixture;

    bring(&fixture, SEQB_PARTITION_UP);
    assert_true(look_at(&fixture, -1) <= NOW_MS);
}

TEST(a_look_that_began_is_made_again_no_sooner_than_after_an_interval)
{
    struct fixture fixture;

    bring(&fixture, SEQB_PARTITION_UP);
    pool_look_begins(&fixture.pool, 1, NOW_MS);
    assert_int_equal(look_at(&fixture, START_MS), NOW_MS + INTERVAL_MS);
    /* Its answer counts as any other. */
    assert_int_equal(look_at(&fixture, NOW_MS + 3), NOW_MS + 3 + INTERVAL_MS);
}

TEST(a_look_at_a_server_that_is_down_waits_for_its_turn)
{
    struct fixture fixture;

    bring(&fixture, SEQB_PARTITION_UP);
    pool_hold(&fixture.pool, 1, NOW_MS + 400);
    assert_int_equal(look_at(&fixture, START_MS), NOW_MS + 400);
    assert_int_equal(look_at(&fixture, NOW_MS), NOW_MS + INTERVAL_MS);
}

TEST(only_what_may_be_asked_is_looked_at)
{
    for (int s = 0; s < STATES; s++) {
        const enum seqb_partition_state state = (enum seqb_partition_state)s;
        struct fixture fixture;

        bring(&fixture, state);
        assert_int_equal(look_at(&fixture, NOW_MS), is_usable_state(state)
                                                        ? NOW_MS + INTERVAL_MS
                                                        : INT64_MAX);
    }
}

TEST(without_an_interval_there_are_no_looks)
{
    struct fixture fixture;

    fixture_bring(&fixture, SEQB_PARTITION_UP);
    assert_int_equal(look_at(&fixture, START_MS), INT64_MAX);
}

/* --- what it means --- */

TEST(a_look_changes_no_state_and_no_latency)
{
    for (int s = 0; s < STATES; s++) {
        const enum seqb_partition_state state = (enum seqb_partition_state)s;
        const struct pool_member *member;
        struct pool_member before;
        struct fixture fixture;

        bring(&fixture, state);
        member = &fixture.pool.member[1];
        before = *member;
        expect_none(look_ends(&fixture, FAST_US / 10, NOW_MS));
        expect_state(&fixture, 1, state);
        assert_int_equal(member->latency_us, before.latency_us);
        assert_int_equal(member->successes, before.successes);
        assert_int_equal(member->next_probe_ms, before.next_probe_ms);
    }
}

TEST(slow_looks_count_as_slow_calls_do)
{
    struct fixture fixture;

    bring(&fixture, SEQB_PARTITION_UP);
    expect_change(look_ends(&fixture, TIMEOUT_US, NOW_MS), SEQB_PARTITION_UP,
                  SEQB_PARTITION_SUSPECT);
    expect_none(look_ends(&fixture, TIMEOUT_US, NOW_MS + 1));
    expect_change(look_ends(&fixture, TIMEOUT_US, NOW_MS + 2),
                  SEQB_PARTITION_SUSPECT, SEQB_PARTITION_QUARANTINED);
    assert_int_equal(fixture.pool.member[1].slow, SLOW_COUNT);
    expect_none(look_ends(&fixture, TIMEOUT_US, NOW_MS + 3));
}

TEST(time_outs_of_a_look_that_hangs_are_counted_once)
{
    struct fixture fixture;
    int64_t next_ms;

    bring(&fixture, SEQB_PARTITION_UP);
    (void)pool_evaluate(&fixture.pool, 1, NOW_MS, NOW_MS + TIMEOUT_MS,
                        &next_ms);
    assert_int_equal(fixture.pool.member[1].slow, 1);
    expect_none(look_ends(&fixture, TIMEOUT_US, NOW_MS + TIMEOUT_MS));
    assert_int_equal(fixture.pool.member[1].slow, 1);
}

/* When the last usable store rests that answered at NOW_MS and nothing since:
 * a look, which its connection's watchdog ends, and a connect. */
static int64_t silence_ends(struct fixture *fixture)
{
    int64_t at_ms = pool_look_at(&fixture->pool, 0, NOW_MS);
    int64_t next_ms;

    pool_look_begins(&fixture->pool, 0, at_ms);
    (void)pool_evaluate(&fixture->pool, 0, at_ms, at_ms + TIMEOUT_MS, &next_ms);
    at_ms += TIMEOUT_MS + CONNECTION_SLACK_MS;
    (void)uncertain_at(fixture, 0, TIMEOUT_US, at_ms);
    for (int64_t ms = 0; ms <= CONNECT_MS; ms += TIMEOUT_MS)
        (void)pool_evaluate(&fixture->pool, 0, at_ms, at_ms + ms, &next_ms);
    expect_state(fixture, 0, SEQB_PARTITION_SUSPECT);
    at_ms += CONNECT_MS;
    (void)fail_after(fixture, 0, SEQB_UNREACHABLE, CONNECT_MS * 1000, at_ms);
    expect_state(fixture, 0, SEQB_PARTITION_QUARANTINED);
    return at_ms;
}

/* With the defaults, which test_config.c compares with these. */
TEST_WITH(ONE_MEMBER, the_last_one_that_hangs_is_found_out_within_three_seconds)
{
    fixture->options.check_interval_ms = INTERVAL_MS;
    assert_in_range(silence_ends(fixture) - NOW_MS, INTERVAL_MS, 3000);
}

TEST_WITH(ONE_MEMBER, slow_looks_do_not_take_out_the_last_one)
{
    fixture->options.check_interval_ms = INTERVAL_MS;
    for (int i = 0; i < 2 * SLOW_COUNT; i++)
        (void)pool_looked(&fixture->pool, 0, TIMEOUT_US, NOW_MS + i);
    expect_state(fixture, 0, SEQB_PARTITION_SUSPECT);
}
