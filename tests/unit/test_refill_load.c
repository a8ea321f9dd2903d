/* SPDX-License-Identifier: Apache-2.0 */
/* Refills under a load in virtual time: steady, in steps and bursts, more than
 * the backends can give, and over a day. */

#include "refill_load.h"
#include "refill_plan.h"
#include "support/test.h"

#define MS     ((int64_t)1000)
#define SECOND LOAD_SECOND
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)

static struct load load_of(int64_t max_unused, int64_t delay_us)
{
    struct refill_rules rules = usual;
    struct load load;

    rules.max_unused = max_unused;
    load_init(&load, &rules, delay_us);
    return load;
}

/* Runway, two delays and the interval. */
static int64_t span_ms(const struct load *load)
{
    return 50 + 2 * (load->delay_us / 1000) + 20;
}

static int64_t target_at(const struct load *load, int64_t per_s)
{
    return max_of(REFILL_MIN, per_s * span_ms(load) / 1000);
}

/* One for each half of a target, and some more. */
static void expect_few_asks(const struct load *load, int64_t us, int64_t per_s)
{
    const int64_t used = per_s * (us / MS) / 1000;
    const int64_t halves = 2 * used / target_at(load, per_s);

    assert_true(load->seen.asks <= halves * 5 / 4 + 1);
    assert_true(load->seen.asks <= 40 * us / SECOND);
}

static const int64_t rates[] = {1000, 10000, 100000, 10000000, 200000000};
static const int64_t delays_us[] = {200, 1000, 3200, 50000};

TEST(a_steady_load_is_held_exactly)
{
    for (size_t i = 0; i < COUNT_OF(rates) * COUNT_OF(delays_us); i++) {
        const int64_t per_s = rates[i / COUNT_OF(delays_us)];
        const int64_t delay_us = delays_us[i % COUNT_OF(delays_us)];
        struct load load = load_of(100000000, delay_us);
        const int64_t target = target_at(&load, per_s);
        struct load_seen seen;

        load_run(&load, 10 * SECOND, per_s);
        seen = load_run(&load, MINUTE, per_s);
        assert_int_equal(seen.dry_us, 0);
        assert_in_range(seen.least_target, target * 99 / 100, target);
        assert_in_range(seen.most_target, target, target * 101 / 100);
        assert_int_equal(seen.turns, 0);
        assert_true(seen.most <= target * 101 / 100 + load.rules.run);
        /* What is used up while the answer is under way. */
        assert_true(seen.least_stock >=
                    target / 2 * 98 / 100 - per_s * delay_us / SECOND - 1);
        expect_few_asks(&load, MINUTE, per_s);
    }
}

/* Half to one and a half of the rate in each 5 ms, looks that come late,
 * answers that take twice as long, or hang, or grant half: the target neither
 * follows them nor swings. */
TEST(noise_does_not_swing_the_target)
{
    for (size_t i = 0; i < COUNT_OF(rates) * 3; i++) {
        const int64_t per_s = rates[i / 3];
        struct load load = load_of(100000000, delays_us[i % 3]);
        const int64_t target = target_at(&load, per_s);
        struct load_seen seen;

        load.is_noisy = true;
        load_run_uneven(&load, 10 * SECOND, per_s, 5 * MS);
        seen = load_run_uneven(&load, 10 * MINUTE, per_s, 5 * MS);
        assert_int_equal(seen.dry_us, 0);
        assert_true(seen.turns <= 2);
        assert_true(seen.least_target >= target * 85 / 100);
        assert_true(seen.most_target <= target * 135 / 100);
        /* What hangs is asked of another one as well. */
        assert_true(seen.most <= target * 5 / 2);
        assert_true(seen.least_stock >= target / 8);
        expect_few_asks(&load, 10 * MINUTE, per_s);
    }
}

/* The half of a target lasts a twentieth of its span then: long enough for
 * answers that come within it. In whatever moment it is. */
TEST(a_step_of_ten_is_met_by_the_runway)
{
    for (size_t i = 0; i < COUNT_OF(rates) * 3; i++) {
        const int64_t per_s = min_of(rates[i / 3], 20000000);
        struct load load = load_of(1000000000, delays_us[i % 3]);

        for (int64_t step = 0; step < 50; step++) {
            load_run(&load, 10 * SECOND + step * 777, per_s);
            load_run(&load, SECOND, 10 * per_s);
            assert_int_equal(load.seen.dry_us, 0);
            assert_true(load.plan.target <= target_at(&load, 12 * per_s));
        }
    }
}

TEST(a_longer_step_is_met_within_few_delays)
{
    static const int64_t factors[] = {10, 100, 1000};

    for (size_t i = 0; i < COUNT_OF(factors); i++) {
        for (int64_t delay_us = 500; delay_us <= 50000; delay_us *= 10) {
            struct load load = load_of(1000000000, delay_us);
            struct load_seen seen;

            load.callers = 8;
            load_run(&load, 10 * SECOND, 100000);
            seen = load_run(&load, SECOND, 100000 * factors[i]);
            assert_true(seen.dry_until_us <= 20 * MS + 12 * delay_us);
            seen = load_run(&load, MINUTE, 100000 * factors[i]);
            assert_int_equal(seen.dry_us, 0);
        }
    }
}

/* 200 million numbers a second, of a sequence that nobody used before. */
TEST(the_full_rate_is_reached_from_rest_in_some_tens_of_ms)
{
    static const struct {
        int64_t delay_us;
        int64_t until_ms;
    } cases[] = {{200, 5}, {500, 10}, {1000, 20}, {3000, 50}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct load load = load_of((int64_t)1 << 30, cases[i].delay_us);
        struct load_seen seen;

        load.callers = 8;
        seen = load_run(&load, SECOND, 200000000);
        assert_true(seen.dry_until_us <= cases[i].until_ms * MS);
        /* And not much more is held than what it needs. */
        assert_true(seen.most <= target_at(&load, 500000000));
    }
}

/* A single caller of many numbers, from rest: no more is fetched than a few
 * times what it took. */
TEST(a_short_burst_does_not_fetch_all_that_may_be_unused)
{
    for (int64_t burst = 1000; burst <= 10000000; burst *= 10) {
        for (size_t i = 0; i < COUNT_OF(delays_us); i++) {
            struct load load = load_of((int64_t)1 << 30, delays_us[i]);
            struct load_seen seen;

            load_run(&load, MS, burst * 1000);
            seen = load_run(&load, 5 * SECOND, 0);
            assert_int_equal(load.consumed, burst);
            assert_true(seen.most <= 3 * burst);
        }
    }
}

/* However long the first answer is in coming. */
TEST(a_slow_start_of_a_small_load_fetches_little)
{
    for (int64_t delay_us = MS; delay_us < 500 * MS; delay_us *= 3) {
        struct load load = load_of(1000000, delay_us);
        struct load_seen seen;

        load_run(&load, MS, 1000);
        seen = load_run(&load, 500 * MS, 0);
        assert_int_equal(load.owed, 0);
        assert_true(seen.most <= (int64_t)2 * REFILL_MIN);
        seen = load_run(&load, 500 * MS, 200);
        assert_int_equal(seen.dry_us, 0);
        assert_true(seen.most <= (int64_t)2 * REFILL_MIN);
    }
}

TEST(bursts_are_met_once_they_are_known)
{
    struct load load = load_of(1000000, 2 * MS);
    int64_t dry_us = 0;

    for (int burst = 0; burst < 100; burst++) {
        load_run(&load, 20 * MS, 500000);
        dry_us += burst < 10 ? 0 : load.seen.dry_us;
        load_run(&load, 100 * MS, 0);
    }
    assert_int_equal(dry_us, 0);
}

/* The ring is not looked at in a lull: no more than one last time. */
TEST(a_lull_asks_for_nothing)
{
    struct load load = load_of(1000000, 5 * MS);
    struct load_seen seen;

    load_run(&load, 10 * SECOND, 1000000);
    load_run(&load, 100 * MS, 0);
    seen = load_run(&load, HOUR, 0);
    assert_int_equal(seen.asks, 0);
    assert_int_equal(seen.looks, 0);
    /* What was held is used up then, and little fetched again. */
    seen = load_run(&load, HOUR, 100);
    assert_int_equal(load.plan.target, REFILL_MIN);
    assert_true(load.stock <= REFILL_MIN);
    assert_int_equal(seen.dry_us, 0);
}

/* Slower than the load: the callers wait, and yet the bounds are kept (by
 * decide), and all that may be is under way. */
TEST(a_load_past_the_backends_keeps_the_bounds)
{
    static const int64_t bounds[] = {1, 2, 16, 4096};

    for (size_t i = 0; i < COUNT_OF(bounds); i++) {
        const int64_t max_unused = usual.run * bounds[i];
        struct load load = load_of(max_unused, 20 * MS);
        struct load_seen seen;

        load_run(&load, SECOND, 10000000);
        seen = load_run(&load, 3 * SECOND, 10000000);
        assert_int_equal(seen.dry_us, 3 * SECOND);
        assert_int_equal(load.plan.target, max_unused);
        assert_true(seen.most <= 2 * max_unused + usual.run);
        assert_true(seen.asked >= max_unused * 3000 / 25);
    }
}

TEST(without_prefetch_the_ring_is_filled_by_waiting_alone)
{
    struct load load = load_of(1000000, 3 * MS);
    struct load_seen seen;

    load.rules.prefetch = false;
    load.callers = 8;
    seen = load_run(&load, SECOND, 0);
    assert_int_equal(seen.looks, 0);
    load_run(&load, 10 * SECOND, 100000);
    seen = load_run(&load, MINUTE, 100000);
    /* Each stock lasts for its span, and not longer and longer. */
    assert_true(seen.dry_us > 0);
    assert_in_range(seen.most, 7000, 8000);
}

/* --- a day --- */

struct hour {
    int64_t per_s;
    int64_t burst; /* of 50 ms each 10 minutes, times the rate; 0: none */
};

static const struct hour day[24] = {
    {20, 0},      {20, 0},      {5, 0},      {0, 0},      {20, 0},
    {20, 0},      {200, 5},     {2000, 5},   {20000, 10}, {200000, 10},
    {200000, 10}, {300000, 10}, {100000, 0}, {200000, 0}, {200000, 10},
    {2000000, 5}, {2000000, 0}, {200000, 0}, {20000, 10}, {2000, 50},
    {200, 0},     {50, 0},      {20, 0},     {20, 0},
};

/* Ten minutes, with the burst at their end. Returns how long was waited. */
static int64_t run_part(struct load *load, const struct hour *hour,
                        int64_t length_us)
{
    const int64_t target = target_at(load, hour->per_s);

    /* The hour before, or a burst, is forgotten in so long. */
    load_run_uneven(load, 10 * SECOND, hour->per_s, 100 * MS);
    assert_int_equal(load->seen.dry_us, 0);
    load_run_uneven(load, length_us - 10 * SECOND, hour->per_s, 100 * MS);
    assert_int_equal(load->seen.dry_us, 0);
    assert_true(load->seen.most_target <= 2 * target);
    assert_true(load->seen.least_target >= target / 2);
    expect_few_asks(load, length_us, hour->per_s);
    load_run(load, 50 * MS, hour->per_s * hour->burst);
    return load->seen.dry_us;
}

/* Nobody waits but in the bursts, and there for an answer or two. */
TEST(a_day_passes_almost_without_waiting)
{
    const int64_t part_us = 10 * MINUTE / SEQB_TEST_SCALE;
    struct load load = load_of(10000000, 1500);
    int64_t dry_us = 0;

    load.is_noisy = true;
    load_run(&load, 10 * MS, 1000);
    for (int i = 0; i < 24 * 6; i++) {
        const int64_t part_dry_us = run_part(&load, &day[i / 6], part_us);

        assert_true(part_dry_us <= 4 * load.delay_us);
        dry_us += part_dry_us;
    }
    assert_true(dry_us <= 40 * MS);
    assert_int_equal(load.plan.target, REFILL_MIN);
    assert_true(load.stock <= REFILL_MIN);
}
