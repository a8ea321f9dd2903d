/* SPDX-License-Identifier: Apache-2.0 */
/* Which connections are heavy, and who queues. */
#include "daemon/loop/fairness.h"

#include "support/test.h"

#define MS     INT64_C(1000)
#define SECOND INT64_C(1000000)
#define START  (1000 * SECOND)

/* Adds the same turn `count` times, evenly over a second. Returns whether the
 * connection is heavy then. */
static bool is_heavy_after(struct load *load, const struct load_turn *turn,
                           int64_t count)
{
    const int64_t begun_us = load->counted_us;

    for (int64_t i = 1; i <= count; i++)
        load_add(load, turn, begun_us + i * SECOND / count);
    return load_is_heavy(load, begun_us + SECOND);
}

TEST(what_a_second_of_each_conduct_makes_of_a_connection)
{
    static const struct {
        struct load_turn turn;
        int64_t a_second;
        bool is_heavy;
    } rows[] = {
        {{.us = 0}, 100000, false},
        {{.us = 10}, 500, false},  /* INCR of a busy client */
        {{.us = 10}, 4900, false}, /* 4.9 % of the loop */
        {{.us = 10}, 11000, true}, /* 11 % */
        {{.us = 9000}, 10, false}, /* counts as 5 ms: it waited for a CPU */
        {{.us = 9000}, 30, true},  /* but not each time */
        {{.errors = 1}, 1, false},
        {{.errors = 1}, 3, true},
        {{.other_commands = 1}, 5, false}, /* status, five times a second */
        {{.other_commands = 1}, 20, true},
        {{.is_long = true}, 2, false},
        {{.is_long = true}, 10, true},
        {{.is_unfinished = true}, 10, false},
        {{.is_unfinished = true}, 100, true}, /* bytes, one by one */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct load load = {.counted_us = START};

        if (is_heavy_after(&load, &rows[i].turn, rows[i].a_second) !=
            rows[i].is_heavy)
            fail_msg("row %zu: heavy is not %d", i, rows[i].is_heavy);
    }
}

TEST(a_new_connection_owes_nothing)
{
    const struct load load = {0};

    assert_false(load_is_heavy(&load, START));
}

TEST(the_worst_is_light_again_after_four_seconds)
{
    const struct load_turn worst = {.errors = 4096, .us = SECOND};
    struct load load = {.counted_us = START};

    assert_true(is_heavy_after(&load, &worst, 1000));
    assert_true(load_is_heavy(&load, load.counted_us + 4 * SECOND - 20 * MS));
    assert_false(load_is_heavy(&load, load.counted_us + 4 * SECOND));
}

static const struct load heavy = {.owed_us = LOAD_MOST_US, .counted_us = START};
static const struct load light = {.owed_us = 0};

TEST(heavy_ones_queue_behind_others_and_after_their_slice)
{
    struct fairness fairness = {0};

    assert_true(fairness_admits(&fairness, &heavy, true, START));
    assert_false(fairness_admits(&fairness, &heavy, false, START));
    fairness_use(&fairness, FAIRNESS_SLICE_US - 1);
    assert_true(fairness_admits(&fairness, &heavy, true, START));
    fairness_use(&fairness, 1);
    assert_false(fairness_admits(&fairness, &heavy, true, START));
    assert_true(fairness_admits(&fairness, &light, false, START));
}

/* Nobody waits for ever, however many light ones there are. */
TEST(light_ones_queue_when_others_have_waited_long)
{
    const struct fairness fairness = {.waiting_us = START};
    const int64_t late_us = START + FAIRNESS_PATIENCE_US;

    assert_true(fairness_admits(&fairness, &light, false, late_us));
    assert_false(fairness_admits(&fairness, &light, false, late_us + 1));
    assert_false(fairness_admits(&fairness, &light, true, late_us + 1));
}

TEST(the_loop_looks_for_others_before_light_ones_queue)
{
    const struct fairness nobody = {.waiting_us = 0};
    const struct fairness fairness = {.waiting_us = START};
    const int64_t look_us = START + FAIRNESS_LOOK_US;

    assert_false(fairness_looks(&nobody, look_us + 1));
    assert_false(fairness_looks(&fairness, look_us));
    assert_true(fairness_looks(&fairness, look_us + 1));
    assert_true(fairness_admits(&fairness, &light, false, look_us + 1));
}

TEST(the_queue_stops_after_its_turns_or_its_time)
{
    const int64_t over_us = START + FAIRNESS_SLICE_US;

    assert_true(fairness_goes_on(0, START, START));
    assert_true(fairness_goes_on(FAIRNESS_TURNS - 1, START, over_us - 1));
    assert_false(fairness_goes_on(FAIRNESS_TURNS, START, START));
    assert_false(fairness_goes_on(1, START, over_us));
}
