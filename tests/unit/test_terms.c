/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sequence without a period agrees on with its counters: what is claimed
 * besides its memory bits, and numbers that stay below 2^53 and end there.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/policy/forecast.h"
#include "platform/clock.h"
#include "queue/sequence.h"
#include "store/layout.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define COUNTER_0   "main/0/order"
#define SAFE_BITS   53
#define SAFE_END    (INT64_C(1) << SAFE_BITS)
#define SHIFT       3 /* bits below the counter value: two partitions, runs of 4 */
#define SAFE_VALUES (SAFE_END >> SHIFT)
#define MINUTE      INT64_C(60000)

/* --- claims --- */

static const struct {
    const char *name;
    const char *attributes;
    const char *words;
} others[] = {
    {"another key", " shuffle=10/fedcba9876543210",
     "was used with memory_bits=2 shuffle=10/0123456789abcdef and is "
     "configured with memory_bits=2 shuffle=10/fedcba9876543210"},
    {"another base", " shuffle=16/0123456789abcdef",
     "configured with memory_bits=2 shuffle=16/"},
    {"no shuffle", NULL, "and is configured with memory_bits=2;"},
};

TEST_WITH(DIRECT, another_key_is_refused_and_the_same_opens)
{
    static const char attributes[] = " shuffle=10/0123456789abcdef";

    rig->sequences[0].attributes = attributes;
    rig_use(rig, 100);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const int64_t before = fake_value(rig->stores[0], COUNTER_0);

        rig->sequences[0].attributes = others[i].attributes;
        rig_expect_open_fails(rig, SEQB_LAYOUT, others[i].words);
        assert_int_equal(fake_value(rig->stores[0], COUNTER_0), before);
        rig->sequences[0].attributes = attributes;
        rig_use(rig, 100);
    }
}

/* It is not there at the start: it is refused when it is asked for first, by
 * a partition that was used, whichever others were not. */
TEST_WITH(DIRECT, another_key_of_automatic_sequences_is_refused)
{
    struct rig_broker *broker;
    int64_t number;

    rig_automatic(rig, "*", 10);
    rig->automatic.claims_first = true;
    rig->automatic.attributes = " shuffle=10/0123456789abcdef";
    broker = rig_open(rig);
    assert_ok(queue_next(rig_sequence(broker, "bill"), &number, NULL));
    rig_close(broker);
    rig->automatic.attributes = " shuffle=10/fedcba9876543210";
    broker = rig_open(rig);
    assert_fails(queue_next(rig_sequence(broker, "bill"), &number, &failure),
                 SEQB_LAYOUT, "shuffle=10/0123456789abcdef");
    rig_close(broker);
}

/* --- values below 2^53 --- */

static void make_safe(struct rig *rig)
{
    rig->sequences[0].value_bits = SAFE_BITS;
}

/* Takes numbers until none comes; returns how many came. */
static size_t take_all(struct rig_broker *broker, struct seqb_error *err)
{
    struct seqb_sequence *order = rig_sequence(broker, "order");
    enum seqb_status status = SEQB_OK;
    size_t count = 0;

    while (status == SEQB_OK && count < 1000) {
        int64_t number;

        status = queue_next(order, &number, err);
        if (status == SEQB_OK) {
            numbers_add(&broker->rig->taken, &number, 1);
            count++;
        }
    }
    assert_int_equal(status, SEQB_EXHAUSTED);
    return count;
}

TEST_WITH(DIRECT, numbers_end_below_2_to_the_53)
{
    struct seqb_error err;
    struct rig_broker *broker;

    make_safe(rig);
    rig_use(rig, 100);
    /* Ten values are left in each partition, of four numbers. */
    for (int i = 0; i < 2; i++)
        fake_put(rig->stores[i], i == 0 ? COUNTER_0 : "main/1/order",
                 SAFE_VALUES - 11);
    rig->taken.count = 0;
    broker = rig_open(rig);
    assert_in_range(take_all(broker, &err), 80, 80 + 400);
    assert_int_equal(numbers_highest(&rig->taken), SAFE_END - 1);
    assert_int_equal(fake_value(rig->stores[0], COUNTER_0), SAFE_VALUES - 1);
}

/* By another broker, which is not told to be safe. */
TEST_WITH(DIRECT, counters_that_are_beyond_it_give_nothing)
{
    struct seqb_error err;
    struct rig_broker *broker;

    rig->queue.spool_path = NULL;
    rig_use(rig, 100);
    fake_put(rig->stores[0], COUNTER_0, SAFE_VALUES + 5);
    fake_put(rig->stores[1], "main/1/order", SAFE_VALUES - 1);
    make_safe(rig);
    broker = rig_open(rig);
    assert_int_equal(take_all(broker, &err), 0);
    rig_close(broker);
    rig->sequences[0].value_bits = 0;
    broker = rig_open(rig);
    rig->taken.count = 0;
    rig_take(broker, 1);
    assert_true(numbers_highest(&rig->taken) >= SAFE_END);
}

/* They were kept by a broker that was not told to be safe. */
TEST_WITH(DIRECT, kept_numbers_beyond_it_are_not_handed_out)
{
    struct seqb_error err;
    struct rig_broker *broker;

    rig->queue.spool_path = rig_file(rig, "spool");
    rig_use(rig, 1);
    fake_put(rig->stores[0], COUNTER_0, SAFE_VALUES + 5);
    fake_put(rig->stores[1], "main/1/order", SAFE_VALUES + 5);
    broker = rig_open(rig);
    rig_take(broker, (size_t)rig_status(broker, "order").stock + 1);
    rig_await_rest(broker);
    assert_true(rig_status(broker, "order").stock > 0);
    rig_close(broker);
    make_safe(rig);
    rig->taken.count = 0;
    broker = rig_open(rig);
    assert_int_equal(take_all(broker, &err), 0);
}

TEST_WITH(WINDOWED, windows_end_below_2_to_the_53)
{
    const int64_t windows = layout_window_max(1 + 10, 2, 8);
    struct seqb_error err;
    struct rig_broker *broker;

    make_safe(rig);
    rig_use(rig, 100);
    for (int i = 0; i < 2; i++) {
        fake_put(rig->authority,
                 i == 0 ? "window/main/0/order" : "window/main/1/order",
                 windows);
        fake_flush(rig->stores[i]);
    }
    broker = rig_open(rig);
    (void)take_all(broker, &err);
    assert_true(numbers_highest(&rig->taken) < SAFE_END);
}

TEST_WITH(DIRECT, advancing_stays_below_2_to_the_53)
{
    struct rig_broker *broker;
    struct seqb_error err;

    make_safe(rig);
    broker = rig_open(rig);
    rig_take(broker, 1);
    assert_fails(queue_advance(broker->queue, "order", SAFE_END, &failure),
                 SEQB_INVALID,
                 "beyond its bits: it can be advanced to "
                 "9007199254740983 at most");
    assert_int_equal(
        queue_advance(broker->queue, "order", SAFE_END - (1 << SHIFT), &err),
        SEQB_INVALID);
    assert_ok(queue_advance(broker->queue, "order", SAFE_END - (1 << SHIFT) - 1,
                            &err));
    rig->taken.count = 0;
    (void)take_all(broker, &err);
    assert_true(numbers_highest(&rig->taken) < SAFE_END);
}

static int64_t end_after_minutes(struct rig_broker *broker, int64_t minutes)
{
    return ha_counter_runs_out_ms(rig_sequence(broker, "order")->counter,
                                  clock_now_ms() + minutes * MINUTE);
}

/* A million numbers in two minutes: nine millions last for 18. */
TEST_WITH(ONE_DIRECT, forecast_tells_the_end_of_53_bits)
{
    struct rig_broker *broker;

    rig->sequences[0].memory_bits = 0;
    make_safe(rig);
    rig_use(rig, 1);
    fake_put(rig->stores[0], COUNTER_0, SAFE_END - 10000000);
    broker = rig_open(rig);
    assert_int_equal(end_after_minutes(broker, 0), FORECAST_NEVER);
    rig_take(broker, 1);
    rig_await_rest(broker);
    assert_int_equal(end_after_minutes(broker, 2), FORECAST_NEVER);
    fake_put(rig->stores[0], COUNTER_0, SAFE_END - 9000000);
    rig_take(broker, (size_t)rig_status(broker, "order").stock + 1);
    rig_await_rest(broker);
    assert_in_range(end_after_minutes(broker, 4), 17 * MINUTE, 19 * MINUTE);
}

TEST_WITH(DIRECT, a_sequence_without_a_template_has_no_width)
{
    struct rig_broker *broker = rig_open(rig);
    const struct seqb_sequence_status status = rig_status(broker, "order");

    assert_int_equal(status.width_numbers, INT64_MAX);
    assert_int_equal(status.pool_numbers, INT64_MAX);
    assert_null(queue_template(rig_sequence(broker, "order")));
    assert_string_equal(queue_key(rig_sequence(broker, "order")), "order");
}
