/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a sequence runs out: the arithmetic, as tables, and what a counter
 * makes of it, over scripted stores with a time that is passed in.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/counter/counter.h"
#include "ha/counter/sample.h"
#include "ha/policy/forecast.h"
#include "platform/clock.h"
#include "queue/sequence.h"
#include "store/layout.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

#define MINUTE INT64_C(60000)
#define HOUR   (60 * MINUTE)
#define DAY    FORECAST_DAY_MS
#define YEAR   (365 * DAY)
#define HUGE   (INT64_MAX >> 1)

/* --- the arithmetic --- */

/* Two partitions at two times, and when both have passed the limit. */
static const struct {
    const char *what;
    int64_t before[2], now[2];
    int64_t past_ms, limit, end_ms;
} ends[] = {
    {"one a ms, as many left", {1, 1}, {60001, 1}, MINUTE, 120001, 3 * MINUTE},
    {"both are used", {1, 1}, {60001, 60001}, MINUTE, 120001, MINUTE},
    {"one does the work of both", {1, 0}, {60001, 0}, MINUTE, 120001, MINUTE},
    {"nothing is consumed", {500, 500}, {500, 500}, MINUTE, 1000, INT64_MAX},
    {"nothing is left, nor consumed", {9, 9}, {9, 9}, MINUTE, 9, 0},
    {"beyond the limit", {9, 9}, {12, 12}, MINUTE, 10, 0},
    {"nothing is known", {0, 0}, {0, 0}, MINUTE, 10, INT64_MAX},
    {"only just known", {0, 0}, {500, 500}, MINUTE, 1000, INT64_MAX},
    {"one went back: that is no consumption",
     {90, 1},
     {80, 60001},
     MINUTE,
     60001,
     MINUTE - 79},
    {"no time passed", {1, 1}, {500, 500}, 0, 1000, INT64_MAX},
    {"known of old, but not now", {90, 1}, {0, 60001}, MINUTE, 60002, 1},
    {"one is left, in a long time", {1, 0}, {2, 0}, 8, 3, 8},
    {"one is left, and not consumed", {9, 9}, {9, 9}, 9, 10, INT64_MAX},
    {"values whose sum passes 63 bits",
     {HUGE - 1, HUGE - 1},
     {HUGE, HUGE},
     1,
     INT64_MAX,
     INT64_MAX},
    {"consumption that passes 63 bits",
     {1, 1},
     {INT64_MAX - 1, INT64_MAX - 1},
     MINUTE,
     INT64_MAX,
     0},
    {"just within 1000 years", {1, 0}, {2, 0}, DAY, 365251, 365249 * DAY},
    {"just beyond", {1, 0}, {2, 0}, DAY, 365252, INT64_MAX},
};

TEST(sequence_runs_out_when_all_partitions_have)
{
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct forecast forecast;
        int64_t end_ms;

        forecast_init(&forecast, 1000);
        forecast_sample(&forecast, ends[i].before, ends[i].now, 2,
                        1000 + ends[i].past_ms);
        end_ms = forecast_end_ms(&forecast, ends[i].now, 2, ends[i].limit);
        if (end_ms != ends[i].end_ms && ends[i].end_ms <= FORECAST_FAR_MS)
            fail_msg("%s: %lld, not %lld", ends[i].what, (long long)end_ms,
                     (long long)ends[i].end_ms);
        if ((end_ms == INT64_MAX) != (ends[i].end_ms > FORECAST_FAR_MS))
            fail_msg("%s: %lld", ends[i].what, (long long)end_ms);
    }
}

TEST(numbers_at_hand_are_not_taken_yet)
{
    static const struct {
        const char *what;
        int64_t above[2], stock, left;
    } rows[] = {
        {"the stores have all", {60, 40}, 0, 100},
        {"those at hand are the first", {60, 40}, 7, 107},
        {"all texts are at hand, and numbers beyond them", {-90, -70}, 250, 90},
        {"the last one is at hand", {-90, -70}, 161, 1},
        {"the last one is taken", {-90, -70}, 160, 0},
        {"only such as have no text are at hand", {-90, -70}, 100, 0},
        {"one was raised far beyond", {-1000000, 40}, 50, 40},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (forecast_texts_left(rows[i].above, 2, rows[i].stock) !=
            (double)rows[i].left)
            fail_msg("%s", rows[i].what);
    }
}

/* Lets a counter grow by `a_minute` for so long, sampled every minute. */
static void grow(struct forecast *forecast, int64_t *value, int64_t a_minute,
                 int64_t ms)
{
    for (; ms > 0; ms -= MINUTE) {
        const int64_t before = *value;

        *value += a_minute;
        forecast_sample(forecast, &before, value, 1, forecast->at_ms + MINUTE);
    }
}

static int setup(void **state)
{
    static struct forecast forecast;

    forecast_init(&forecast, 0);
    *state = &forecast;
    return 0;
}

#define FORECAST FIXTURE(struct forecast *forecast, setup, NULL)

TEST_WITH(FORECAST, jump_is_forgotten_with_the_days)
{
    int64_t value = 1;
    double usual;

    grow(forecast, &value, 600, 3 * DAY);
    usual = forecast->rate;
    assert_true(usual > 0.0099 && usual < 0.0101);
    grow(forecast, &value, 1000000, MINUTE); /* somebody's failover_gap */
    assert_true(forecast->rate < 1.0);
    grow(forecast, &value, 600, 10 * DAY);
    assert_true(forecast->rate < 1.01 * usual);
}

TEST_WITH(FORECAST, jump_at_the_start_is_forgotten_too)
{
    int64_t value = 1;

    grow(forecast, &value, 1000000, MINUTE);
    grow(forecast, &value, 600, 12 * DAY);
    assert_true(forecast->rate < 0.0101);
}

TEST_WITH(FORECAST, new_rate_is_believed_within_days)
{
    int64_t value = 1;

    grow(forecast, &value, 60, 5 * DAY);
    grow(forecast, &value, 6000, 3 * DAY);
    assert_true(forecast->rate > 0.09 && forecast->rate <= 0.1);
    grow(forecast, &value, 0, 10 * DAY);
    assert_true(forecast->rate < 0.0001);
}

TEST_WITH(FORECAST, sequence_at_rest_is_sampled_rarely_and_rightly)
{
    const int64_t before = 1;
    const int64_t now = 1 + 100 * DAY;

    assert_false(forecast_is_due(forecast, FORECAST_SAMPLE_MS - 1));
    assert_true(forecast_is_due(forecast, FORECAST_SAMPLE_MS));
    forecast_sample(forecast, &before, &now, 1, 100 * DAY);
    assert_true(forecast->rate > 0.999 && forecast->rate < 1.001);
    assert_int_equal(forecast->span_ms, FORECAST_SPAN_MS);
}

/* The least value, in the least time: known before, now, neither, both. */
TEST(rate_is_known_of_two_values)
{
    struct forecast forecast;

    for (int64_t known = 0; known < 4; known++) {
        const int64_t before = known & 1;
        const int64_t now = known >> 1;

        forecast_init(&forecast, 0);
        forecast_sample(&forecast, &before, &now, 1, 1);
        assert_int_equal(forecast.is_new, known == 3);
        assert_int_equal(forecast.span_ms, known == 3);
        assert_int_equal(forecast.at_ms, 1);
    }
}

TEST_WITH(FORECAST, each_term_is_warned_of_once)
{
    static const struct {
        int64_t end_ms;
        bool warns;
    } steps[] = {
        {INT64_MAX, false}, {YEAR, false},        {YEAR - 1, true},
        {YEAR - 2, false},  {INT64_MAX, false},   {YEAR - 1, false},
        {30 * DAY, false},  {30 * DAY - 1, true}, {DAY, false},
        {DAY - 1, true},    {0, false},           {YEAR - 1, false},
    };
    struct forecast late;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (forecast_warns(forecast, steps[i].end_ms) != steps[i].warns)
            fail_msg("step %d", (int)i);
    }
    /* What is found late is warned of once, not once for each term. */
    forecast_init(&late, 0);
    assert_true(forecast_warns(&late, DAY - 1));
    assert_false(forecast_warns(&late, DAY - 1));
}

/* --- a counter's --- */

static struct ha_counter *counter_of(struct rig_broker *broker)
{
    return rig_sequence(broker, "order")->counter;
}

/* Now and a minute later, as the counter's own clock goes. */
static int64_t end_after_minutes(struct rig_broker *broker, int64_t minutes)
{
    return ha_counter_runs_out_ms(counter_of(broker),
                                  clock_now_ms() + minutes * MINUTE);
}

/* The same, as it is read of very many counters. */
static int64_t last_end_after_minutes(struct rig_broker *broker,
                                      int64_t minutes)
{
    return ha_counter_last_runs_out_ms(counter_of(broker),
                                       clock_now_ms() + minutes * MINUTE);
}

static int64_t counter_limit(const struct rig *rig)
{
    return layout_counter_max(rig->pool.layout.bits,
                              rig->sequences[0].memory_bits);
}

TEST_WITH(ONE_DIRECT, counters_of_the_store_are_what_is_measured)
{
    struct rig_broker *broker;
    int64_t late_ms;
    int64_t alone;

    rig->sequences[0].memory_bits = 30 - 10; /* 2^43 values */
    rig->sequences[0].max_unused = 4 << 20;
    rig_use(rig, 1);
    fake_put(rig->stores[0], "main/0/order", counter_limit(rig) - 1000000);
    broker = rig_open(rig);
    assert_int_equal(end_after_minutes(broker, 0), INT64_MAX);
    assert_int_equal(last_end_after_minutes(broker, 0), INT64_MAX);
    rig_take(broker, 1);
    rig_await_rest(broker);
    late_ms = -clock_now_ms();
    assert_int_equal(end_after_minutes(broker, 2), INT64_MAX);
    /* Another broker takes a tenth of what is left. */
    fake_put(rig->stores[0], "main/0/order", counter_limit(rig) - 900000);
    rig_take(broker, (size_t)rig_status(broker, "order").stock + 1);
    rig_await_rest(broker);
    alone = end_after_minutes(broker, 4);
    late_ms += clock_now_ms();
    assert_in_range(alone, 17 * MINUTE, 19 * MINUTE + 9 * late_ms);
    assert_in_range(last_end_after_minutes(broker, 4), alone - MINUTE, alone);
    /* Nothing was used since: it is looked at again, and is farther away. */
    assert_true(last_end_after_minutes(broker, 40) > alone + MINUTE);
}

TEST_WITH(ONE_DIRECT, raise_by_the_gap_is_no_consumption)
{
    struct rig_broker *broker;

    rig->pool.layout.failover_gap = 1000000;
    broker = rig_open(rig);
    rig_take(broker, 1);
    rig_await_rest(broker);
    (void)end_after_minutes(broker, 1);
    fake_change_origin(rig->stores[0]);
    rig_take(broker, (size_t)rig_status(broker, "order").stock + 1);
    rig_await_rest(broker);
    assert_true(fake_value(rig->stores[0], "main/0/order") > 1000000);
    (void)end_after_minutes(broker, 3);
    assert_true(counter_of(broker)->sample->forecast.rate * MINUTE < 1000);
    assert_true(counter_of(broker)->sample->forecast.rate > 0);
}

/* A counter of two partitions, sampled at a time, when the higher one stood at
 * 80; it stands at 100 now. */
static struct ha_counter *sampled_counter(int64_t now_ms)
{
    struct ha_counter *counter =
        calloc(1, sizeof *counter + 2 * sizeof counter->slots[0]);

    assert_non_null(counter);
    counter->partitions = 2;
    counter->sample = calloc(1, sizeof *counter->sample);
    assert_non_null(counter->sample);
    forecast_init(&counter->sample->forecast, now_ms);
    counter->sample->tops[SEQB_DIRECT] = 80;
    counter->slots[0] = (struct slot){.counter = counter, .last = 100};
    counter->slots[1] = (struct slot){.counter = counter, .last = 50};
    return counter;
}

static void counter_discard(struct ha_counter *counter)
{
    free(counter->sample);
    free(counter);
}

/* Each raise of the lower partition, which was then granted `first`. */
TEST(only_what_is_above_all_others_is_a_jump)
{
    static const struct {
        int64_t top, first, after;
    } cases[] = {
        {80, 51, 80},   {80, 100, 80},   {80, 101, 80}, {80, 102, 81},
        {80, 600, 579}, {100, 600, 599}, {0, 600, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ha_counter *counter = sampled_counter(0);
        int64_t *tops = counter->sample->tops;

        tops[SEQB_DIRECT] = cases[i].top;
        tops[SEQB_WINDOWED] = 7;
        counter->slots[1].block.first = cases[i].first;
        sample_jump(&counter->slots[1]);
        assert_int_equal(tops[SEQB_DIRECT], cases[i].after);
        assert_int_equal(tops[SEQB_WINDOWED], 7);
        counter_discard(counter);
    }
}

/* The level of direct counters and that of windows are two. */
TEST(jump_of_a_window_is_none_of_direct_counters)
{
    struct ha_counter *counter = sampled_counter(0);

    counter->sample->tops[SEQB_WINDOWED] = 40;
    counter->slots[1].is_windowed = true;
    counter->slots[1].block.first = 71;
    sample_jump(&counter->slots[1]);
    assert_int_equal(counter->sample->tops[SEQB_DIRECT], 80);
    assert_int_equal(counter->sample->tops[SEQB_WINDOWED], 60);
    /* None was granted in a window yet: the least that is above. */
    counter->slots[1].last = 0;
    counter->slots[1].block.first = 2;
    sample_jump(&counter->slots[1]);
    assert_int_equal(counter->sample->tops[SEQB_WINDOWED], 61);
    counter_discard(counter);
}

TEST(counter_is_sampled_when_it_is_due)
{
    struct ha_counter *counter = sampled_counter(5000);
    struct sample *sample = counter->sample;

    assert_false(sample_is_due(counter, 5000));
    assert_false(sample_is_due(counter, 5000 + FORECAST_SAMPLE_MS - 1));
    assert_true(sample_is_due(counter, 5000 + FORECAST_SAMPLE_MS));
    /* Somebody else sampled: whether to warn is not yet looked at. */
    sample->forecast.is_new = true;
    assert_true(sample_is_due(counter, 5000));
    counter->sample = NULL;
    assert_true(sample_is_due(counter, 5000));
    sample_jump(&counter->slots[1]);
    counter->sample = sample;
    counter_discard(counter);
}

TEST_WITH(ONE_DIRECT, end_within_a_year_is_told_once)
{
    struct rig_broker *broker;
    struct ha_counter *counter;

    events_start();
    rig_use(rig, 1);
    fake_put(rig->stores[0], "main/0/order", counter_limit(rig) - 10000000);
    broker = rig_open(rig);
    counter = counter_of(broker);
    rig_take(broker, 1);
    rig_await_rest(broker);
    (void)ha_counter_ask(counter, 1, HA_ASK_ONE, clock_now_ms() + 2 * MINUTE);
    rig_await_rest(broker);
    rig_take(broker, (size_t)rig_status(broker, "order").stock + 1);
    rig_await_rest(broker);
    assert_int_equal(events_count("event=forecast", ""), 0);
    for (int64_t i = 2; i < 6; i++) {
        (void)ha_counter_ask(counter, 1, HA_ASK_ONE,
                             clock_now_ms() + 2 * i * MINUTE);
        rig_await_rest(broker);
    }
    events_expect("event=forecast", "key=order", 1);
    events_expect("event=forecast", "days at the usual", 1);
    /* Whether to warn was looked at, and is not with the next answer. */
    assert_false(counter->sample->forecast.is_new);
}

/* The store's counter is in the middle of the bits, and near the last number
 * that has a text. */
TEST_WITH(ONE_DIRECT, end_of_the_texts_comes_before_that_of_the_bits)
{
    static struct queue_sequence_options wider; /* as long as the queue */
    struct rig_broker *broker;
    int64_t number;

    rig->sequences[0].text_max = (INT64_C(2000) << 2) - 1;
    rig->sequences[0].memory_bits = 2;
    rig_use(rig, 1);
    fake_put(rig->stores[0], "main/0/order", 1000);
    broker = rig_open(rig);
    rig_take(broker, 1);
    rig_await_rest(broker);
    (void)end_after_minutes(broker, 2);
    rig_take(broker, (size_t)rig_status(broker, "order").stock + 1);
    rig_await_rest(broker);
    assert_in_range(end_after_minutes(broker, 4), 1, HOUR);
    for (number = 0; number < rig->sequences[0].text_max;)
        assert_ok(queue_next(rig_sequence(broker, "order"), &number, NULL));
    rig_await_rest(broker);
    assert_int_equal(last_end_after_minutes(broker, 4), 0);
    assert_int_equal(end_after_minutes(broker, 4), 0);
    /* The end of a wider template is another one, to be warned of as well. */
    counter_of(broker)->sample->forecast.warned = 3;
    (void)end_after_minutes(broker, 4);
    assert_int_equal(counter_of(broker)->sample->forecast.warned, 3);
    wider = rig->sequences[0];
    wider.text_max *= 2;
    sequence_set_texts(rig_sequence(broker, "order"), &wider);
    (void)end_after_minutes(broker, 4);
    assert_int_equal(counter_of(broker)->sample->forecast.warned, 0);
}
