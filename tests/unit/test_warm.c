/* SPDX-License-Identifier: Apache-2.0 */
/* The first numbers after a start: fetched before it ends, or within one round
 * trip of the one who asks. */

#include "platform/text.h"
#include "store/layout.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define SHORT_MS 50
#define MANY     20

static void be_warm(struct rig *rig)
{
    rig->sequences[0].prefetch = true;
    rig->sequences[0].warm = true;
    rig->queue.warm_timeout_ms = RIG_FOREVER_MS;
}

static void expect_full(const struct rig_broker *broker, const char *key)
{
    const struct seqb_sequence_status status = rig_status(broker, key);

    assert_true(status.stock > 0);
    assert_true(status.stock >= status.low_water);
    assert_int_equal(status.waits, 0);
    assert_int_equal(status.taken, 0);
}

TEST_WITH(DIRECT, a_warm_ring_is_full_when_the_start_is_over)
{
    struct rig_broker *broker;
    int64_t numbers[128];
    size_t taken;

    be_warm(rig);
    events_start();
    broker = rig_open(rig);
    expect_full(broker, "order");
    assert_ok(queue_try_many(rig_sequence(broker, "order"), 128, numbers,
                             &taken, NULL));
    numbers_add(&rig->taken, numbers, taken);
    assert_int_equal(rig_status(broker, "order").waits, 0);
    assert_int_equal(events_count("event=cold", ""), 0);
}
TEST_ALSO(WINDOWED, a_warm_ring_is_full_when_the_start_is_over);

/* Grants may be small, and come from one partition only. */
TEST_WITH(DIRECT, it_is_filled_by_small_grants_too)
{
    be_warm(rig);
    rig->queue.interval_ms = 1;
    fake_set_grant_max(rig->stores[0], 3);
    fake_fail(rig->stores[1], FAKE_RESERVE, INT64_MAX, SEQB_UNREACHABLE);
    expect_full(rig_open(rig), "order");
}

TEST_WITH(DIRECT, the_others_are_asked_for_nothing)
{
    struct rig_broker *broker;

    be_warm(rig);
    rig->queue.sequence_count = 2;
    broker = rig_open(rig);
    expect_full(broker, "order");
    assert_int_equal(rig_status(broker, "bill").stock, 0);
    assert_int_equal(rig_status(broker, "bill").in_flight, 0);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill"), -1);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill"), -1);
}

TEST_WITH(DIRECT, rows_of_warm_sequences_are_filled_side_by_side)
{
    struct queue_sequence_options sequences[MANY];
    char keys[MANY][32];
    struct rig_broker *broker;

    be_warm(rig);
    for (size_t i = 0; i < MANY; i++) {
        (void)text_format(keys[i], sizeof keys[i], "row.%zu", i);
        sequences[i] = rig->sequences[0];
        sequences[i].key = keys[i];
    }
    rig->queue.sequences = sequences;
    rig->queue.sequence_count = MANY;
    /* While one call takes its time, the others are posted. */
    for (size_t i = 0; i < 2; i++)
        fake_set_delay(rig->stores[i], 5);
    broker = rig_open(rig);
    /* One after the other would be a round trip each. */
    for (size_t i = 0; i < 2; i++)
        assert_true(fake_calls(rig->stores[i], FAKE_RESERVE) < MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_true(rig_sequence(broker, keys[i]) != NULL);
    rig_close(broker); /* before the options go */
}

TEST_WITH(DIRECT, a_start_goes_on_if_stores_give_nothing)
{
    struct rig_broker *broker;

    be_warm(rig);
    rig->queue.warm_timeout_ms = SHORT_MS;
    fake_fail(rig->stores[0], FAKE_RESERVE, INT64_MAX, SEQB_UNREACHABLE);
    fake_fail(rig->stores[1], FAKE_RESERVE, INT64_MAX, SEQB_UNREACHABLE);
    events_start();
    broker = rig_open(rig);
    events_expect("event=cold sequences=1 keys=order reason=", "", 1);
    assert_int_equal(rig_status(broker, "order").stock, 0);
    fake_fail(rig->stores[0], FAKE_RESERVE, 0, SEQB_OK);
    fake_fail(rig->stores[1], FAKE_RESERVE, 0, SEQB_OK);
    assert_ok(rig_take_one(broker, &(int64_t){0}, NULL));
}

TEST_WITH(DIRECT, of_many_that_are_cold_some_are_named_in_one_line)
{
    struct queue_sequence_options sequences[MANY];
    char keys[MANY][32];

    be_warm(rig);
    rig->queue.warm_timeout_ms = SHORT_MS;
    for (size_t i = 0; i < MANY; i++) {
        (void)text_format(keys[i], sizeof keys[i], "a-rather-long-key.%02zu",
                          i);
        if (i == 0)
            keys[i][1] = '\0'; /* the shortest one: "a" */
        sequences[i] = rig->sequences[0];
        sequences[i].key = keys[i];
    }
    rig->queue.sequences = sequences;
    rig->queue.sequence_count = MANY;
    fake_fail(rig->stores[0], FAKE_RESERVE, INT64_MAX, SEQB_UNREACHABLE);
    fake_fail(rig->stores[1], FAKE_RESERVE, INT64_MAX, SEQB_UNREACHABLE);
    events_start();
    rig_close(rig_open(rig));
    events_expect("event=cold", "", 1);
    events_expect(
        "sequences=20 keys=a,a-rather-long-key.01,a-rather-long-key.02,",
        "key.09,... reason=", 1);
}

/* The start would wait for ever. */
TEST_WITH(DIRECT, one_that_is_exhausted_is_not_waited_for)
{
    be_warm(rig);
    rig_close(rig_open(rig));
    fake_put(rig->stores[0], "main/0/order", layout_counter_max(1, 2));
    fake_put(rig->stores[1], "main/1/order", layout_counter_max(1, 2));
    events_start();
    (void)rig_open(rig);
    events_expect("event=cold", "keys=order", 1);
}

/* --- without it --- */

static int64_t calls_but_reserve(struct rig *rig)
{
    static const enum fake_call calls[] = {FAKE_OPEN, FAKE_RAISE, FAKE_INSTALL,
                                           FAKE_CLAIM};
    int64_t sum = 0;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        sum += fake_calls(rig->stores[0], calls[i]);
    return sum;
}

/* It was admitted by the start. */
TEST_WITH(ONE_DIRECT, a_listed_sequence_gives_its_first_number_in_one_call)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t before;

    before = calls_but_reserve(rig);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 0);
    assert_ok(rig_take_one(broker, &(int64_t){0}, NULL));
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 1);
    assert_int_equal(calls_but_reserve(rig), before);
}

/* Its bits are claimed first, and the pool must not have been retired. */
TEST_WITH(ONE_DIRECT, an_automatic_one_needs_three)
{
    struct rig_broker *broker;
    int64_t before;

    rig_automatic(rig, "bill", 1);
    broker = rig_open(rig);
    before = calls_but_reserve(rig);
    assert_ok(queue_next(rig_sequence(broker, "bill"), &(int64_t){0}, NULL));
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 1);
    assert_int_equal(calls_but_reserve(rig), before + 2);
}
