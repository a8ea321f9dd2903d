/* SPDX-License-Identifier: Apache-2.0 */
/* Every order of an operator, in every state of a partition. */
#include "pool_fixture.h"

#include <string.h>

#include "support/test.h"

#define UP          SEQB_PARTITION_UP
#define QUARANTINED SEQB_PARTITION_QUARANTINED
#define PROBING     SEQB_PARTITION_PROBING
#define RAMPING     SEQB_PARTITION_RAMPING
#define DRAINED     SEQB_PARTITION_DRAINED

#define ORDERS (SEQB_ORDER_RESUME + 1)

/* In each state, what each order makes of it; -1: it is refused. */
static const int after[STATES][ORDERS] = {
    /*                             quarantine   rescue       drain    resume */
    [SEQB_PARTITION_STARTING] = {-1, -1, DRAINED, SEQB_PARTITION_STARTING},
    [SEQB_PARTITION_UP] = {QUARANTINED, -1, DRAINED, UP},
    [SEQB_PARTITION_SUSPECT] = {QUARANTINED, -1, DRAINED,
                                SEQB_PARTITION_SUSPECT},
    [SEQB_PARTITION_QUARANTINED] = {-1, QUARANTINED, DRAINED, QUARANTINED},
    [SEQB_PARTITION_PROBING] = {-1, -1, DRAINED, PROBING},
    [SEQB_PARTITION_RAMPING] = {QUARANTINED, -1, DRAINED, RAMPING},
    [SEQB_PARTITION_DRAINED] = {-1, -1, DRAINED, QUARANTINED},
    [SEQB_PARTITION_REFUSED] = {-1, QUARANTINED, -1, -1},
    [SEQB_PARTITION_POISONED] = {-1, QUARANTINED, -1, -1},
};

static void expect_refused(enum seqb_partition_state from,
                           enum seqb_order order)
{
    struct fixture fixture;
    struct pool_change change = {.from = UP, .to = DRAINED};
    struct pool_member before;
    struct seqb_error err = {SEQB_OK, ""};

    fixture_bring(&fixture, from);
    before = fixture.pool.member[1];
    assert_int_equal(
        pool_command(&fixture.pool, 1, order, NOW_MS, &change, &err),
        SEQB_INVALID);
    assert_int_equal(err.status, SEQB_INVALID);
    assert_non_null(strstr(err.text, "partition 1 of pool main is "));
    assert_non_null(strstr(err.text, seqb_partition_state_name(from)));
    expect_change(change, from, from);
    assert_memory_equal(&fixture.pool.member[1], &before, sizeof before);
}

TEST(the_first_failure_after_an_order_is_news)
{
    struct fixture fixture;
    struct pool_change change;

    for (int again = 0; again < 2; again++) {
        fixture_bring(&fixture, again == 0 ? DRAINED : UP);
        change = order_at(
            &fixture, 1, again == 0 ? SEQB_ORDER_RESUME : SEQB_ORDER_QUARANTINE,
            NOW_MS);
        assert_true(pool_change_is_news(change));
        for (int i = 0; i < 3; i++) {
            pool_probe_begins(&fixture.pool, 1, NOW_MS + i);
            change = fail_at(&fixture, 1, SEQB_UNREACHABLE, NOW_MS + i);
            expect_change(change, QUARANTINED, QUARANTINED);
            assert_int_equal(pool_change_is_news(change), i == 0);
        }
    }
}

/* A failure was reported before the order, which changes no state. */
TEST(a_rescue_of_a_failed_one_that_fails_is_no_news)
{
    struct fixture fixture;

    fixture_bring(&fixture, QUARANTINED);
    (void)order_at(&fixture, 1, SEQB_ORDER_RESCUE, NOW_MS);
    pool_probe_begins(&fixture.pool, 1, NOW_MS);
    assert_false(
        pool_change_is_news(fail_at(&fixture, 1, SEQB_UNREACHABLE, NOW_MS)));
}

static void expect_done(enum seqb_partition_state from, enum seqb_order order,
                        enum seqb_partition_state to)
{
    struct fixture fixture;
    const struct pool_member *member = &fixture.pool.member[1];

    fixture_bring(&fixture, from);
    expect_change(order_at(&fixture, 1, order, NOW_MS), from, to);
    expect_state(&fixture, 1, to);
    assert_int_equal(member->since_ms == NOW_MS, from != to);
    assert_int_equal(strstr(member->reason, "operator") != NULL, from != to);
    if (to == DRAINED)
        assert_int_equal(pool_probe_at(&fixture.pool, 1), INT64_MAX);
    else
        assert_int_equal(
            pool_probe_at(&fixture.pool, 1),
            NOW_MS + (order == SEQB_ORDER_QUARANTINE ? RESCUE_AFTER_MS : 0));
}

static bool is_repeated(int from, int order)
{
    return (order == SEQB_ORDER_DRAIN && from == DRAINED) ||
           (order == SEQB_ORDER_RESUME && from != DRAINED);
}

/* A script that is run again gives its orders again. */
static void expect_unchanged(enum seqb_partition_state from,
                             enum seqb_order order)
{
    struct fixture fixture;
    struct pool_member before;

    fixture_bring(&fixture, from);
    before = fixture.pool.member[1];
    expect_change(order_at(&fixture, 1, order, NOW_MS), from, from);
    assert_memory_equal(&fixture.pool.member[1], &before, sizeof before);
}

TEST(each_order_does_in_each_state_what_the_table_says)
{
    for (int from = 0; from < STATES; from++) {
        for (int order = 0; order < ORDERS; order++) {
            if (after[from][order] < 0)
                expect_refused((enum seqb_partition_state)from,
                               (enum seqb_order)order);
            else if (is_repeated(from, order))
                expect_unchanged((enum seqb_partition_state)from,
                                 (enum seqb_order)order);
            else
                expect_done((enum seqb_partition_state)from,
                            (enum seqb_order)order,
                            (enum seqb_partition_state)after[from][order]);
        }
    }
}

TEST(a_refusal_says_what_to_do_instead)
{
    static const struct {
        enum seqb_partition_state from;
        enum seqb_order order;
        const char *words;
    } cases[] = {
        {DRAINED, SEQB_ORDER_RESCUE, "resume it instead"},
        {SEQB_PARTITION_POISONED, SEQB_ORDER_DRAIN, "it is asked no more"},
        {SEQB_PARTITION_POISONED, SEQB_ORDER_RESUME, "rescue it instead"},
        {UP, SEQB_ORDER_RESCUE, "it needs no rescue"},
        {DRAINED, SEQB_ORDER_QUARANTINE, "only one that is up"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture fixture;
        struct pool_change change;
        struct seqb_error err;

        fixture_bring(&fixture, cases[i].from);
        assert_int_not_equal(pool_command(&fixture.pool, 1, cases[i].order,
                                          NOW_MS, &change, &err),
                             SEQB_OK);
        assert_non_null(strstr(err.text, cases[i].words));
        assert_int_not_equal(pool_command(&fixture.pool, 1, cases[i].order,
                                          NOW_MS, &change, NULL),
                             SEQB_OK);
    }
}

/* A resume is no rescue. Once it is probed, a resume has nothing to do. */
TEST(a_resume_of_one_that_an_operator_quarantined_points_to_rescue)
{
    struct fixture fixture;
    struct pool_change change;
    struct seqb_error err;

    fixture_bring(&fixture, UP);
    (void)order_at(&fixture, 1, SEQB_ORDER_QUARANTINE, NOW_MS);
    assert_int_equal(pool_command(&fixture.pool, 1, SEQB_ORDER_RESUME,
                                  NOW_MS + 1, &change, &err),
                     SEQB_INVALID);
    assert_non_null(
        strstr(err.text, "an operator quarantined it: rescue it instead"));
    (void)order_at(&fixture, 1, SEQB_ORDER_RESCUE, NOW_MS + 2);
    expect_none(order_at(&fixture, 1, SEQB_ORDER_RESUME, NOW_MS + 2));
}

/* Whatever its calls that were under way still answer. */
TEST(a_drained_one_is_left_alone_until_it_is_resumed)
{
    for (int from = 0; from < STATES; from++) {
        struct fixture fixture;
        int64_t next_ms;

        if (after[from][SEQB_ORDER_DRAIN] != DRAINED)
            continue;
        fixture_bring(&fixture, (enum seqb_partition_state)from);
        (void)order_at(&fixture, 1, SEQB_ORDER_DRAIN, NOW_MS);
        for (int i = 0; i < 100; i++) {
            const int64_t now_ms = NOW_MS + (int64_t)i * 10000;

            expect_none(answer_at(&fixture, 1, now_ms));
            expect_none(slow_at(&fixture, 1, now_ms));
            expect_none(fail_at(&fixture, 1, SEQB_UNREACHABLE, now_ms));
            expect_none(fail_at(&fixture, 1, SEQB_CLOSED, now_ms));
            expect_none(
                pool_evaluate(&fixture.pool, 1, NOW_MS, now_ms, &next_ms));
            assert_int_equal(next_ms, INT64_MAX);
            assert_int_equal(pool_probe_at(&fixture.pool, 1), INT64_MAX);
            assert_int_equal(
                pool_pick(&fixture.pool, ~(uint64_t)2, true, now_ms), -1);
        }
        for (int32_t i = 0; i < 5; i++)
            (void)fail_at(&fixture, i, SEQB_LAYOUT, NOW_MS);
        assert_int_equal(pool_force_probe(&fixture.pool, 0, 1000000000), -1);
    }
}

TEST(one_that_is_resumed_is_probed_and_ramped_up)
{
    struct fixture fixture;

    fixture_bring(&fixture, UP);
    expect_change(order_at(&fixture, 1, SEQB_ORDER_DRAIN, 6000), UP, DRAINED);
    expect_change(order_at(&fixture, 1, SEQB_ORDER_RESUME, 7000), DRAINED,
                  QUARANTINED);
    assert_int_equal(pool_pick(&fixture.pool, ~(uint64_t)2, true, 7000), -1);
    assert_int_equal(pool_probe_at(&fixture.pool, 1), 7000);
    /* What was under way since before proves nothing. */
    expect_none(answer_at(&fixture, 1, 7000));
    expect_state(&fixture, 1, QUARANTINED);
    expect_none(probe_succeeds(&fixture, 1));
    expect_change(probe_succeeds(&fixture, 1), PROBING, RAMPING);
    assert_string_equal(fixture.pool.member[1].reason, "");
}

/* A probe that was under way when it was drained counts for nothing later. */
TEST(a_probe_before_a_drain_is_none_after_it)
{
    struct fixture fixture;

    fixture_bring(&fixture, QUARANTINED);
    expect_none(probe_succeeds(&fixture, 1));
    (void)order_at(&fixture, 1, SEQB_ORDER_DRAIN, 6000);
    (void)order_at(&fixture, 1, SEQB_ORDER_RESUME, 7000);
    expect_none(probe_succeeds(&fixture, 1));
    expect_state(&fixture, 1, QUARANTINED);
}

TEST(one_that_an_operator_quarantined_comes_back_by_itself)
{
    struct fixture fixture;

    fixture_bring(&fixture, UP);
    expect_change(order_at(&fixture, 1, SEQB_ORDER_QUARANTINE, 6000), UP,
                  QUARANTINED);
    assert_string_equal(fixture.pool.member[1].reason,
                        "quarantined by an operator");
    assert_int_equal(fixture.pool.member[1].errors, 0);
    expect_none(probe_succeeds(&fixture, 1));
    expect_change(probe_succeeds(&fixture, 1), PROBING, RAMPING);
}

/* An operator knows better than the rests so far. */
TEST(a_rescue_is_now_and_its_rests_begin_anew)
{
    struct fixture fixture;
    struct pool_member *member = &fixture.pool.member[1];
    int64_t now_ms;

    fixture_bring(&fixture, QUARANTINED);
    for (int i = 0; i < 20; i++)
        (void)probe_fails(&fixture, 1);
    now_ms = member->last_probe_ms + 10;
    expect_none(order_at(&fixture, 1, SEQB_ORDER_RESCUE, now_ms));
    assert_int_equal(pool_probe_at(&fixture.pool, 1), now_ms);
    assert_string_equal(member->reason, "because of UNREACHABLE");
    assert_int_equal(member->since_ms, START_MS);
    assert_int_equal(probe_fails(&fixture, 1), now_ms);
    assert_int_equal(member->rest_ms, 200);
}

TEST(a_poisoned_one_that_is_rescued_may_be_poisoned_again)
{
    static const enum seqb_partition_state from[] = {SEQB_PARTITION_REFUSED,
                                                     SEQB_PARTITION_POISONED};

    for (size_t i = 0; i < COUNT_OF(from); i++) {
        struct fixture fixture;

        fixture_bring(&fixture, from[i]);
        (void)order_at(&fixture, 1, SEQB_ORDER_RESCUE, NOW_MS);
        pool_probe_begins(&fixture.pool, 1, NOW_MS);
        expect_change(fail_at(&fixture, 1, SEQB_POISONED, NOW_MS), PROBING,
                      SEQB_PARTITION_POISONED);
        (void)order_at(&fixture, 1, SEQB_ORDER_RESCUE, NOW_MS);
        expect_none(probe_succeeds(&fixture, 1));
        expect_change(probe_succeeds(&fixture, 1), PROBING, RAMPING);
    }
}

TEST(a_fixed_rescue_rests_as_long_after_an_order)
{
    struct fixture fixture;

    fixture_bring(&fixture, UP);
    fixture.options.rescue = HA_RESCUE_FIXED;
    (void)order_at(&fixture, 1, SEQB_ORDER_QUARANTINE, NOW_MS);
    assert_int_equal(pool_probe_at(&fixture.pool, 1), NOW_MS + RESCUE_AFTER_MS);
    (void)order_at(&fixture, 1, SEQB_ORDER_RESCUE, NOW_MS);
    assert_int_equal(pool_probe_at(&fixture.pool, 1), NOW_MS);
    (void)probe_fails(&fixture, 1);
    assert_int_equal(pool_probe_at(&fixture.pool, 1), NOW_MS + RESCUE_AFTER_MS);
}

TEST_WITH(FOUR_MEMBERS, an_authority_takes_orders_as_any_other)
{
    expect_change(order_at(fixture, 4, SEQB_ORDER_DRAIN, NOW_MS), UP, DRAINED);
    expect_change(order_at(fixture, 4, SEQB_ORDER_RESUME, NOW_MS), DRAINED,
                  QUARANTINED);
    expect_change(probe_succeeds(fixture, 4), PROBING, UP);
}
