/* SPDX-License-Identifier: Apache-2.0 */
/* What a refill learns of the consumption, from looks at irregular times, and
 * of a ring that runs dry. */

#include <string.h>

#include "refill_plan.h"
#include "support/test.h"

/* A refill that is looked at, and never short of anything. */
struct look {
    struct refill_rules rules;
    struct refill refill;
    struct refill_view view;
    struct refill_plan plan;
};

static struct look poll_of(int64_t max_unused)
{
    struct look look = {.rules = usual, .view = {.now_ms = 1000}};

    look.rules.max_unused = max_unused;
    look.view.stock = max_unused;
    look.view.room = (int64_t)1 << 40;
    refill_init(&look.refill, look.view.now_ms);
    return look;
}

static int64_t look_after(struct look *look, int64_t ms, int64_t used)
{
    look->view.now_ms += ms;
    look->view.consumed += (uint64_t)used;
    look->plan = decide(&look->refill, &look->rules, &look->view);
    return look->plan.target;
}

/* Numbers a second. */
static int64_t look_rate(const struct look *look)
{
    return refill_rate(&look->refill, look->view.now_ms, look->view.consumed);
}

/* Of 100 numbers a ms for so long, looked at in this and that step. */
static struct look steady_look(int64_t ms, int64_t least_ms, int64_t most_ms)
{
    struct look look = poll_of(1000000);
    const int64_t end_ms = look.view.now_ms + ms;
    uint64_t seed = 7;

    while (look.view.now_ms < end_ms) {
        const int64_t left_ms = end_ms - look.view.now_ms;
        int64_t step_ms = least_ms + chance(&seed, most_ms - least_ms + 1);

        step_ms = min_of(step_ms, left_ms);
        (void)look_after(&look, step_ms, 100 * step_ms);
    }
    return look;
}

static const struct {
    int64_t least_ms;
    int64_t most_ms;
} steps[] = {{0, 1}, {1, 1}, {0, 5}, {20, 20}, {1, 100}, {2, 30}};

TEST(looks_at_any_times_learn_the_same_rate)
{
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        const struct look begun =
            steady_look(693, steps[i].least_ms, steps[i].most_ms);
        const struct look known =
            steady_look(10000, steps[i].least_ms, steps[i].most_ms);

        /* Half of it is known after 0.69 of the time constant. */
        assert_in_range(look_rate(&begun), 47000, 53000);
        assert_in_range(look_rate(&known), 99900, 100001);
        assert_in_range(known.plan.target, 100 * 70 - 10, 100 * 70);
        assert_int_equal(known.plan.reason, REFILL_RATE);
    }
}

/* The clock tells whole ms, and a look does not come when it ticks. */
TEST(looks_before_and_after_a_tick_balance)
{
    struct look look = poll_of(1000000);
    uint64_t seed = 11;
    int64_t us = 0;

    for (int i = 0; i < 100000; i++) {
        const int64_t step_us = chance(&seed, 1800);
        const int64_t ms = (us + step_us) / 1000 - us / 1000;
        int64_t target;

        us += step_us;
        target = look_after(&look, ms, step_us / 10);
        if (i < 10000)
            continue;
        assert_in_range(look_rate(&look), 95000, 105000);
        assert_in_range(target, 6500, 7500);
    }
}

TEST(a_burst_is_met_by_the_short_average)
{
    struct look look = poll_of(10000000);

    for (int i = 0; i < 500; i++)
        (void)look_after(&look, 20, 2000);
    assert_in_range(look.plan.target, 6990, 7000);
    for (int i = 0; i < 50; i++)
        (void)look_after(&look, 1, 1000);
    /* The long one still says little. */
    assert_true(look_rate(&look) < 150000);
    assert_int_equal(look.plan.reason, REFILL_BURST);
    assert_in_range(look.plan.target, 40000, 50000);
    for (int i = 0; i < 100; i++)
        (void)look_after(&look, 1, 1000);
    assert_in_range(look.plan.target, 65000, 70000);
}

/* However much was used in that ms, and whatever was before. */
TEST(a_burst_of_one_ms_fetches_about_as_much_as_it_used)
{
    static const int64_t pauses_ms[] = {0, 1, 20, 3600000};

    for (int64_t used = 1000; used <= 1000000000; used *= 10) {
        for (size_t i = 0; i < COUNT_OF(pauses_ms); i++) {
            struct look look = poll_of((int64_t)1 << 40);

            (void)look_after(&look, pauses_ms[i], 0);
            (void)look_after(&look, 1, used);
            assert_in_range(look.plan.target, used / 2, 2 * used);
            /* And 200 ms later the burst is over. */
            (void)look_after(&look, 200, 0);
            assert_true(look.plan.target < used / 5 + REFILL_MIN);
        }
    }
}

TEST(a_lull_shrinks_the_stock)
{
    static const int64_t steps_ms[] = {1, 20, 500, 3000, 30000};

    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        struct look look = steady_look(10000, 20, 20);

        for (int64_t ms = 0; ms < 3000; ms += steps_ms[i])
            (void)look_after(&look, steps_ms[i], 0);
        assert_true(look.plan.target < 7000 / 8);
        for (int64_t ms = 0; ms < 30000; ms += steps_ms[i])
            (void)look_after(&look, steps_ms[i], 0);
        assert_int_equal(look.plan.target, REFILL_MIN);
        assert_true(look_rate(&look) < 100);
    }
}

/* After hours idle, too: what was before is forgotten, not averaged in. */
TEST(a_sequence_that_wakes_up_is_as_a_new_one)
{
    struct look look = steady_look(10000, 20, 20);
    struct look fresh = poll_of(1000000);

    (void)look_after(&look, 8 * (int64_t)3600000, 1);
    for (int i = 0; i < 300; i++) {
        const int64_t target = look_after(&fresh, 1, 50);

        assert_in_range(look_after(&look, 1, 50), target, target + 1);
    }
}

TEST(plans_of_the_same_moment_agree)
{
    struct look look = poll_of(1000000);

    for (int i = 0; i < 10; i++)
        assert_int_equal(look_after(&look, 0, 100), REFILL_MIN);
    /* And none of what was used meanwhile is lost. */
    assert_int_equal(look_rate(&look), 0);
    (void)look_after(&look, 1000000, 1000000000 - 1000);
    assert_in_range(look_rate(&look), 999990, 1000000);
}

/* A closed cursor gives back what it did not use. */
TEST(numbers_given_back_are_no_consumption)
{
    struct look look = steady_look(10000, 20, 20);

    for (int i = 0; i < 10; i++) {
        assert_in_range(look_after(&look, 1, -5000), REFILL_MIN, 7000);
        look.view.is_starved = true;
        assert_in_range(look_after(&look, 0, -5000), REFILL_MIN, 7000);
        look.view.is_starved = false;
    }
    assert_true(look_rate(&look) <= 100000);
}

TEST(asking_for_the_rate_changes_nothing)
{
    const struct look look = steady_look(1000, 20, 20);
    struct look asked = look;

    assert_true(refill_rate(&asked.refill, 20000, 200000) > 0);
    assert_memory_equal(&asked, &look, sizeof look);
    assert_int_equal(refill_rate(&look.refill, 3000, (uint64_t)INT64_MAX),
                     INT64_MAX);
}

/* --- a ring that runs dry --- */

static struct look dry_look(int64_t max_unused)
{
    struct look look = poll_of(max_unused);

    look.view.stock = 0;
    look.view.is_starved = true;
    return look;
}

static void expect_doubling(struct look *look, int64_t target)
{
    for (int i = 0; i < 20; i++) {
        const int64_t next = min_of(2 * target, 1000000);

        /* In parts, as partitions answer one by one: doubled once. */
        assert_int_equal(look_after(look, 0, target / 2), target);
        assert_int_equal(look_after(look, 0, target - target / 2), next);
        assert_int_equal(look_after(look, 0, 0), next);
        target = next;
    }
    assert_int_equal(target, 1000000);
    assert_int_equal(look->plan.reason, REFILL_MAX_UNUSED);
}

/* All of it within one ms, as of a backend that is that quick; at the start
 * and at any time later. */
TEST(the_target_doubles_each_time_that_it_was_used_up)
{
    static const int64_t ages_ms[] = {0, 1, 50, 1000, 3600000};

    for (size_t i = 0; i < COUNT_OF(ages_ms); i++) {
        struct look look = dry_look(1000000);

        (void)look_after(&look, ages_ms[i], 0);
        (void)look_after(&look, ages_ms[i], 0);
        expect_doubling(&look, REFILL_MIN);
    }
}

/* With every partition down nothing is used, or a number now and then, of a
 * probe: however long, and however often it is looked at. */
TEST(a_ring_that_stays_dry_teaches_nothing)
{
    struct look look = dry_look(1000000);

    for (int64_t i = 0; i < 30000; i++)
        assert_int_equal(look_after(&look, 2, i % 25 == 0), REFILL_MIN);
}

/* Without prefetch every end of a stock is a dry ring. */
TEST(a_stock_that_lasted_is_not_doubled)
{
    struct look look = dry_look(1000000);

    for (int64_t ms = 36; ms < 5000; ms = ms * 5 / 4) {
        look = dry_look(1000000);
        for (int i = 0; i < 100; i++)
            (void)look_after(&look, ms, REFILL_MIN);
        assert_true(look.plan.reason == REFILL_MINIMUM ||
                    look.plan.reason == REFILL_RATE);
        assert_true(look.plan.target <=
                    max_of(REFILL_MIN, (int64_t)256 * 70 / ms));
    }
}

TEST(what_a_dry_ring_taught_decays_by_time_not_by_looks)
{
    static const int64_t steps_ms[] = {1, 7, 20, 100, 693};

    for (size_t i = 0; i < COUNT_OF(steps_ms); i++) {
        struct look look = poll_of(1000000);
        const int64_t target = 70000;
        int64_t last = target;

        look.refill.supposed = 1000;
        for (int j = 0; j < 1000; j++)
            assert_int_equal(look_after(&look, 0, 0), target);
        for (int64_t ms = 0; ms < 693; ms += steps_ms[i]) {
            assert_in_range(look_after(&look, steps_ms[i], 0), 0, last);
            last = look.plan.target;
        }
        assert_in_range(last, target * 45 / 100, target * 55 / 100);
    }
}

/* Doubling alone never claims more than what was used in its time. */
TEST(what_is_supposed_was_used)
{
    uint64_t seed = 99;

    for (int round = 0; round < 1000; round++) {
        const int64_t per_ms = chance(&seed, 100000) + 1;
        struct look look = dry_look((int64_t)1 << 40);

        for (int i = 0; i < 300; i++) {
            const int64_t ms = chance(&seed, 4);

            (void)look_after(&look, ms, per_ms * ms);
            assert_true(look.refill.supposed <= (double)per_ms);
        }
    }
}

/* What was supposed of its ring was of that one alone. */
TEST(averages_are_carried_to_the_next_stamp)
{
    const struct refill from = {.last_ms = 5,
                                .last_consumed = 6,
                                .rate = 7,
                                .burst = 8,
                                .supposed = 9,
                                .since_ms = 10,
                                .since_consumed = 11};
    const struct refill expected = {.last_ms = 300, .rate = 7, .burst = 8};
    struct refill to;

    refill_init(&to, 200);
    refill_carry(&to, &from, 300);
    assert_memory_equal(&to, &expected, sizeof to);
}
