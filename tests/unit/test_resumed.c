/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A broker that may have been resumed from an image of its memory, over
 * scripted stores: nothing that it held then is given any more. The clocks leap
 * as they do after that.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include <seqbroker/seqbroker.h>

#include "period_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/events.h"
#include "support/test.h"
#include "support/wrap.h"

#define RUN       4 /* 2^memory_bits */
#define COUNTER_0 "main/0/order"
#define LEASES_0  "window/main/0/order"
#define COUNTER_2 "main/2/order"
#define LEASES_2  "window/main/2/order"

/* The wall clock is ahead by that. */
static _Atomic int64_t set_ms;

WRAPPED(struct clock_pair, clock_read_pair, void)
{
    const int64_t boot_ms = clock_boot_ms();

    return (struct clock_pair){boot_ms, boot_ms + atomic_load(&set_ms),
                               boot_ms};
}

/* The image was made before what the broker did last, as far as it knows. */
static void resume(void)
{
    events_start();
    atomic_fetch_add(&set_ms, HOUR);
    events_await("event=resumed", "apart_ms=3600000");
}

static int64_t take_one(struct rig_broker *broker)
{
    struct seqb_error err;
    int64_t number;

    assert_done(rig_take_one(broker, &number, &err), err);
    return number;
}

/* The first number that the store has not granted yet. */
static int64_t next_of(struct rig *rig)
{
    return (fake_value(rig->stores[0], COUNTER_0) + 1) * RUN;
}

TEST_WITH(ONE_DIRECT, numbers_of_the_ring_are_dropped)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t next;

    (void)take_one(broker);
    rig_await_rest(broker);
    next = next_of(rig);
    assert_true(rig_status(broker, "order").stock > 0);
    resume();
    assert_true(take_one(broker) >= next);
}

/* Though nobody asks for a number. */
TEST_WITH(ONE_DIRECT, ring_that_is_fetched_ahead_is_filled_again)
{
    struct rig_broker *broker;

    rig->sequences[0].prefetch = true;
    broker = rig_open(rig);
    (void)take_one(broker);
    rig_await_rest(broker);
    resume();
    RIG_AWAIT(rig_status(broker, "order").stock > 0);
}

/* Nobody has taken a number for long: no other thread wakes the broker. */
TEST_WITH(ONE_DIRECT, broker_that_is_idle_notices_it_too)
{
    struct rig_broker *broker = rig_open(rig);

    (void)take_one(broker);
    rig_await_rest(broker);
    resume();
    resume();
    assert_int_equal(rig_status(broker, "order").stock, 0);
}

TEST_WITH(ONE_DIRECT, slice_of_a_cursor_is_dropped_but_for_a_run)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_cursor *cursor;
    int64_t number;
    int64_t next;

    assert_ok(
        queue_cursor_open(rig_sequence(broker, "order"), 50, &cursor, NULL));
    assert_ok(seqb_cursor_next(cursor, &number, NULL));
    rig_await_rest(broker);
    next = next_of(rig);
    resume();
    cursor->next = cursor->end; /* which the caller holds itself */
    assert_ok(seqb_cursor_next(cursor, &number, NULL));
    assert_true(number >= next);
    cursor->next = cursor->end; /* the rest of that slice is good */
    assert_ok(seqb_cursor_next(cursor, &next, NULL));
    assert_int_equal(next, number + RUN);
    rig_await_rest(broker);
    next = next_of(rig);
    resume();
    queue_cursor_close(cursor); /* what it gives back was taken before */
    assert_true(take_one(broker) >= next);
}

/* Posts an ask that does not come to an end. */
static void ask_and_hang(struct rig *rig, struct rig_broker *broker)
{
    size_t taken;

    fake_hang(rig->stores[0]);
    assert_int_equal(queue_try_many(rig_sequence(broker, "order"), 1,
                                    &(int64_t){0}, &taken, NULL),
                     SEQB_AGAIN);
    assert_true(fake_wait_for_hanging(rig->stores[0], 1, RIG_PATIENCE_MS));
}

TEST_WITH(ONE_DIRECT, answer_that_is_under_way_is_dropped)
{
    struct rig_broker *broker;
    int64_t next;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    ask_and_hang(rig, broker);
    next = RUN + rig_status(broker, "order").in_flight;
    resume();
    fake_release(rig->stores[0]);
    assert_true(take_one(broker) >= next);
}

TEST_WITH(DIRECT, connections_are_made_again)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t opened[2];

    (void)take_one(broker);
    for (int i = 0; i < 2; i++)
        opened[i] = fake_calls(rig->stores[i], FAKE_OPEN);
    resume();
    for (int i = 0; i < 2; i++)
        assert_true(fake_wait_for_calls(rig->stores[i], FAKE_OPEN,
                                        opened[i] + 1, RIG_PATIENCE_MS));
    (void)take_one(broker);
    assert_int_equal(rig_partition(broker, 0).ejections, 0);
    assert_int_equal(rig_partition(broker, 1).ejections, 0);
}

static void await_leases(struct rig *rig, int64_t count)
{
    RIG_AWAIT(fake_value(rig->authority, LEASES_0) >= count);
}

TEST_WITH(ONE_WINDOWED, window_that_was_leased_ahead_is_dropped)
{
    struct rig_broker *broker = rig_open(rig);

    (void)take_one(broker);
    await_leases(rig, 2);
    rig_await_rest(broker);
    resume();
    fake_flush(rig->stores[0]);
    (void)take_one(broker);
    assert_int_equal(fake_window(rig->stores[0], COUNTER_0), 3);
}

TEST_WITH(ONE_WINDOWED, window_that_is_being_leased_is_dropped)
{
    struct rig_broker *broker;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    fake_hang(rig->authority);
    assert_int_equal(queue_try_many(rig_sequence(broker, "order"), 1,
                                    &(int64_t){0}, &(size_t){0}, NULL),
                     SEQB_AGAIN);
    assert_true(fake_wait_for_hanging(rig->authority, 1, RIG_PATIENCE_MS));
    resume();
    fake_release(rig->authority);
    (void)take_one(broker);
    assert_int_equal(fake_window(rig->stores[0], COUNTER_0), 2);
}

/* The highest lease that both lessors know of partition 2. */
static int64_t lease_known(struct rig *rig)
{
    const int64_t a = fake_value(rig->stores[0], LEASES_2);
    const int64_t b = fake_value(rig->stores[1], LEASES_2);

    return a < b ? a : b;
}

/* Two lessors, and two stores that count in windows of theirs. */
TEST_WITH(NEIGHBOURS, window_of_neighbours_is_dropped)
{
    struct rig_broker *broker;
    int64_t spare;

    rig_shape(rig, RIG_NEIGHBOURS, 2);
    rig->backends[2].ops = &backend_fake_windowed;
    rig->backends[3].ops = &backend_fake_windowed;
    broker = rig_open(rig);
    while (fake_window(rig->stores[2], COUNTER_2) == SEQB_NO_WINDOW)
        (void)take_one(broker);
    RIG_AWAIT(lease_known(rig) >= 2);
    rig_await_rest(broker);
    spare = lease_known(rig);
    resume();
    fake_flush(rig->stores[2]);
    while (fake_window(rig->stores[2], COUNTER_2) == SEQB_NO_WINDOW)
        (void)take_one(broker);
    /* The lessor's index is in the lowest bit. */
    assert_true(fake_window(rig->stores[2], COUNTER_2) >> 1 > spare);
}

/* Of the stamp that is current: its numbers would be the same pairs. */
TEST_WITH(PERIOD, numbers_of_a_stamp_are_dropped)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    char numbers[32];
    int64_t stock;
    int64_t digits;
    int64_t next;

    fixture->rules.unit = PERIOD_DAY;
    rig_shape(rig, RIG_DIRECT, 0);
    broker = rig_open(rig);
    (void)period_number(broker, &digits);
    rig_await_rest(broker);
    next = (fake_value(rig->stores[0], COUNTER_0 "@20261121") + 1) * RUN;
    assert_true(next > RUN);
    stock = rig_status(broker, "order").stock;
    resume();
    (void)text_format(numbers, sizeof numbers, "numbers=%lld",
                      (long long)stock);
    events_expect("event=resumed", numbers, 1);
    assert_int_equal(rig_status(broker, "order").dropped, stock);
    assert_true(period_number(broker, &digits) >= next);
    assert_int_equal(digits, 20261121);
}
