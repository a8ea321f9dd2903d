/* SPDX-License-Identifier: Apache-2.0 */
/* Who is probed before its time, when somebody waits and none is usable. */
#include "pool_fixture.h"
#include "support/test.h"

#define QUARANTINED SEQB_PARTITION_QUARANTINED

/* All quarantined at 10000, the authority as well, and probed in the order 2,
 * 0, 4, 3, 1 from 10100 on, every 10 ms; the next probes are far. */
static void bring_all_down(struct fixture *fixture)
{
    static const int32_t order[] = {2, 0, 4, 3, 1};

    fixture_init(fixture, 2);
    for (int32_t i = 0; i < 5; i++)
        (void)fail_at(fixture, i, SEQB_UNREACHABLE, 10000);
    for (int32_t i = 0; i < 5; i++) {
        pool_probe_begins(&fixture->pool, order[i], 10100 + 10 * i);
        fixture->pool.member[order[i]].rest_ms = 50000;
        (void)fail_at(fixture, order[i], SEQB_UNREACHABLE, 10101 + 10 * i);
    }
}

/* Windows come from the authority alone: it is forced in its turn. */
TEST(the_least_recently_probed_is_forced_when_none_is_up)
{
    struct fixture fixture;

    bring_all_down(&fixture);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 11000), 2);
    assert_int_equal(pool_probe_at(&fixture.pool, 2), 11000);
    /* That one is due now; another waiting caller urges the next. */
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 11000), 0);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 11000), 4);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 11000), 3);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 11000), 1);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 11000), -1);
}

TEST(none_is_forced_sooner_than_its_rest)
{
    struct fixture fixture;
    const int64_t first_ms = 10100 + POOL_FORCE_REST_MS;

    bring_all_down(&fixture);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, first_ms - 1), -1);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, first_ms), 2);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, first_ms), -1);
    pool_probe_begins(&fixture.pool, 2, first_ms);
    (void)fail_at(&fixture, 2, SEQB_UNREACHABLE, first_ms + 1);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, first_ms + 9), -1);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, first_ms + 10), 0);
}

TEST(none_is_forced_while_one_is_up_that_may_be_asked)
{
    struct fixture fixture;

    for (int32_t up = 0; up < 4; up++) {
        const uint64_t skip = (uint64_t)1 << up;

        bring_all_down(&fixture);
        (void)probe_succeeds(&fixture, up);
        assert_int_equal(pool_force_probe(&fixture.pool, 0, 20000), -1);
        assert_int_equal(pool_force_probe(&fixture.pool, ~skip, 20000), -1);
        assert_int_equal(pool_force_probe(&fixture.pool, skip, 20000),
                         up == 2 ? 0 : 2);
    }
}

TEST(an_authority_that_is_up_gives_nobody_a_number)
{
    struct fixture fixture;

    bring_all_down(&fixture);
    (void)probe_succeeds(&fixture, 4);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 20000), 2);
}

TEST(a_fixed_rescue_is_never_forced)
{
    struct fixture fixture;

    bring_all_down(&fixture);
    fixture.options.rescue = HA_RESCUE_FIXED;
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 20000), -1);
}

TEST(only_those_that_rest_are_forced)
{
    struct fixture fixture;

    bring_all_down(&fixture);
    pool_probe_begins(&fixture.pool, 2, 11000);
    (void)fail_at(&fixture, 0, SEQB_POISONED, 11000);
    (void)fail_at(&fixture, 4, SEQB_LAYOUT, 11000);
    (void)order_at(&fixture, 3, SEQB_ORDER_DRAIN, 11000);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 12000), 1);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 12000), -1);
    expect_state(&fixture, 1, QUARANTINED);
    assert_int_equal(fixture.pool.member[1].since_ms, 10000);
}

TEST(of_those_never_probed_the_first_is_forced)
{
    struct fixture fixture;

    fixture_init(&fixture, HA_BITS_MAX);
    for (int32_t i = 0; i <= 1 << HA_BITS_MAX; i++)
        (void)fail_at(&fixture, i, SEQB_UNREACHABLE, 10000);
    for (int32_t i = 0; i <= 1 << HA_BITS_MAX; i++)
        assert_int_equal(pool_force_probe(&fixture.pool, 0, 10001), i);
    assert_int_equal(pool_force_probe(&fixture.pool, 0, 10001), -1);
}

/* Member 1 is forced, probed at once, and fails. Returns its rest. */
static int64_t forced_fails(struct fixture *fixture, int64_t now_ms)
{
    pool_probe_begins(&fixture->pool, 1, now_ms);
    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, now_ms);
    return fixture->pool.member[1].rest_ms;
}

/* One before its time says no more than that it is still away. */
TEST_WITH(TWO_MEMBERS, a_forced_probe_that_fails_prolongs_no_rest)
{
    (void)fail_at(fixture, 1, SEQB_UNREACHABLE, 10000);
    fixture->pool.member[1].rest_ms = 5000;
    fixture->pool.member[1].next_probe_ms = 15000;
    assert_int_equal(pool_force_probe(&fixture->pool, 1, 11000), 1);
    assert_int_equal(forced_fails(fixture, 11000), 5000);
    assert_in_range(pool_probe_at(&fixture->pool, 1), 15000, 16000);
    /* The next one, in its time, does. */
    assert_int_equal(forced_fails(fixture, 16000), 10000);
    assert_int_equal(pool_force_probe(&fixture->pool, 1, 17000), 1);
    pool_probe_begins(&fixture->pool, 1, 17000);
    (void)answer_at(fixture, 1, 17000);
    expect_state(fixture, 1, QUARANTINED);
    assert_int_equal(forced_fails(fixture, 17100), 20000);
}
