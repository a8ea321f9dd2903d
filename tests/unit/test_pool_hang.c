/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that hang: counted once for each time-out while they do, and not again
 * when they end.
 */
#include "platform/minmax.h"
#include "pool_fixture.h"
#include "support/test.h"

#define UP          SEQB_PARTITION_UP
#define SUSPECT     SEQB_PARTITION_SUSPECT
#define QUARANTINED SEQB_PARTITION_QUARANTINED

TEST_WITH(FOUR_MEMBERS, a_call_that_hangs_is_counted_at_each_time_out)
{
    const struct pool_member *member = &fixture->pool.member[1];

    expect_none(hang_for(fixture, TIMEOUT_MS - 1));
    assert_int_equal(member->slow, 0);
    expect_change(hang_for(fixture, TIMEOUT_MS), UP, SUSPECT);
    for (int again = 0; again < 10; again++)
        expect_none(hang_for(fixture, TIMEOUT_MS + again));
    expect_none(hang_for(fixture, 2 * TIMEOUT_MS - 1));
    assert_int_equal(member->slow, 1);
    expect_none(hang_for(fixture, 2 * TIMEOUT_MS));
    assert_int_equal(member->slow, 2);
    expect_none(hang_for(fixture, 3 * TIMEOUT_MS - 1));
    expect_change(hang_for(fixture, 3 * TIMEOUT_MS), SUSPECT, QUARANTINED);
    assert_int_equal(member->slow, 3);
    assert_int_equal(member->since_ms, CALL_MS + 3 * TIMEOUT_MS);
    assert_string_equal(member->reason, "slow: 3 time-outs of 200 ms, the last "
                                        "call took 600 ms");
    expect_none(hang_for(fixture, 100 * TIMEOUT_MS));
    assert_int_equal(member->slow, 3);
}

TEST(a_look_that_comes_late_counts_what_was_missed)
{
    struct fixture fixture;

    fixture_init(&fixture, 2);
    expect_change(hang_for(&fixture, 2 * TIMEOUT_MS + 50), UP, SUSPECT);
    assert_int_equal(fixture.pool.member[1].slow, 2);
    fixture_init(&fixture, 2);
    expect_change(hang_for(&fixture, 1000 * TIMEOUT_MS), UP, QUARANTINED);
    assert_int_equal(fixture.pool.member[1].slow, SLOW_COUNT);
    /* To the millisecond, however long it hangs. */
    for (int64_t passed = 1; passed <= POOL_SLOW_COUNT_MAX; passed++) {
        fixture_init(&fixture, 2);
        fixture.options.slow_count = POOL_SLOW_COUNT_MAX;
        (void)hang_for(&fixture, passed * TIMEOUT_MS - 1);
        assert_int_equal(fixture.pool.member[1].slow, passed - 1);
    }
}

/* The end of a call says nothing that was not said while it hung. */
TEST_WITH(ONE_MEMBER, the_end_of_a_call_that_was_counted_changes_no_reason)
{
    expect_change(pool_evaluate(&fixture->pool, 0, CALL_MS,
                                CALL_MS + 3 * TIMEOUT_MS, &(int64_t){0}),
                  UP, SUSPECT);
    expect_none(
        uncertain_at(fixture, 0, 3 * TIMEOUT_US, CALL_MS + 3 * TIMEOUT_MS));
    assert_string_equal(fixture->pool.member[0].reason,
                        "slow: 3 time-outs of 200 ms, the last call took 600 "
                        "ms");
}

TEST_WITH(FOUR_MEMBERS, the_next_look_is_at_the_next_time_out)
{
    fixture->options.slow_count = POOL_SLOW_COUNT_MAX;
    assert_int_equal(next_poll(fixture, -1, CALL_MS), INT64_MAX);
    assert_int_equal(next_poll(fixture, CALL_MS, CALL_MS), CALL_MS + 200);
    assert_int_equal(next_poll(fixture, CALL_MS, CALL_MS + 199), CALL_MS + 200);
    (void)hang_for(fixture, 200);
    assert_int_equal(next_poll(fixture, CALL_MS, CALL_MS + 200), CALL_MS + 400);
    assert_int_equal(next_poll(fixture, CALL_MS, CALL_MS + 1234),
                     CALL_MS + 1400);
}

/* A call that took so many time-outs, of which so many were seen while it
 * hung; it was answered, or not. */
static void expect_counted(int64_t took, int64_t seen, bool is_answered)
{
    const int64_t now_ms = CALL_MS + took * TIMEOUT_MS;
    struct fixture fixture;

    fixture_init(&fixture, 2);
    fixture.options.slow_count = POOL_SLOW_COUNT_MAX;
    for (int64_t k = 1; k <= seen; k++)
        (void)hang_for(&fixture, k * TIMEOUT_MS);
    if (is_answered)
        (void)pool_succeeded(&fixture.pool, 1, took * TIMEOUT_US, now_ms);
    else
        (void)uncertain_at(&fixture, 1, took * TIMEOUT_US, now_ms);
    assert_int_equal(fixture.pool.member[1].slow, seen > took ? seen : took);
}

/* Never twice, whichever saw more of it. */
TEST(what_was_counted_while_it_hung_is_not_at_its_end)
{
    for (int64_t took = 1; took <= 5; took++) {
        for (int64_t seen = 0; seen <= 5; seen++) {
            expect_counted(took, seen, true);
            expect_counted(took, seen, false);
        }
    }
}

TEST_WITH(FOUR_MEMBERS, the_next_call_is_counted_afresh)
{
    int64_t next_ms;

    fixture->options.slow_count = POOL_SLOW_COUNT_MAX;
    (void)hang_for(fixture, 2 * TIMEOUT_MS);
    (void)uncertain_at(fixture, 1, 2 * TIMEOUT_US, CALL_MS + 400);
    /* One that nobody looked at, one that hangs, and one that follows without
     * an outcome of the one before. */
    (void)slow_at(fixture, 1, CALL_MS + 700);
    assert_int_equal(fixture->pool.member[1].slow, 3);
    (void)pool_evaluate(&fixture->pool, 1, CALL_MS + 1000, CALL_MS + 1200,
                        &next_ms);
    assert_int_equal(fixture->pool.member[1].slow, 4);
    (void)pool_evaluate(&fixture->pool, 1, CALL_MS + 1210, CALL_MS + 1410,
                        &next_ms);
    assert_int_equal(fixture->pool.member[1].slow, 5);
}

/* Also a hard one, which counts for more than that it was slow. */
TEST_WITH(FOUR_MEMBERS, a_failure_of_a_call_that_hung_ends_its_count)
{
    (void)hang_for(fixture, TIMEOUT_MS);
    expect_none(fail_after(fixture, 1, SEQB_NO_MEMORY, TIMEOUT_US,
                           CALL_MS + TIMEOUT_MS));
    (void)slow_at(fixture, 1, CALL_MS + 500);
    assert_int_equal(fixture->pool.member[1].slow, 2);
    expect_change(
        fail_after(fixture, 1, SEQB_UNREACHABLE, TIMEOUT_US, CALL_MS + 600),
        SUSPECT, QUARANTINED);
    assert_int_equal(fixture->pool.member[1].slow, 2);
}

TEST(one_quarantined_while_its_call_hangs_ends_it_quietly)
{
    for (int end = 0; end < 2; end++) {
        struct fixture fixture;
        const int64_t since_ms = CALL_MS + 3 * TIMEOUT_MS;

        fixture_init(&fixture, 2);
        (void)hang_for(&fixture, 3 * TIMEOUT_MS);
        if (end == 0)
            expect_none(uncertain_at(&fixture, 1, 4 * TIMEOUT_US, since_ms));
        else
            expect_none(pool_succeeded(&fixture.pool, 1, 4 * TIMEOUT_US,
                                       since_ms + 200));
        expect_state(&fixture, 1, QUARANTINED);
        assert_int_equal(fixture.pool.member[1].slow, 3);
        assert_int_equal(fixture.pool.member[1].since_ms, since_ms);
        assert_int_equal(pool_probe_at(&fixture.pool, 1), since_ms + 100);
    }
}

TEST(only_those_in_use_are_judged)
{
    for (int s = 0; s < STATES; s++) {
        const enum seqb_partition_state at = (enum seqb_partition_state)s;
        struct fixture fixture;
        struct pool_member before;

        fixture_bring(&fixture, at);
        before = fixture.pool.member[1];
        if (is_usable_state(at)) {
            expect_change(hang_for(&fixture, 3 * TIMEOUT_MS), at, QUARANTINED);
            continue;
        }
        assert_int_equal(next_poll(&fixture, CALL_MS, CALL_MS + 1000000),
                         INT64_MAX);
        assert_memory_equal(&fixture.pool.member[1], &before, sizeof before);
    }
}

/* --- a last one whose time-outs pass without an answer --- */

static bool is_stuck(const struct fixture *fixture)
{
    return pool_is_stuck(&fixture->pool, 0);
}

/* A call of the only member that has lasted for so many time-outs. */
static void hang_last(struct fixture *fixture, int64_t call_ms, int64_t times)
{
    int64_t next_ms;

    (void)pool_evaluate(&fixture->pool, 0, call_ms,
                        call_ms + times * TIMEOUT_MS, &next_ms);
}

TEST_WITH(ONE_MEMBER, one_that_is_slow_once_is_not_stuck)
{
    hang_last(fixture, CALL_MS, SLOW_COUNT - 1);
    assert_false(is_stuck(fixture));
    (void)pool_succeeded(&fixture->pool, 0, (SLOW_COUNT - 1) * TIMEOUT_US,
                         CALL_MS + (SLOW_COUNT - 1) * TIMEOUT_MS);
    for (int i = 1; i < 3 * SLOW_COUNT; i++) { /* nor ever again */
        hang_last(fixture, CALL_MS + i * 1000, 1);
        (void)slow_at(fixture, 0, CALL_MS + i * 1000 + TIMEOUT_MS);
        assert_false(is_stuck(fixture));
    }
    expect_state(fixture, 0, SUSPECT);
}

TEST_WITH(ONE_MEMBER, one_is_stuck_until_a_reservation_is_answered)
{
    hang_last(fixture, CALL_MS, SLOW_COUNT);
    assert_true(is_stuck(fixture));
    (void)uncertain_at(fixture, 0, SLOW_COUNT * TIMEOUT_US, CALL_MS + 600);
    (void)pool_looked(&fixture->pool, 0, FAST_US, CALL_MS + 700);
    assert_true(is_stuck(fixture));
    (void)answer_at(fixture, 0, CALL_MS + 800);
    assert_false(is_stuck(fixture));
}

/* Where no reservation can be tried, as with an authority, time has to do. */
TEST_WITH(ONE_MEMBER, one_is_stuck_no_longer_than_it_is_suspect)
{
    const int64_t last_ms = CALL_MS + SLOW_COUNT * TIMEOUT_MS;
    int64_t next_ms;

    hang_last(fixture, CALL_MS, SLOW_COUNT);
    (void)pool_evaluate(&fixture->pool, 0, -1, last_ms + SLOW_WINDOW_MS,
                        &next_ms);
    assert_true(is_stuck(fixture));
    assert_int_equal(next_ms, last_ms + SLOW_WINDOW_MS + 1);
    (void)pool_evaluate(&fixture->pool, 0, -1, next_ms, &next_ms);
    assert_false(is_stuck(fixture));
    expect_state(fixture, 0, UP);
}

/* Looks that are slow now and then, of an authority that nobody asks for a
 * lease. */
TEST_WITH(ONE_MEMBER, one_is_not_stuck_by_time_outs_of_long_ago)
{
    for (int i = 0; i < 3 * SLOW_COUNT; i++) {
        const int64_t call_ms = CALL_MS + i * (SLOW_WINDOW_MS - 1000);

        hang_last(fixture, call_ms, 1);
        (void)pool_looked(&fixture->pool, 0, TIMEOUT_US, call_ms + TIMEOUT_MS);
        assert_false(is_stuck(fixture));
    }
}

/* Its own reservations are as rare as their rest. */
TEST_WITH(ONE_MEMBER, one_is_stuck_as_long_as_its_own_reservations_hang)
{
    int64_t begun_ms = CALL_MS;
    int64_t next_ms;

    fixture->options.slow_window_ms = 1000;
    hang_last(fixture, begun_ms, SLOW_COUNT);
    for (int again = 0; again < 20; again++) {
        begun_ms = pool_look_at(&fixture->pool, 0, begun_ms);
        (void)pool_evaluate(&fixture->pool, 0, -1, begun_ms, &next_ms);
        assert_true(is_stuck(fixture));
        pool_look_begins(&fixture->pool, 0, begun_ms);
        hang_last(fixture, begun_ms, 1);
        (void)uncertain_at(fixture, 0, TIMEOUT_US, begun_ms + TIMEOUT_MS);
        assert_true(is_stuck(fixture));
    }
}

/* Nobody else asks it. */
TEST_WITH(ONE_MEMBER,
          one_is_stuck_by_its_own_reservations_however_short_the_window)
{
    int64_t begun_ms = CALL_MS;

    fixture->options.slow_window_ms = 1000;
    for (int i = 0; i < SLOW_COUNT; i++) {
        assert_false(is_stuck(fixture));
        pool_look_begins(&fixture->pool, 0, begun_ms);
        hang_last(fixture, begun_ms, 1);
        (void)uncertain_at(fixture, 0, TIMEOUT_US, begun_ms + TIMEOUT_MS);
        begun_ms = pool_look_at(&fixture->pool, 0, begun_ms + TIMEOUT_MS);
    }
    assert_true(is_stuck(fixture));
}

/* Also if its looks are rare, or off. */
TEST_WITH(ONE_MEMBER, after_a_time_out_it_is_soon_asked_again)
{
    const int64_t passed_ms = CALL_MS + TIMEOUT_MS;

    hang_last(fixture, CALL_MS, 1);
    for (int i = 0; i < 2; i++) {
        fixture->options.check_interval_ms = i * 3600000;
        assert_int_equal(pool_look_at(&fixture->pool, 0, passed_ms),
                         passed_ms + POOL_FORCE_REST_MS);
    }
    pool_look_begins(&fixture->pool, 0, passed_ms + POOL_FORCE_REST_MS);
    assert_int_equal(pool_look_at(&fixture->pool, 0, passed_ms),
                     passed_ms + INT64_C(2) * POOL_FORCE_REST_MS);
    (void)answer_at(fixture, 0, passed_ms);
    assert_true(pool_look_at(&fixture->pool, 0, passed_ms) >
                passed_ms + INT64_C(2) * POOL_FORCE_REST_MS);
}

/* An answer that comes after its time-out is a gap. The worker's own calls
 * hang as well, and are counted like any other: that does not shorten the
 * rest that was set when they began. */
TEST_WITH(ONE_MEMBER, the_rest_between_its_own_reservations_grows)
{
    int64_t begun_ms = CALL_MS;
    int64_t rest_ms = POOL_FORCE_REST_MS;

    hang_last(fixture, begun_ms, SLOW_COUNT);
    for (int again = 0; again < 8; again++) {
        begun_ms = pool_look_at(&fixture->pool, 0, begun_ms);
        pool_look_begins(&fixture->pool, 0, begun_ms);
        hang_last(fixture, begun_ms, 1);
        (void)uncertain_at(fixture, 0, TIMEOUT_US, begun_ms + TIMEOUT_MS);
        assert_int_equal(pool_look_at(&fixture->pool, 0, begun_ms) - begun_ms,
                         max_of(rest_ms, TIMEOUT_MS + POOL_FORCE_REST_MS));
        rest_ms = min_of(2 * rest_ms, POOL_UNANSWERED_REST_MS);
    }
    assert_int_equal(rest_ms, POOL_UNANSWERED_REST_MS);
}

/* Nor does it begin with the long rest of a look. */
TEST_WITH(ONE_MEMBER, a_look_that_hangs_is_soon_followed_by_a_reservation)
{
    fixture->options.check_interval_ms = 3600000;
    pool_look_begins(&fixture->pool, 0, CALL_MS);
    hang_last(fixture, CALL_MS, 1);
    assert_int_equal(pool_look_at(&fixture->pool, 0, CALL_MS),
                     CALL_MS + TIMEOUT_MS + POOL_FORCE_REST_MS);
}
