/* SPDX-License-Identifier: Apache-2.0 */
/* How many windows are leased at once: rules as tables, and minutes of load. */

#include "ha/policy/pace.h"
#include "store/value.h"
#include "support/test.h"

#define MANY   INT64_C(1000000)
#define MINUTE INT64_C(60000)

TEST(first_run_is_one_window)
{
    struct pace pace = {.last = 0};

    assert_int_equal(pace_run(&pace, 1, PACE_NEED_MS, MANY, 5), 1);
    pace_leased(&pace, 1, 5);
    pace_taken(&pace, 1, 6);
    /* It is not used up yet, so that nothing is known of the rate. */
    assert_int_equal(pace_run(&pace, 1, PACE_NEED_MS, MANY, 7), 1);
}

/* A run came at 0, `used` windows are used up `past_ms` later. */
static int64_t run_after(int64_t last, int64_t used, int64_t past_ms,
                         int64_t need_ms, int64_t most)
{
    struct pace pace = {.has_begun = true};

    pace_leased(&pace, last, 0);
    for (int64_t i = 0; i < used; i++)
        pace_taken(&pace, 1, past_ms);
    return pace_run(&pace, 1, need_ms, most, past_ms);
}

TEST(run_is_what_half_a_minute_needs)
{
    assert_int_equal(run_after(100, 100, 30000, PACE_NEED_MS, MANY), 100);
    assert_int_equal(run_after(100, 100, 15000, PACE_NEED_MS, MANY), 200);
    assert_int_equal(run_after(100, 1, 20000, PACE_NEED_MS, MANY), 2);
    assert_int_equal(run_after(100, 0, 20000, PACE_NEED_MS, MANY), 1);
    assert_int_equal(run_after(100, 1, 1000 * MINUTE, PACE_NEED_MS, MANY), 1);
    /* For less than half a minute, as before the end of a stamp. */
    assert_int_equal(run_after(100, 100, 15000, 1500, MANY), 10);
}

TEST(run_is_bounded)
{
    assert_int_equal(run_after(3, 1000, 10, PACE_NEED_MS, MANY),
                     3 * PACE_GROWTH);
    assert_int_equal(run_after(100, 100, 10, PACE_NEED_MS, 7), 7);
    assert_int_equal(run_after(100, 100, 0, PACE_NEED_MS, MANY),
                     100 * PACE_GROWTH);
}

/* As where other brokers install theirs above it. */
TEST(run_that_was_dropped_is_followed_by_a_shorter_one)
{
    static const int64_t taken[] = {0, 1, 3, 8, 40};
    static const int64_t next[] = {1, 1, 1, 8, 40};

    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        struct pace pace = {.has_begun = true};

        pace_leased(&pace, 1000, 0);
        for (int j = 0; j < 1000; j++)
            pace_taken(&pace, 1, 10);
        pace_dropped(&pace, taken[i]);
        assert_int_equal(pace_run(&pace, 1, PACE_NEED_MS, MANY, 20), next[i]);
    }
}

/* All of them but the last one, which nobody has begun. */
TEST(windows_that_are_taken_at_once_count_each)
{
    struct pace pace = {.last = 0};

    pace_leased(&pace, 40, 0);
    pace_taken(&pace, 5, 0);
    assert_int_equal(pace.used, 4);
    pace_taken(&pace, 6, 30000);
    assert_int_equal(pace.used, 10);
    assert_int_equal(pace_run(&pace, 1, PACE_NEED_MS, MANY, 30000), 10);
}

/* Whatever the rate says, and a run that was dropped. */
TEST(run_is_enough_for_what_is_taken_at_once)
{
    struct pace pace = {.last = 0};

    assert_int_equal(pace_run(&pace, 7, PACE_NEED_MS, MANY, 0), 7);
    assert_int_equal(pace_run(&pace, 7, PACE_NEED_MS, 5, 0), 5);
    pace_leased(&pace, 7, 0);
    pace_taken(&pace, 7, 0);
    pace_dropped(&pace, 0);
    assert_int_equal(pace_run(&pace, 7, PACE_NEED_MS, MANY, 10), 7);
    assert_int_equal(pace_run(&pace, 1, PACE_NEED_MS, MANY, 10), 1);
}

TEST(next_run_is_leased_when_half_is_left)
{
    assert_true(pace_is_low(0, 1));
    assert_false(pace_is_low(1, 1));
    assert_true(pace_is_low(50, 100));
    assert_false(pace_is_low(51, 100));
}

/* --- minutes of load --- */

/* A partition of n = 2, and m = 3, has so many numbers in a window of 2^10
 * values, and so many of its runs may be leased. */
#define WINDOW_NUMBERS (INT64_C(1) << (10 + 2 + 3))
#define LEASES         (INT64_MAX >> (10 + 2 + 3 + 2))

struct load {
    int64_t window_us; /* that one window lasts */
    int64_t runs;      /* leased after the first minute */
    int64_t held;      /* the most windows that were left then */
};

/* Takes windows at a steady rate; each run comes at once. */
static void load_step(struct load *load, struct pace *pace, int64_t *left,
                      int64_t now_ms)
{
    const int64_t run =
        pace_run(pace, 1, PACE_NEED_MS, layout_run_most(10, LEASES), now_ms);

    if (pace_is_low(*left, run)) {
        *left += run;
        pace_leased(pace, run, now_ms);
        load->runs += now_ms > MINUTE;
    }
    if (now_ms > MINUTE && *left > load->held)
        load->held = *left;
    pace_taken(pace, 1, now_ms);
    --*left;
}

static struct load ten_minutes(int64_t numbers_per_s)
{
    struct load load = {.window_us = WINDOW_NUMBERS * 1000000 / numbers_per_s};
    struct pace pace = {.last = 0};
    int64_t left = 0;

    for (int64_t us = 0; us < 10 * MINUTE * 1000; us += load.window_us)
        load_step(&load, &pace, &left, us / 1000);
    return load;
}

TEST(million_a_second_needs_two_leases_a_minute)
{
    assert_in_range(ten_minutes(1000000).runs, 16, 20);
}

TEST(broker_that_is_killed_takes_less_than_a_minute_with_it)
{
    static const int64_t rates[] = {1000000, 100000, 10000, 100};

    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const struct load load = ten_minutes(rates[i]);

        assert_true(load.held * load.window_us < 60 * INT64_C(1000000) ||
                    load.held <= 1);
    }
}

/* --- how many there may be --- */

TEST(run_is_a_small_part_of_all_leases)
{
    assert_int_equal(layout_run_most(27, INT64_MAX >> 32), 1);
    assert_int_equal(layout_run_most(23, INT64_MAX >> 28), 16);
    assert_int_equal(layout_run_most(40, INT64_MAX >> 45), 1);
    assert_int_equal(layout_run_most(10, INT64_MAX >> 15), 131072);
    assert_int_equal(layout_run_most(8, INT64_MAX >> 13), 524288);
    assert_int_equal(layout_run_most(8, 640), 10);
    assert_int_equal(layout_run_most(8, 63), 1);
    assert_int_equal(layout_run_most(8, 0), 1);
}
