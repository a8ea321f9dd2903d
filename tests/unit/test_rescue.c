/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way back of a partition that rests: when it is probed, how long it rests
 * between, what brings it back. The ramp after it is in test_pool_ramp.c, who
 * is forced in test_force_probe.c.
 */
#include "pool_fixture.h"

#include <string.h>

#include "platform/minmax.h"
#include "support/test.h"

#define UP          SEQB_PARTITION_UP
#define QUARANTINED SEQB_PARTITION_QUARANTINED
#define PROBING     SEQB_PARTITION_PROBING
#define RAMPING     SEQB_PARTITION_RAMPING

/* The rest until the next probe is `rest_ms`, or up to a fifth less. */
static void expect_rest(const struct fixture *fixture, int64_t now_ms,
                        int64_t rest_ms)
{
    const int64_t rests_ms = pool_probe_at(&fixture->pool, 1) - now_ms;

    assert_true(rests_ms <= rest_ms);
    assert_true(rests_ms >= rest_ms - rest_ms / 5);
}

/* --- rests --- */

TEST(probes_come_after_100_ms_then_doubling_up_to_the_bound)
{
    static const int32_t bounds_ms[] = {100, 150, 400, 1000, 300000, 86400000};

    for (size_t b = 0; b < COUNT_OF(bounds_ms); b++) {
        struct fixture fixture;
        int64_t rest_ms = POOL_FIRST_PROBE_MS;
        int64_t now_ms = 10000;

        fixture_init(&fixture, 1);
        fixture.options.rescue_after_ms = bounds_ms[b];
        (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, now_ms);
        assert_int_equal(pool_probe_at(&fixture.pool, 1), now_ms + 100);
        for (int probe = 0; probe < 40; probe++) {
            expect_rest(&fixture, now_ms, rest_ms);
            now_ms = probe_fails(&fixture, 1);
            rest_ms = min_of(2 * rest_ms, bounds_ms[b]);
        }
    }
}

/* The rests of the 5th to the 12th failure in a row, as that seed has them. */
static void rests_of(uint64_t seed, int64_t out[8])
{
    struct fixture fixture;
    int64_t now_ms = 10000;

    fixture_init_seeded(&fixture, 1, seed);
    (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, now_ms);
    for (int probe = 1; probe <= 11; probe++) {
        now_ms = probe_fails(&fixture, 1);
        if (probe > 3)
            out[probe - 4] = pool_probe_at(&fixture.pool, 1) - now_ms;
    }
}

/* Else all brokers would probe a server that was down in the same instant. */
TEST(brokers_of_different_seeds_rest_differently)
{
    int64_t first[8];

    rests_of(2, first);
    for (uint64_t seed = 4; seed < 1000; seed += 2) {
        int64_t rests[8];
        int same = 0;

        rests_of(seed, rests);
        for (int i = 0; i < 8; i++)
            same += rests[i] == first[i];
        assert_in_range(same, 0, 3);
        rests_of(seed, first);
        assert_memory_equal(first, rests, sizeof rests);
    }
}

/* The jitter reaches from none to the whole fifth. */
TEST(the_jitter_is_spread_over_a_fifth)
{
    int64_t least = INT64_MAX;
    int64_t most = 0;

    for (uint64_t seed = 2; seed < 1000; seed += 2) {
        int64_t rests[8];

        rests_of(seed, rests);
        least = min_of(least, rests[7]); /* of 204800 ms */
        most = rests[7] > most ? rests[7] : most;
    }
    assert_in_range(least, 163840, 166000);
    assert_in_range(most, 202000, 204800);
}

/* All of it, and no more: 105 ms less 0 to 21. */
TEST(the_jitter_of_a_short_rest_is_a_fifth_too)
{
    bool was_seen[22] = {false};

    for (uint64_t seed = 2; seed < 1000; seed += 2) {
        struct fixture fixture;
        int64_t now_ms;
        int64_t less_ms;

        fixture_init_seeded(&fixture, 1, seed);
        fixture.options.rescue_after_ms = 105;
        (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, 10000);
        for (int probe = 0; probe < 8; probe++) {
            now_ms = probe_fails(&fixture, 1);
            less_ms = now_ms + 105 - pool_probe_at(&fixture.pool, 1);
            assert_in_range(less_ms, 0, 21);
            was_seen[less_ms] = true;
        }
    }
    for (size_t i = 0; i < COUNT_OF(was_seen); i++)
        assert_true(was_seen[i]);
}

TEST_WITH(TWO_MEMBERS, a_fixed_rescue_rests_as_long_each_time)
{
    int64_t now_ms = 10000;

    fixture->options.rescue = HA_RESCUE_FIXED;
    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, now_ms);
    for (int probe = 0; probe < 10; probe++) {
        assert_int_equal(pool_probe_at(&fixture->pool, 1),
                         now_ms + RESCUE_AFTER_MS);
        now_ms = probe_fails(fixture, 1);
    }
    expect_change(probe_succeeds(fixture, 1), PROBING, RAMPING);
    now_ms = fixture->pool.member[1].since_ms + 1;
    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, now_ms);
    assert_int_equal(pool_probe_at(&fixture->pool, 1),
                     now_ms + RESCUE_AFTER_MS);
}

/* Brings member 1 back at once, and fails it after it was usable so long.
 * Returns when it failed. */
static int64_t relapse_after(struct fixture *fixture, int64_t well_ms)
{
    int64_t now_ms;

    expect_none(probe_succeeds(fixture, 1));
    expect_change(probe_succeeds(fixture, 1), PROBING, RAMPING);
    now_ms = fixture->pool.member[1].since_ms + well_ms;
    expect_change(fail_at(fixture, 1, SEQB_UNREACHABLE, now_ms), RAMPING,
                  QUARANTINED);
    return now_ms;
}

TEST_WITH(TWO_MEMBERS, one_that_was_up_for_a_short_while_rests_longer)
{
    int64_t rest_ms = POOL_FIRST_PROBE_MS;

    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, 10000);
    for (int i = 0; i < 20; i++) {
        rest_ms = min_of(2 * rest_ms, RESCUE_AFTER_MS);
        expect_rest(fixture, relapse_after(fixture, i % 2 == 0 ? 1 : 29999),
                    rest_ms);
    }
    assert_int_equal(fixture->pool.member[1].ejections, 21);
    assert_int_equal(rest_ms, RESCUE_AFTER_MS);
}

/* The rest before counts: a long one asks for a long calm. */
TEST(one_that_was_well_for_long_begins_anew)
{
    static const struct {
        int fails;
        int64_t rest_ms; /* after so many failures */
    } cases[] = {{0, 100}, {1, 200}, {5, 3200}, {30, RESCUE_AFTER_MS}};

    for (size_t i = 0; i < 2 * COUNT_OF(cases); i++) {
        const bool is_calm = i % 2 == 0;
        const int64_t rest_ms = cases[i / 2].rest_ms;
        struct fixture fixture;
        int64_t now_ms;

        fixture_init(&fixture, 1);
        (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, 10000);
        for (int k = 0; k < cases[i / 2].fails; k++)
            (void)probe_fails(&fixture, 1);
        now_ms = relapse_after(&fixture, POOL_CALM_MS + rest_ms - !is_calm);
        expect_rest(&fixture, now_ms,
                    is_calm ? 100 : min_of(2 * rest_ms, RESCUE_AFTER_MS));
    }
}

/* It was usable all the time: suspect and up are the same for that. */
TEST_WITH(TWO_MEMBERS, one_that_was_slow_has_been_well_all_the_same)
{
    const struct pool_member *member = &fixture->pool.member[1];
    int64_t now_ms;
    int64_t next_ms;

    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, 10000);
    (void)probe_succeeds(fixture, 1);
    (void)probe_succeeds(fixture, 1);
    now_ms = member->since_ms + POOL_CALM_MS + POOL_FIRST_PROBE_MS;
    expect_change(pool_evaluate(&fixture->pool, 1, -1, now_ms, &next_ms),
                  RAMPING, UP);
    expect_change(slow_at(fixture, 1, now_ms), UP, SEQB_PARTITION_SUSPECT);
    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, now_ms + 1);
    assert_int_equal(pool_probe_at(&fixture->pool, 1), now_ms + 101);
}

TEST_WITH(TWO_MEMBERS, no_probe_comes_before_the_time_it_is_held_to)
{
    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, 10000);
    pool_hold(&fixture->pool, 1, 10050);
    assert_int_equal(pool_probe_at(&fixture->pool, 1), 10100);
    pool_hold(&fixture->pool, 1, 10500);
    assert_int_equal(pool_probe_at(&fixture->pool, 1), 10500);
    pool_hold(&fixture->pool, 1, 10499);
    assert_int_equal(pool_probe_at(&fixture->pool, 1), 10500);
    /* One that is up has no probe to hold, then or later. */
    pool_hold(&fixture->pool, 0, 90000);
    assert_int_equal(pool_probe_at(&fixture->pool, 0), INT64_MAX);
    (void)fail_at(fixture, 0, SEQB_UNREACHABLE, 20000);
    assert_int_equal(pool_probe_at(&fixture->pool, 0), 20100);
}

/* --- probes --- */

/* A quarantine is one change, however many probes fail in it, and as old as
 * its first failure. */
TEST_WITH(TWO_MEMBERS, failing_probes_prolong_one_quarantine)
{
    const struct pool_member *member = &fixture->pool.member[1];

    expect_change(fail_at(fixture, 1, SEQB_UNREACHABLE, 10000), UP,
                  QUARANTINED);
    for (int i = 1; i <= 20; i++) {
        const int64_t at_ms = pool_probe_at(&fixture->pool, 1);

        pool_probe_begins(&fixture->pool, 1, at_ms);
        expect_state(fixture, 1, PROBING);
        assert_int_equal(member->last_probe_ms, at_ms);
        assert_int_equal(pool_probe_at(&fixture->pool, 1), INT64_MAX);
        assert_int_equal(pool_pick(&fixture->pool, ~(uint64_t)2, false, at_ms),
                         -1);
        expect_none(fail_at(fixture, 1, SEQB_ROLE, at_ms + 3));
        expect_state(fixture, 1, QUARANTINED);
        assert_int_equal(member->since_ms, 10000);
        assert_int_equal(member->errors, 1 + i);
        assert_int_equal(member->ejections, 1);
        assert_string_equal(member->reason, "because of ROLE");
    }
}

/* Whatever the reason, it has proved nothing. */
TEST(a_probe_that_fails_for_any_reason_prolongs_the_rest)
{
    for (int i = SEQB_OK + 1; i < STATUSES; i++) {
        const enum seqb_status status = (enum seqb_status)i;
        struct fixture fixture;

        if (status_blame(status) == BLAME_LAYOUT)
            continue;
        fixture_init(&fixture, 1);
        (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, 10000);
        pool_probe_begins(&fixture.pool, 1, 10100);
        expect_none(fail_after(&fixture, 1, status, 9 * TIMEOUT_US, 10101));
        expect_rest(&fixture, 10101, 200);
        assert_int_equal(fixture.pool.member[1].slow, 0);
    }
}

TEST_WITH(TWO_MEMBERS, two_probes_in_a_row_bring_one_back)
{
    const struct pool_member *member = &fixture->pool.member[1];

    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, 10000);
    (void)probe_fails(fixture, 1);
    pool_probe_begins(&fixture->pool, 1, 20000);
    expect_none(answer_at(fixture, 1, 20003));
    expect_state(fixture, 1, QUARANTINED);
    assert_int_equal(member->since_ms, 10000);
    assert_int_equal(pool_probe_at(&fixture->pool, 1),
                     20003 + POOL_NEXT_PROBE_MS);
    assert_int_equal(pool_pick(&fixture->pool, ~(uint64_t)2, false, 20004), -1);
    pool_probe_begins(&fixture->pool, 1, 20103);
    expect_change(answer_at(fixture, 1, 20105), PROBING, RAMPING);
    assert_int_equal(member->since_ms, 20105);
    assert_string_equal(member->reason, "");
    assert_int_equal(pool_probe_at(&fixture->pool, 1), INT64_MAX);
    expect_none(answer_at(fixture, 1, 20106));
}

TEST_WITH(TWO_MEMBERS, one_that_fails_between_makes_them_two_again)
{
    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, 10000);
    for (int i = 0; i < 10; i++) {
        expect_none(probe_succeeds(fixture, 1));
        (void)probe_fails(fixture, 1);
    }
    expect_none(probe_succeeds(fixture, 1));
    expect_change(probe_succeeds(fixture, 1), PROBING, RAMPING);
    /* And those of one rescue do not serve for the next. */
    (void)fail_at(fixture, 1, SEQB_ROLE,
                  fixture->pool.member[1].since_ms + 500);
    expect_none(probe_succeeds(fixture, 1));
    expect_change(probe_succeeds(fixture, 1), PROBING, RAMPING);
}

/* Where nobody else is there, one is enough, and it takes every turn. */
TEST(the_only_one_is_back_with_its_first_probe)
{
    for (int32_t bits = 0; bits <= 2; bits++) {
        struct fixture fixture;
        const int32_t authority = 1 << bits;
        int64_t now_ms;

        fixture_init(&fixture, bits);
        for (int32_t i = 0; i <= authority; i++)
            (void)fail_at(&fixture, i, SEQB_UNREACHABLE, 10000);
        /* An authority is needed always, and is no partition to others. */
        expect_change(probe_succeeds(&fixture, authority), PROBING, UP);
        expect_change(probe_succeeds(&fixture, 0), PROBING, UP);
        if (bits == 0)
            continue;
        expect_none(probe_succeeds(&fixture, 1));
        expect_change(probe_succeeds(&fixture, 1), PROBING, RAMPING);
        now_ms = fixture.pool.member[1].since_ms;
        (void)fail_at(&fixture, 0, SEQB_UNREACHABLE, now_ms);
        (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, now_ms);
        expect_change(probe_succeeds(&fixture, 0), PROBING, UP);
    }
}

/* However it went out, it comes back with a clean record. */
TEST(a_rescued_partition_is_not_slow_from_before)
{
    for (int how = 0; how < 3; how++) {
        struct fixture fixture;
        int64_t now_ms = 10300;

        fixture_init(&fixture, 1);
        (void)slow_at(&fixture, 1, 10000);
        (void)slow_at(&fixture, 1, 10000);
        if (how == 0)
            (void)slow_at(&fixture, 1, 10000);
        else if (how == 1)
            (void)fail_at(&fixture, 1, SEQB_UNREACHABLE, 10000);
        else
            (void)order_at(&fixture, 1, SEQB_ORDER_QUARANTINE, 10000);
        expect_state(&fixture, 1, QUARANTINED);
        for (int k = 0; k < 2; k++) {
            pool_probe_begins(&fixture.pool, 1, now_ms);
            (void)slow_at(&fixture, 1, now_ms);
        }
        expect_state(&fixture, 1, RAMPING);
        expect_none(slow_at(&fixture, 1, now_ms + 1));
        expect_none(slow_at(&fixture, 1, now_ms + 2));
        expect_change(slow_at(&fixture, 1, now_ms + 3), RAMPING, QUARANTINED);
    }
}

TEST_WITH(TWO_MEMBERS, a_failure_while_resting_prolongs_nothing)
{
    int64_t at_ms;

    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, 10000);
    for (int i = 0; i < 3; i++)
        (void)probe_fails(fixture, 1); /* rests for 800 ms now */
    at_ms = pool_probe_at(&fixture->pool, 1);
    expect_none(fail_at(fixture, 1, SEQB_UNREACHABLE, at_ms - 10));
    expect_none(fail_at(fixture, 1, SEQB_NO_MEMORY, at_ms - 9));
    assert_int_equal(pool_probe_at(&fixture->pool, 1), at_ms);
    assert_int_equal(fixture->pool.member[1].since_ms, 10000);
    assert_int_equal(fixture->pool.member[1].rest_ms, 800);
}
