/* SPDX-License-Identifier: Apache-2.0 */
/* One plan: how much is fetched, of how many, and why. How the rate is learnt
 * is in test_refill_rate.c. */

#include <string.h>

#include "refill_plan.h"
#include "support/test.h"

#define MUCH   ((int64_t)1 << 40) /* room that is never short */
#define MOST   INT64_MAX
#define RULES  .runway_ms = 50, .interval_ms = 20, .prefetch = true
#define USUAL  RULES, .run = 8, .max_unused = 1000000
#define SINGLE RULES, .run = 1, .max_unused = 1000000

struct decision {
    const char *what;
    struct refill_rules rules;
    struct refill known; /* looked at at this very moment, 0 ms */
    struct refill_view view;
    struct {
        int64_t runs;
        enum ha_spread spread;
        int64_t target;
        enum refill_reason reason;
    } plan;
};

static const struct decision decisions[] = {
    /* Which of the rates. */
    {"nothing known: the minimum",
     {SINGLE},
     {0},
     {.room = MUCH},
     {256, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"a run is more than the minimum",
     {RULES, .run = 1024, .max_unused = 1000000},
     {0},
     {.room = MUCH},
     {1, HA_ASK_ONE, 1024, REFILL_MINIMUM}},
    {"a rest of one number is a run",
     {RULES, .run = 4, .max_unused = 1000000},
     {0},
     {.stock = 99, .room = MUCH},
     {40, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"the rate asks for less than the minimum",
     {SINGLE},
     {.rate = 3, .burst = 3},
     {.stock = 100, .room = MUCH, .delay_ms = 3},
     {156, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"runway, two delays and the interval, at the long average",
     {USUAL},
     {.rate = 1200, .burst = 1200},
     {.stock = 40000, .room = MUCH, .delay_ms = 3},
     {6400, HA_ASK_ONE, 91200, REFILL_RATE}},
    {"a short average little above the long one is noise",
     {SINGLE},
     {.rate = 1000, .burst = 1250},
     {.stock = 30000, .room = MUCH, .delay_ms = 3},
     {46000, HA_ASK_ONE, 76000, REFILL_RATE}},
    {"a short average well above the long one counts",
     {SINGLE},
     {.rate = 1000, .burst = 1300},
     {.stock = 30000, .room = MUCH, .delay_ms = 3},
     {68800, HA_ASK_ONE, 98800, REFILL_BURST}},
    {"a short average below the long one does not count",
     {SINGLE},
     {.rate = 1000, .burst = 1},
     {.stock = 30000, .room = MUCH, .delay_ms = 3},
     {46000, HA_ASK_ONE, 76000, REFILL_RATE}},
    {"what was supposed of a dry ring is more",
     {SINGLE},
     {.rate = 1000, .burst = 1300, .supposed = 2000},
     {.stock = 30000, .room = MUCH, .delay_ms = 3},
     {122000, HA_ASK_ONE, 152000, REFILL_STARVED}},
    {"what was supposed of a dry ring is less",
     {SINGLE},
     {.rate = 1000, .burst = 1300, .supposed = 1299},
     {.stock = 30000, .room = MUCH, .delay_ms = 3},
     {68800, HA_ASK_ONE, 98800, REFILL_BURST}},
    {"what was supposed of a dry ring is the same: it says nothing new",
     {SINGLE},
     {.rate = 1000, .supposed = 1000},
     {.stock = 30000, .room = MUCH, .delay_ms = 3},
     {46000, HA_ASK_ONE, 76000, REFILL_RATE}},
    {"twice what a caller wants at once is more than the minimum",
     {RULES, .run = 1, .max_unused = 1000000, .wanted = 200},
     {0},
     {.room = MUCH},
     {400, HA_ASK_ONE, 400, REFILL_MINIMUM}},
    {"the rate asks for exactly the minimum",
     {.runway_ms = 64, .run = 1, .max_unused = 1000000, .prefetch = true},
     {.rate = 4, .burst = 4},
     {.stock = 100, .room = MUCH},
     {156, HA_ASK_ONE, 256, REFILL_RATE}},

    /* A dry ring. */
    {"starved, and nothing was used yet: not doubled",
     {SINGLE},
     {0},
     {.room = MUCH, .is_starved = true},
     {256, HA_ASK_ALL, 256, REFILL_MINIMUM}},
    {"starved, and one less than the target was used: not doubled",
     {SINGLE},
     {0},
     {.consumed = 255, .room = MUCH, .is_starved = true},
     {256, HA_ASK_ALL, 256, REFILL_MINIMUM}},
    {"starved, and the target was used: doubled",
     {SINGLE},
     {0},
     {.consumed = 256, .room = MUCH, .is_starved = true},
     {512, HA_ASK_ALL, 512, REFILL_STARVED}},
    {"the target was used, yet nobody is starved: not doubled",
     {SINGLE},
     {0},
     {.consumed = 256, .room = MUCH},
     {256, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"used in half of the time that it was to last: not doubled",
     {SINGLE},
     {.since_ms = -38, .rate = 1000},
     {.consumed = 76000, .room = MUCH, .delay_ms = 3, .is_starved = true},
     {76000, HA_ASK_ALL, 76000, REFILL_RATE}},
    {"used in less than half of the time: doubled",
     {SINGLE},
     {.since_ms = -37, .rate = 1000},
     {.consumed = 76000, .room = MUCH, .delay_ms = 3, .is_starved = true},
     {152000, HA_ASK_ALL, 152000, REFILL_STARVED}},
    {"used in two delays, which are more than half of the time: not doubled",
     {SINGLE},
     {.since_ms = -400, .rate = 100},
     {.consumed = 47000, .room = MUCH, .delay_ms = 200, .is_starved = true},
     {47000, HA_ASK_ALL, 47000, REFILL_RATE}},
    {"used in less than two delays: doubled",
     {SINGLE},
     {.since_ms = -399, .rate = 100},
     {.consumed = 47000, .room = MUCH, .delay_ms = 200, .is_starved = true},
     {94000, HA_ASK_ALL, 94000, REFILL_STARVED}},
    {"doubled up to max_unused",
     {RULES, .run = 1, .max_unused = 300},
     {0},
     {.consumed = 256, .room = MUCH, .is_starved = true},
     {300, HA_ASK_ALL, 300, REFILL_MAX_UNUSED}},
    {"starved: what is coming is not asked again",
     {SINGLE},
     {0},
     {.fresh = 200, .room = MUCH, .is_starved = true},
     {56, HA_ASK_ALL, 256, REFILL_MINIMUM}},
    {"starved, and all of it is coming",
     {SINGLE},
     {0},
     {.fresh = 300, .room = MUCH, .is_starved = true},
     {0, HA_ASK_ALL, 256, REFILL_MINIMUM}},

    /* Whom to ask. */
    {"it lasts until the answer of one",
     {SINGLE},
     {.rate = 1000},
     {.stock = 4000, .room = MUCH, .delay_ms = 3},
     {72000, HA_ASK_ONE, 76000, REFILL_RATE}},
    {"it will be empty before the answer of one",
     {SINGLE},
     {.rate = 1000},
     {.stock = 3999, .room = MUCH, .delay_ms = 3},
     {72001, HA_ASK_ALL, 76000, REFILL_RATE}},
    {"a delay of less than 1 ms is not none",
     {SINGLE},
     {.rate = 1000},
     {.stock = 999, .room = MUCH},
     {69001, HA_ASK_ALL, 70000, REFILL_RATE}},

    /* Whether to ask. */
    {"more than half is there",
     {USUAL},
     {0},
     {.stock = 129, .room = MUCH},
     {0, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"half is there",
     {USUAL},
     {0},
     {.stock = 128, .room = MUCH},
     {16, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"more than half is there or coming",
     {USUAL},
     {0},
     {.stock = 64, .fresh = 65, .room = MUCH},
     {0, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"whole runs: one reaches above the target",
     {USUAL},
     {0},
     {.stock = 121, .room = MUCH},
     {17, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"without prefetch an empty ring stays empty",
     {.runway_ms = 50, .interval_ms = 20, .run = 1, .max_unused = 1000000},
     {.rate = 1000},
     {.room = MUCH, .delay_ms = 3},
     {0, HA_ASK_ALL, 76000, REFILL_RATE}},
    {"without prefetch somebody who waits is served",
     {.runway_ms = 50, .interval_ms = 20, .run = 1, .max_unused = 1000000},
     {.rate = 1000},
     {.room = MUCH, .delay_ms = 3, .is_starved = true},
     {76000, HA_ASK_ALL, 76000, REFILL_RATE}},

    /* What fits in. */
    {"room for exactly what is missing",
     {USUAL},
     {0},
     {.room = 256},
     {32, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"room for one run less",
     {USUAL},
     {0},
     {.room = 255},
     {31, HA_ASK_ONE, 256, REFILL_ROOM}},
    {"no room for a run",
     {USUAL},
     {0},
     {.room = 7, .is_starved = true},
     {0, HA_ASK_ALL, 256, REFILL_ROOM}},
    {"no room", {USUAL}, {0}, {.room = 0}, {0, HA_ASK_ONE, 256, REFILL_ROOM}},
    {"more is on its way than fits in",
     {USUAL},
     {0},
     {.room = -5000, .is_starved = true},
     {0, HA_ASK_ALL, 256, REFILL_ROOM}},
    {"no room, and none needed",
     {USUAL},
     {0},
     {.stock = 200},
     {0, HA_ASK_ONE, 256, REFILL_MINIMUM}},

    /* max_unused. */
    {"the rate asks for more",
     {USUAL},
     {.rate = 200000},
     {.room = MUCH, .stock = 500000},
     {62500, HA_ASK_ONE, 1000000, REFILL_MAX_UNUSED}},
    {"the rate asks for exactly that",
     {.runway_ms = 64, .run = 1, .max_unused = 300, .prefetch = true},
     {.rate = 299.5 / 64, .burst = 1},
     {.stock = 100, .room = MUCH},
     {200, HA_ASK_ONE, 300, REFILL_MAX_UNUSED}},
    {"exactly the minimum",
     {RULES, .run = 1, .max_unused = 256},
     {0},
     {.room = MUCH},
     {256, HA_ASK_ONE, 256, REFILL_MINIMUM}},
    {"less than the minimum",
     {RULES, .run = 1, .max_unused = 100},
     {0},
     {.room = MUCH},
     {100, HA_ASK_ONE, 100, REFILL_MAX_UNUSED}},
    {"a single number",
     {RULES, .run = 1, .max_unused = 1},
     {.rate = 50},
     {.room = MUCH, .is_starved = true},
     {1, HA_ASK_ALL, 1, REFILL_MAX_UNUSED}},
    {"less than a run: one is asked for all the same",
     {RULES, .run = 1024, .max_unused = 10},
     {0},
     {.room = MUCH},
     {1, HA_ASK_ONE, 10, REFILL_MAX_UNUSED}},

    /* Extremes. */
    {"a rate beyond all numbers",
     {RULES, .run = 1, .max_unused = MOST},
     {.rate = 1e30},
     {.room = MOST, .delay_ms = MOST},
     {MOST, HA_ASK_ALL, MOST, REFILL_MAX_UNUSED}},
    {"a dry ring of that size",
     {RULES, .run = 8, .max_unused = MOST},
     {.rate = 1e30},
     {.consumed = MOST, .room = MOST, .is_starved = true},
     {MOST / 8, HA_ASK_ALL, MOST, REFILL_ROOM}},
    {"all of it held, and as much again coming",
     {RULES, .run = 8, .max_unused = MOST},
     {.rate = 1e30},
     {.stock = MOST, .fresh = MOST, .room = MOST, .is_starved = true},
     {0, HA_ASK_ALL, MOST, REFILL_MAX_UNUSED}},
    {"rules of nothing but a run",
     {.run = 1, .max_unused = 1000000, .prefetch = true},
     {.rate = 1000},
     {.stock = 500, .room = MUCH},
     {500, HA_ASK_ALL, 1000, REFILL_RATE}},
};

TEST(each_view_has_its_plan)
{
    for (size_t i = 0; i < COUNT_OF(decisions); i++) {
        const struct decision *expected = &decisions[i];
        struct refill known = expected->known;
        const struct refill_plan plan =
            refill_decide(&known, &expected->rules, &expected->view);

        if (plan.runs != expected->plan.runs ||
            plan.spread != expected->plan.spread ||
            plan.target != expected->plan.target ||
            plan.low != expected->plan.target / 2 || plan.span_ms < 1 ||
            plan.reason != expected->plan.reason)
            fail_msg("%s: %lld runs, %s, target %lld, low %lld, %s",
                     expected->what, (long long)plan.runs,
                     plan.spread == HA_ASK_ALL ? "of all" : "of one",
                     (long long)plan.target, (long long)plan.low,
                     refill_reason_text(plan.reason));
    }
}

TEST(every_reason_is_decided_at_least_once)
{
    for (int reason = REFILL_MINIMUM; reason <= REFILL_ROOM; reason++) {
        size_t i = 0;

        while (i < COUNT_OF(decisions) &&
               (int)decisions[i].plan.reason != reason)
            i++;
        assert_in_range(i, 0, COUNT_OF(decisions) - 1);
        assert_true(strlen(refill_reason_text((enum refill_reason)reason)) > 0);
    }
}

TEST(any_view_after_any_other_keeps_the_bounds)
{
    uint64_t seed = 20240229;

    for (int round = 0; round < 2000; round++) {
        const int64_t run = (int64_t)1 << chance(&seed, 21);
        const struct refill_rules rules = {
            .runway_ms = (int32_t)chance(&seed, 10000) + 1,
            .interval_ms = (int32_t)chance(&seed, 1000),
            .max_unused = run + chance(&seed, 1 << 20),
            .run = run,
            .prefetch = chance(&seed, 4) > 0};
        struct refill_view view = {.now_ms = 1000};
        struct refill refill;

        refill_init(&refill, 1000);
        for (int i = 0; i < 50; i++) {
            view.now_ms += chance(&seed, 100);
            view.consumed += (uint64_t)chance(&seed, 1 << 16);
            view.stock = chance(&seed, 1 << 20);
            view.fresh = chance(&seed, 1 << 20);
            view.room = chance(&seed, 1 << 22) - (1 << 20);
            view.delay_ms = chance(&seed, 300);
            view.is_starved = chance(&seed, 3) == 0;
            (void)decide(&refill, &rules, &view);
        }
    }
}

TEST(a_plan_is_explained_in_one_line)
{
    static const struct {
        struct refill_plan plan;
        const char *line;
    } cases[] = {
        {{.reason = REFILL_MINIMUM, .target = 256}, "minimum: 256 numbers"},
        {{.reason = REFILL_RATE, .rate = 1200, .span_ms = 76},
         "rate: 1,200 numbers/ms x 76 ms"},
        {{.reason = REFILL_RATE, .rate = 3.404, .span_ms = 60020},
         "rate: 3.40 numbers/ms x 60,020 ms"},
        {{.reason = REFILL_RATE, .rate = 9.999, .span_ms = 76},
         "rate: 10.00 numbers/ms x 76 ms"},
        {{.reason = REFILL_RATE, .rate = 1e30, .span_ms = INT64_MAX},
         "rate: 4,611,686,018,427,387,904 numbers/ms x "
         "9,223,372,036,854,775,807 ms"},
        {{.reason = REFILL_BURST, .rate = 1000005.6, .span_ms = 1000},
         "burst: 1,000,006 numbers/ms x 1,000 ms"},
        {{.reason = REFILL_STARVED, .rate = 999.4, .span_ms = 1},
         "starved: 999 numbers/ms x 1 ms"},
        {{.reason = REFILL_MAX_UNUSED,
          .target = 1000000,
          .rate = 30000,
          .span_ms = 76},
         "max_unused: 1,000,000 numbers, for 30,000 numbers/ms x 76 ms"},
        {{.reason = REFILL_ROOM, .target = 91200},
         "room: too little for 91,200 numbers"},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const size_t length = strlen(cases[i].line);
        char line[100];

        assert_true(refill_explain(&cases[i].plan, line, length + 1));
        assert_string_equal(line, cases[i].line);
        for (size_t size = 1; size <= length; size++) {
            memset(line, '#', sizeof line);
            assert_false(refill_explain(&cases[i].plan, line, size));
            assert_int_equal(strlen(line), size - 1);
            assert_memory_equal(line, cases[i].line, size - 1);
            assert_int_equal(line[size], '#');
        }
    }
}

TEST(a_stock_lasts_as_long_as_it_is_times_the_rate)
{
    static const struct {
        int64_t rate;
        int64_t stock;
        int64_t runway_ms;
    } cases[] = {
        {0, 0, INT64_MAX},
        {0, 1000, INT64_MAX},
        {-1, 1000, INT64_MAX},
        {1, 0, 0},
        {1000, 0, 0},
        {1000, 76, 76},
        {1200000, 91200, 76},
        {1, 256, 256000},
        {200000000, 1 << 30, 5368},
        {1000, -5, 0},
        {1, INT64_MAX, INT64_MAX / 1000 * 1000},
        {INT64_MAX, INT64_MAX, 1000},
        {INT64_MAX, 1, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(refill_runway_ms(cases[i].rate, cases[i].stock),
                         cases[i].runway_ms);
}
