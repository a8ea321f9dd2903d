/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow partitions: suspect, quarantined, and kept where nobody else is there.
 * How a call is counted while it hangs is in test_pool_hang.c.
 */
#include "pool_fixture.h"

#include <string.h>

#include "support/test.h"

#define UP          SEQB_PARTITION_UP
#define SUSPECT     SEQB_PARTITION_SUSPECT
#define QUARANTINED SEQB_PARTITION_QUARANTINED
#define RAMPING     SEQB_PARTITION_RAMPING

/* --- calls that ended --- */

TEST_WITH(TWO_MEMBERS, so_many_slow_calls_in_the_span_quarantine)
{
    const struct pool_member *member = &fixture->pool.member[1];

    expect_change(slow_at(fixture, 1, 10000), UP, SUSPECT);
    assert_string_equal(member->reason,
                        "slow: less than 3 time-outs of 200 ms, the last call "
                        "took 200 ms");
    expect_none(slow_at(fixture, 1, 10001));
    expect_change(slow_at(fixture, 1, 10002), SUSPECT, QUARANTINED);
    assert_int_equal(member->since_ms, 10002);
    assert_int_equal(pool_probe_at(&fixture->pool, 1),
                     10002 + POOL_FIRST_PROBE_MS);
    assert_string_equal(member->reason, "slow: 3 time-outs of 200 ms, the last "
                                        "call took 200 ms");
    assert_int_equal(member->slow, 3);
    assert_int_equal(member->errors, 0);
    assert_int_equal(member->ejections, 1);
}

TEST_WITH(TWO_MEMBERS, slow_means_at_or_past_the_time_out)
{
    for (int i = 0; i < 100; i++)
        expect_none(pool_succeeded(&fixture->pool, 1, TIMEOUT_US - 1, 10000));
    assert_int_equal(fixture->pool.member[1].slow, 0);
    expect_change(slow_at(fixture, 1, 10000), UP, SUSPECT);
    assert_int_equal(fixture->pool.member[1].slow, 1);
}

TEST(a_call_counts_once_for_each_time_out_that_it_took)
{
    static const struct {
        int64_t elapsed_us;
        int64_t slow;
        enum seqb_partition_state to;
    } cases[] = {
        {TIMEOUT_US - 1, 0, UP},          {2 * TIMEOUT_US - 1, 1, SUSPECT},
        {2 * TIMEOUT_US, 2, SUSPECT},     {3 * TIMEOUT_US - 1, 2, SUSPECT},
        {3 * TIMEOUT_US, 3, QUARANTINED}, {INT64_MAX / 16, 3, QUARANTINED},
    };

    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        const int64_t elapsed_us = cases[i / 2].elapsed_us;
        struct fixture fixture;

        if (i % 2 == 0 && elapsed_us < TIMEOUT_US)
            continue; /* a broken connection is another matter */
        fixture_init(&fixture, 1);
        if (i % 2 == 0)
            (void)uncertain_at(&fixture, 1, elapsed_us, 10000);
        else
            (void)pool_succeeded(&fixture.pool, 1, elapsed_us, 10000);
        assert_int_equal(fixture.pool.member[1].slow, cases[i / 2].slow);
        expect_state(&fixture, 1, cases[i / 2].to);
    }
}

/* Whatever it answers, and however late. */
TEST_WITH(TWO_MEMBERS, one_that_passes_its_time_out_is_silent_until_it_answers)
{
    const struct pool_member *member = &fixture->pool.member[1];
    int64_t next_ms;

    (void)pool_evaluate(&fixture->pool, 1, 10000, 10000 + TIMEOUT_MS - 1,
                        &next_ms);
    assert_false(member->is_silent);
    (void)pool_evaluate(&fixture->pool, 1, 10000, 10000 + TIMEOUT_MS, &next_ms);
    assert_true(member->is_silent);
    (void)uncertain_at(fixture, 1, TIMEOUT_US, 10000 + TIMEOUT_MS);
    assert_true(member->is_silent);
    (void)pool_succeeded(&fixture->pool, 1, TIMEOUT_US, 11000);
    assert_false(member->is_silent);
    (void)uncertain_at(fixture, 1, TIMEOUT_US, 12000);
    assert_true(member->is_silent);
    (void)pool_looked(&fixture->pool, 1, FAST_US, 12001);
    assert_false(member->is_silent);
}

/* Fast calls in between make no slow one undone. */
TEST(when_slow_calls_are_too_many)
{
    static const struct {
        int64_t at_ms[4]; /* after the first; 0: no more */
        int32_t count;
        bool is_quarantined;
    } cases[] = {
        {{0}, 1, true},
        {{0}, 2, false},
        {{1}, 2, true},
        {{SLOW_WINDOW_MS}, 2, true},
        {{SLOW_WINDOW_MS + 1}, 2, false},
        {{1, SLOW_WINDOW_MS}, 3, true},
        {{1, SLOW_WINDOW_MS + 1}, 3, false},
        {{SLOW_WINDOW_MS + 1, SLOW_WINDOW_MS + 2}, 3, false},
        {{SLOW_WINDOW_MS + 1, SLOW_WINDOW_MS + 2, SLOW_WINDOW_MS + 3}, 3, true},
        /* The span slides: it begins with none of them in particular. */
        {{59000, 61000, 62000}, 3, true},
        {{59000, 119001, 120000}, 3, false},
        {{59000, 119000, 119000}, 3, true},
        {{70000, 140000, 210000, 280000}, 3, false},
        {{1, 2, 3}, 5, false},
        {{1, 2, 3, 4}, 5, true},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture;

        fixture_init(&fixture, 1);
        fixture.options.slow_count = cases[i].count;
        (void)slow_at(&fixture, 1, 10000);
        for (size_t j = 0; j < 4 && cases[i].at_ms[j] > 0; j++) {
            (void)answer_at(&fixture, 1, 10000);
            (void)slow_at(&fixture, 1, 10000 + cases[i].at_ms[j]);
        }
        if ((state_of(&fixture, 1) == QUARANTINED) != cases[i].is_quarantined)
            fail_msg("case %zu comes out otherwise", i);
    }
}

TEST_WITH(TWO_MEMBERS, the_largest_count_is_counted_in_full)
{
    fixture->options.slow_count = POOL_SLOW_COUNT_MAX;
    for (int i = 1; i < POOL_SLOW_COUNT_MAX; i++)
        (void)slow_at(fixture, 1, 10000 + i);
    expect_state(fixture, 1, SUSPECT);
    expect_change(slow_at(fixture, 1, 10001 + SLOW_WINDOW_MS), SUSPECT,
                  QUARANTINED);
}

/* A reload changes the count while some are counted already. */
TEST(a_new_count_counts_those_before)
{
    static const struct {
        int32_t before; /* slow calls, under a count of `from` */
        int32_t from;
        int32_t to;
        int32_t more; /* slow calls that are enough then */
    } cases[] = {{3, 3, 5, 2}, {4, 5, 2, 1}, {2, 5, 3, 1}, {2, 3, 64, 62}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture;

        fixture_init(&fixture, 1);
        fixture.options.slow_count = cases[i].from;
        (void)fail_at(&fixture, 0, SEQB_UNREACHABLE, 10000);
        for (int32_t n = 0; n < cases[i].before; n++)
            (void)slow_at(&fixture, 1, 10001);
        expect_state(&fixture, 1, SUSPECT); /* it is the last one */
        (void)probe_succeeds(&fixture, 0);
        (void)probe_succeeds(&fixture, 0);
        fixture.options.slow_count = cases[i].to;
        for (int32_t n = 1; n < cases[i].more; n++)
            (void)slow_at(&fixture, 1, 10002);
        expect_state(&fixture, 1, SUSPECT);
        expect_change(slow_at(&fixture, 1, 10003), SUSPECT, QUARANTINED);
    }
}

/* Those before the span do not count, under any count. */
TEST_WITH(TWO_MEMBERS, a_lower_count_counts_all_in_the_span)
{
    fixture->options.slow_count = 5;
    for (int n = 0; n < 4; n++)
        (void)slow_at(fixture, 1, 10000);
    fixture->options.slow_count = 2;
    (void)slow_at(fixture, 1, 10001 + SLOW_WINDOW_MS);
    expect_state(fixture, 1, SUSPECT);
    expect_change(slow_at(fixture, 1, 10002 + SLOW_WINDOW_MS), SUSPECT,
                  QUARANTINED);
}

/* A call that timed out is slow; one whose connection broke has failed. */
TEST_WITH(FOUR_MEMBERS, no_answer_is_slow_only_past_the_time_out)
{
    expect_change(uncertain_at(fixture, 1, TIMEOUT_US, 10000), UP, SUSPECT);
    expect_none(uncertain_at(fixture, 1, TIMEOUT_US, 10001));
    assert_int_equal(fixture->pool.member[1].errors, 2);
    expect_change(uncertain_at(fixture, 1, TIMEOUT_US, 10002), SUSPECT,
                  QUARANTINED);
    expect_change(uncertain_at(fixture, 2, TIMEOUT_US - 1, 10003), UP,
                  QUARANTINED);
}

TEST(a_hard_error_quarantines_at_once_however_long_it_took)
{
    static const int64_t elapsed_us[] = {0, FAST_US, TIMEOUT_US,
                                         10 * TIMEOUT_US};

    for (int i = SEQB_OK + 1; i < STATUSES; i++) {
        const enum seqb_status status = (enum seqb_status)i;

        if (status_blame(status) != BLAME_BACKEND || i == SEQB_UNCERTAIN)
            continue;
        for (size_t k = 0; k < COUNT_OF(elapsed_us); k++) {
            struct fixture fixture;

            fixture_init(&fixture, 1);
            expect_change(fail_after(&fixture, 1, status, elapsed_us[k], 10000),
                          UP, QUARANTINED);
            assert_int_equal(fixture.pool.member[1].slow, 0);
        }
    }
}

/* --- suspect --- */

TEST_WITH(FOUR_MEMBERS, a_suspect_is_up_again_when_the_span_has_passed)
{
    const int64_t end_ms = 20000 + SLOW_WINDOW_MS + 1;
    int64_t next_ms;

    (void)slow_at(fixture, 1, 10000);
    assert_int_equal(next_poll(fixture, -1, 10001), 10000 + SLOW_WINDOW_MS + 1);
    (void)slow_at(fixture, 1, 20000);
    assert_int_equal(next_poll(fixture, -1, 20001), end_ms);
    assert_int_equal(next_poll(fixture, -1, end_ms - 1), end_ms);
    /* Whichever is sooner: this, or the next time-out of a call. */
    assert_int_equal(next_poll(fixture, end_ms - 150, end_ms - 10), end_ms);
    assert_int_equal(next_poll(fixture, end_ms - 205, end_ms - 10), end_ms - 5);
    expect_change(pool_evaluate(&fixture->pool, 1, -1, end_ms, &next_ms),
                  SUSPECT, UP);
    assert_int_equal(fixture->pool.member[1].since_ms, end_ms);
    assert_string_equal(fixture->pool.member[1].reason, "");
    assert_int_equal(next_poll(fixture, -1, end_ms), INT64_MAX);
}

TEST(a_suspect_takes_its_turns)
{
    struct fixture fixture;
    int32_t picks[4] = {0};

    fixture_bring(&fixture, SUSPECT);
    for (int i = 0; i < 400; i++)
        picks[pool_pick(&fixture.pool, 0, false, NOW_MS)]++;
    for (int i = 0; i < 4; i++)
        assert_int_equal(picks[i], 100);
}

TEST_WITH(RAMPING_POOL, one_that_ramps_and_is_slow_goes_on_to_ramp)
{
    expect_none(slow_at(fixture, 1, NOW_MS));
    expect_none(slow_at(fixture, 1, NOW_MS));
    expect_state(fixture, 1, RAMPING);
    expect_change(slow_at(fixture, 1, NOW_MS), RAMPING, QUARANTINED);
}

/* --- slow numbers are better than none --- */

TEST_WITH(FOUR_MEMBERS,
          the_last_usable_partition_is_never_quarantined_for_slowness)
{
    for (int32_t i = 0; i < 4; i++) {
        if (i != 1)
            (void)fail_at(fixture, i, SEQB_UNREACHABLE, 10000);
    }
    expect_change(slow_at(fixture, 1, 10001), UP, SUSPECT);
    for (int i = 0; i < 50; i++) {
        expect_none(slow_at(fixture, 1, 10001 + i));
        expect_none(uncertain_at(fixture, 1, TIMEOUT_US, 10001 + i));
        expect_none(hang_for(fixture, TIMEOUT_MS * (i + 2)));
    }
    assert_int_equal(pool_pick(&fixture->pool, 0, false, NOW_MS), 1);
    /* Not for long, once another one is back and it is slow again. */
    (void)probe_succeeds(fixture, 2);
    (void)probe_succeeds(fixture, 2);
    expect_none(answer_at(fixture, 1, 20000));
    expect_state(fixture, 1, SUSPECT);
    expect_change(hang_for(fixture, 60 * TIMEOUT_MS), SUSPECT, QUARANTINED);
    assert_int_equal(pool_pick(&fixture->pool, 0, false, NOW_MS), 2);
}

TEST_WITH(FOUR_MEMBERS, of_all_that_hang_at_once_one_is_kept)
{
    int64_t next_ms;

    for (int32_t i = 0; i < 5; i++)
        (void)pool_evaluate(&fixture->pool, i, CALL_MS,
                            CALL_MS + 10 * TIMEOUT_MS, &next_ms);
    for (int32_t i = 0; i < 3; i++)
        expect_state(fixture, i, QUARANTINED);
    expect_state(fixture, 3, SUSPECT);
    assert_true(next_ms > CALL_MS);
}

TEST_WITH(ONE_MEMBER, the_only_partition_is_quarantined_for_errors_alone)
{
    for (int i = 0; i < 10; i++)
        (void)slow_at(fixture, 0, 10000);
    expect_state(fixture, 0, SUSPECT);
    expect_change(fail_at(fixture, 0, SEQB_UNREACHABLE, 10001), SUSPECT,
                  QUARANTINED);
    assert_false(pool_has_usable(&fixture->pool, 0));
}

TEST(a_slow_authority_is_better_than_none)
{
    struct fixture fixture;
    int64_t next_ms;

    for (int32_t bits = 2; bits <= HA_BITS_MAX; bits += 4) {
        const int32_t authority = 1 << bits; /* past a mask's bits, too */

        fixture_init(&fixture, bits);
        for (int i = 0; i < 10; i++)
            (void)slow_at(&fixture, authority, 10000 + i);
        (void)pool_evaluate(&fixture.pool, authority, CALL_MS, CALL_MS + 10000,
                            &next_ms);
        expect_state(&fixture, authority, SUSPECT);
        expect_change(fail_at(&fixture, authority, SEQB_ROLE, 30000), SUSPECT,
                      QUARANTINED);
        assert_int_equal(pool_pick(&fixture.pool, 0, false, NOW_MS), 0);
    }
}
