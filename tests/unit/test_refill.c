/* SPDX-License-Identifier: Apache-2.0 */
/* How much is fetched, and when: one plan after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "refill_plan.h"

static void an_idle_sequence_holds_little(void **state)
{
    static const struct {
        int64_t max_unused;
        int64_t run;
        int64_t runs;
        int64_t target;
    } cases[] = {
        {1000000, 1, REFILL_MIN, REFILL_MIN},
        {1000000, 8, REFILL_MIN / 8, REFILL_MIN},
        {1000000, 1024, 1, 1024},
        {100, 1, 100, 100},
        {8, 8, 1, 8},
        {1, 1, 1, 1},
        {(int64_t)1 << 20, (int64_t)1 << 20, 1, (int64_t)1 << 20},
        {(int64_t)1 << 30, (int64_t)1 << 20, 1, (int64_t)1 << 20},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct refill_rules rules = {.runway_ms = 50,
                                           .max_unused = cases[i].max_unused,
                                           .run = cases[i].run,
                                           .prefetch = true};
        const struct refill_view view = {.now_ms = 1020, .room = 1 << 30};
        struct refill refill;
        struct refill_plan plan;

        refill_init(&refill, 1000);
        plan = decide(&refill, &rules, &view);
        assert_int_equal(plan.runs, cases[i].runs);
        assert_int_equal(plan.target, cases[i].target);
    }
}

static void the_target_is_what_the_runway_and_two_delays_use_up(void **state)
{
    const struct refill_view view = {
        .now_ms = 1010, .consumed = 1000, .delay_ms = 10, .room = 1 << 30};
    struct refill refill;
    struct refill_plan plan;

    (void)state;
    refill_init(&refill, 1000);
    plan = decide(&refill, &usual, &view);
    assert_int_equal(refill_rate(&refill, 1010, 1000), 100000);
    assert_int_equal(plan.target, 100 * (50 + 2 * 10));
    assert_int_equal(plan.runs, 7000 / 8);
}

static void nothing_is_asked_while_enough_is_there_or_coming(void **state)
{
    static const struct {
        int64_t stock;
        int64_t fresh;
        int64_t runs;
    } cases[] = {
        {256, 0, 0},  {129, 0, 0},  {0, 129, 0},  {64, 65, 0}, {0, 5000, 0},
        {128, 0, 16}, {64, 64, 16}, {0, 128, 16}, {0, 0, 32},  {121, 0, 17},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct refill_view view = {.now_ms = 1020,
                                         .stock = cases[i].stock,
                                         .fresh = cases[i].fresh,
                                         .room = 1 << 30};
        struct refill refill;

        refill_init(&refill, 1000);
        assert_int_equal(decide(&refill, &usual, &view).runs, cases[i].runs);
    }
}

static void no_more_is_asked_than_fits_in(void **state)
{
    static const struct {
        int64_t room;
        int64_t runs;
    } cases[] = {{256, 32}, {255, 31}, {16, 2}, {15, 1},
                 {8, 1},    {7, 0},    {0, 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        for (int starved = 0; starved < 2; starved++) {
            const struct refill_view view = {
                .now_ms = 1020, .room = cases[i].room, .is_starved = starved};
            struct refill refill;

            refill_init(&refill, 1000);
            assert_int_equal(decide(&refill, &usual, &view).runs,
                             starved ? cases[i].room / usual.run
                                     : cases[i].runs);
        }
    }
}

/* More may be on its way than fits in, by a probe or by rounding up. */
static void without_room_nothing_is_asked(void **state)
{
    (void)state;
    for (int64_t room = -5000; room < usual.run; room++) {
        const struct refill_view view = {
            .now_ms = 1020, .room = room, .is_starved = true};
        struct refill refill;

        refill_init(&refill, 1000);
        assert_int_equal(decide(&refill, &usual, &view).runs, 0);
    }
}

static void without_prefetch_only_a_waiting_caller_is_served(void **state)
{
    struct refill_rules rules = usual;
    struct refill_view view = {.now_ms = 1020, .room = 1 << 30};
    struct refill refill;

    (void)state;
    rules.prefetch = false;
    refill_init(&refill, 1000);
    for (int i = 0; i < 100; i++, view.now_ms += 20, view.consumed += 999)
        assert_int_equal(decide(&refill, &rules, &view).runs, 0);
    view.is_starved = true;
    assert_true(decide(&refill, &rules, &view).runs > 0);
}

static void the_target_doubles_each_time_that_the_ring_runs_dry(void **state)
{
    struct refill_view view = {
        .now_ms = 1000, .room = 1 << 30, .is_starved = true};
    struct refill refill;
    int64_t target = REFILL_MIN;

    (void)state;
    refill_init(&refill, 1000);
    for (int i = 0; i < 20; i++, view.consumed += 8) {
        target = min_of(2 * target, usual.max_unused);
        assert_int_equal(decide(&refill, &usual, &view).target, target);
    }
    assert_int_equal(target, usual.max_unused);
    /* What was too much is forgotten little by little. */
    view.is_starved = false;
    for (int64_t last = target; last > REFILL_MIN; last = target) {
        target = decide(&refill, &usual, &view).target;
        assert_true(target < last && target >= last - last / 8);
    }
}

/* However long: with every partition down, a second taker would otherwise
 * have a million numbers fetched. */
static void a_ring_that_stays_dry_ran_dry_once(void **state)
{
    struct refill_view view = {
        .now_ms = 1000, .room = 1 << 30, .is_starved = true};
    struct refill refill;

    (void)state;
    refill_init(&refill, 1000);
    for (int dry = 1; dry <= 3; dry++, view.consumed++) {
        for (int i = 0; i < 500; i++, view.now_ms += 2)
            assert_int_equal(decide(&refill, &usual, &view).target,
                             REFILL_MIN << dry);
    }
}

/* However small the bound is beside what would be held, doubling included. */
static void a_dry_ring_never_asks_for_more_than_may_be_unused(void **state)
{
    static const int64_t bounds[] = {8,   16,  136,  256,    264,
                                     512, 520, 1000, 100000, 1000000};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        struct refill_rules rules = usual;
        struct refill_view view = {
            .now_ms = 1000, .room = 1 << 30, .is_starved = true};
        struct refill refill;

        rules.max_unused = bounds[i];
        refill_init(&refill, 1000);
        for (int j = 0; j < 40; j++, view.now_ms += 7, view.consumed += 5000) {
            const struct refill_plan plan = decide(&refill, &rules, &view);

            assert_true(plan.runs * rules.run <= rules.max_unused);
        }
    }
}

static void a_rising_rate_is_believed_at_once_a_falling_one_slowly(void **state)
{
    struct refill_view view = {
        .now_ms = 1020, .consumed = 20000, .room = 1 << 30};
    struct refill refill;
    int64_t rate;

    (void)state;
    refill_init(&refill, 1000);
    (void)decide(&refill, &usual, &view);
    assert_int_equal(refill_rate(&refill, 1020, 20000), 1000000);
    /* 200 ms of silence halve it, in one look or in ten. */
    assert_int_equal(refill_rate(&refill, 1220, 20000), 500000);
    for (int i = 0; i < 10; i++) {
        view.now_ms += 20;
        (void)decide(&refill, &usual, &view);
    }
    rate = refill_rate(&refill, view.now_ms, view.consumed);
    assert_in_range(rate, 350000, 500000);
    view.now_ms += 20;
    view.consumed += 40000;
    (void)decide(&refill, &usual, &view);
    assert_int_equal(refill_rate(&refill, view.now_ms, view.consumed), 2000000);
}

static void asking_for_the_rate_changes_nothing(void **state)
{
    const struct refill_view view = {
        .now_ms = 1020, .consumed = 20000, .room = 1 << 30};
    struct refill refill;
    struct refill before;

    (void)state;
    refill_init(&refill, 1000);
    (void)decide(&refill, &usual, &view);
    before = refill;
    (void)refill_rate(&refill, 2000, 90000);
    assert_memory_equal(&refill, &before, sizeof before);
}

/* Plans within one ms divide by no time, and lose no consumption. */
static void plans_of_the_same_moment_agree(void **state)
{
    struct refill_view view = {.now_ms = 1000, .room = 1 << 30};
    struct refill refill;

    (void)state;
    refill_init(&refill, 1000);
    for (int i = 0; i < 10; i++, view.consumed += 100)
        assert_int_equal(decide(&refill, &usual, &view).target, REFILL_MIN);
    view.now_ms = 1010;
    assert_int_equal(decide(&refill, &usual, &view).target, 100 * 50);
}

/* xorshift64: the same views in every run. */
static uint64_t chance(uint64_t *seed, uint64_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % below;
}

static void any_view_after_any_other_keeps_the_bounds(void **state)
{
    uint64_t seed = 20240229;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        const int64_t run = (int64_t)1 << chance(&seed, 21);
        const struct refill_rules rules = {
            .runway_ms = (int32_t)chance(&seed, 10000) + 1,
            .max_unused = run + (int64_t)chance(&seed, 1 << 20),
            .run = run,
            .prefetch = chance(&seed, 4) > 0};
        struct refill_view view = {.now_ms = 1000};
        struct refill refill;

        refill_init(&refill, 1000);
        for (int i = 0; i < 50; i++) {
            view.now_ms += (int64_t)chance(&seed, 100);
            view.consumed += chance(&seed, 1 << 16);
            view.stock = (int64_t)chance(&seed, 1 << 20);
            view.fresh = (int64_t)chance(&seed, 1 << 20);
            view.room = (int64_t)chance(&seed, 1 << 22) - (1 << 20);
            view.delay_ms = (int64_t)chance(&seed, 300);
            view.is_starved = chance(&seed, 3) == 0;
            (void)decide(&refill, &rules, &view);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_sequence_holds_little),
        cmocka_unit_test(the_target_is_what_the_runway_and_two_delays_use_up),
        cmocka_unit_test(nothing_is_asked_while_enough_is_there_or_coming),
        cmocka_unit_test(no_more_is_asked_than_fits_in),
        cmocka_unit_test(without_room_nothing_is_asked),
        cmocka_unit_test(without_prefetch_only_a_waiting_caller_is_served),
        cmocka_unit_test(the_target_doubles_each_time_that_the_ring_runs_dry),
        cmocka_unit_test(a_ring_that_stays_dry_ran_dry_once),
        cmocka_unit_test(a_dry_ring_never_asks_for_more_than_may_be_unused),
        cmocka_unit_test(
            a_rising_rate_is_believed_at_once_a_falling_one_slowly),
        cmocka_unit_test(asking_for_the_rate_changes_nothing),
        cmocka_unit_test(plans_of_the_same_moment_agree),
        cmocka_unit_test(any_view_after_any_other_keeps_the_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
