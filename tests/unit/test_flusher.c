/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of unused numbers when a broker stops, and when nobody uses a
 * sequence, over scripted stores. The file itself is in test_spool*.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seqbroker/seqbroker.h>

#include "platform/clock.h"
#include "queue/flusher/flusher.h"
#include "queue/queue_state.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"
#include "unit/rig_shapes.h"

/* A file for the brokers' unused numbers. */
static void use_spool(struct rig *rig)
{
    rig->queue.spool_path = rig_file(rig, "spool");
}

/* The next so many renames are done, and said to have failed. */
static atomic_int lies;

WRAPPED(int, rename, const char *from, const char *to)
{
    const int result = __real_rename(from, to);

    if (result != 0 || atomic_load(&lies) == 0)
        return result;
    atomic_fetch_sub(&lies, 1);
    errno = EIO;
    return -1;
}

/* Of which all stores are up again after the next exchange; or NULL. */
static struct rig *down;

WRAPPED(void, file_unlock, int file)
{
    __real_file_unlock(file);
    if (down != NULL)
        rig_set_down(down, false);
    down = NULL;
}

static int64_t granted(struct rig *rig, struct rig_broker *broker)
{
    int64_t sum = 0;

    for (int32_t i = 0; i < 1 << rig->pool.layout.bits; i++)
        sum += rig_partition(broker, i).granted;
    return sum;
}

/* The stock of "order". What a start did not get, because a store was late, is
 * asked for again. */
static int64_t kept(struct rig_broker *broker)
{
    wakeup_set(&broker->queue->context.flusher);
    return rig_status(broker, "order").stock;
}

static bool is_all_there(struct rig *rig, struct rig_broker *broker,
                         int64_t values)
{
    rig_await_rest(broker);
    return (int64_t)numbers_count(&rig->taken) +
               rig_status(broker, "order").stock ==
           (values + granted(rig, broker)) * 4;
}

/* Takes all that brokers were granted, `values` before this one was opened.
 * More may be kept than a ring has room for. */
static void take_all(struct rig *rig, struct rig_broker *broker, int64_t values)
{
    RIG_AWAIT((rig_take(broker, (size_t)kept(broker)),
               is_all_there(rig, broker, values)));
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
}

/* Stops and starts: what every broker was granted is taken to the last. */
TEST_WITH(DIRECT, a_clean_stop_loses_nothing)
{
    int64_t values = 0;

    use_spool(rig);
    for (int i = 0; i < 10; i++) {
        struct rig_broker *broker = rig_open(rig);

        rig_take(broker, 1 + 37 * (size_t)i);
        if (i == 9)
            take_all(rig, broker, values);
        rig_await_rest(broker);
        values += granted(rig, broker);
        rig_close(broker);
    }
}
TEST_ALSO(WINDOWED, a_clean_stop_loses_nothing);

/* Stops the broker while the first store does not answer. Only the end of the
 * worker has to wait for that store. */
static void stop_while_first_hangs(struct rig *rig, struct rig_broker *broker)
{
    fake_hang(rig->stores[0]);
    queue_stop(broker->queue);
    fake_release(rig->stores[0]);
    ha_close(broker->ha);
    queue_free(broker->queue);
    rig_forget(broker);
}

static void take_rest(struct rig *rig, int64_t values)
{
    struct rig_broker *broker = rig_open(rig);

    take_all(rig, broker, values);
    assert_int_equal(granted(rig, broker), 0);
}

TEST_WITH(DIRECT, a_stop_keeps_all_though_the_first_store_hangs)
{
    struct rig_broker *broker;
    int64_t values;

    use_spool(rig);
    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    rig_take(broker, 10);
    rig_await_rest(broker);
    values = granted(rig, broker);
    stop_while_first_hangs(rig, broker);
    rig->sequences[0].prefetch = false;
    take_rest(rig, values);
}

TEST_WITH(DIRECT, a_stop_keeps_all_if_a_store_answers_later)
{
    struct rig_broker *broker;
    int64_t values;

    use_spool(rig);
    broker = rig_open(rig);
    rig_take(broker, 10);
    rig_await_rest(broker);
    values = granted(rig, broker);
    rig_set_down(rig, true);
    down = rig;
    queue_end_waits(broker->queue, clock_now_ms() + RIG_FOREVER_MS);
    rig_close(broker);
    rig->sequences[0].prefetch = false;
    take_rest(rig, values);
}

/* Its ticket is of the store that hangs, and nothing is in it. */
TEST_WITH(DIRECT, a_stop_replaces_an_empty_spool_of_a_store_that_hangs)
{
    struct rig_broker *broker;
    int64_t values;

    use_spool(rig);
    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    rig_take(broker, 10);
    rig_await_rest(broker);
    values = granted(rig, broker);
    rig_close(broker);
    broker = rig_open(rig);
    rig_await_rest(broker);
    values += granted(rig, broker);
    stop_while_first_hangs(rig, broker);
    rig->sequences[0].prefetch = false;
    take_rest(rig, values);
}

TEST_WITH(NEIGHBOURS, a_clean_stop_among_neighbours_loses_nothing)
{
    a_clean_stop_loses_nothing(rig);
}

/* More of them than a ring has segments, and all of them come back. */
TEST_WITH(NEIGHBOURS, several_windows_of_a_grant_are_kept)
{
    int64_t values = 0;

    rig->sequences[0].max_unused = 1 << 18;
    use_spool(rig);
    for (int i = 0; i < 10; i++) {
        struct rig_broker *broker = rig_open(rig);

        rig_take(broker, 100000 + 37 * (size_t)i);
        if (i == 9)
            take_all(rig, broker, values);
        rig_await_rest(broker);
        values += granted(rig, broker);
        rig_close(broker);
    }
}

TEST_WITH(DIRECT, the_next_start_needs_no_store_for_its_first_number)
{
    struct rig_broker *broker;
    int64_t calls;

    use_spool(rig);
    broker = rig_open(rig);
    rig_take(broker, 1);
    rig_close(broker);
    broker = rig_open(rig);
    calls = fake_calls(rig->stores[1], FAKE_RESERVE);
    RIG_AWAIT(kept(broker) > 0);
    rig_take(broker, 1);
    assert_int_equal(rig_status(broker, "order").waits, 0);
    assert_int_equal(fake_calls(rig->stores[1], FAKE_RESERVE), calls);
}

static void set_most(struct rig *rig, int64_t max_unused)
{
    for (int i = 0; i < 2; i++)
        rig->sequences[i].max_unused = max_unused;
}

/* There is room for what is kept of either sequence, not for both of them in
 * one. */
TEST_WITH(DIRECT, each_sequence_takes_what_it_has_room_for)
{
    struct rig_broker *broker;
    int64_t orders;
    int64_t bills;
    int64_t bill;

    use_spool(rig);
    rig->queue.sequence_count = 2;
    set_most(rig, 4000);
    broker = rig_open(rig);
    rig_take(broker, 1900);
    assert_ok(queue_next(rig_sequence(broker, "bill"), &bill, NULL));
    rig_await_rest(broker);
    rig_close(broker);
    broker = rig_open(rig);
    orders = rig_status(broker, "order").stock;
    bills = rig_status(broker, "bill").stock;
    assert_true(orders > 2 && bills > 2);
    rig_close(broker);
    set_most(rig, (orders > bills ? orders : bills) / 2 + 1);
    broker = rig_open(rig);
    assert_int_equal(rig_status(broker, "order").stock, orders);
    assert_int_equal(rig_status(broker, "bill").stock, bills);
}

/* One that makes itself is made by what was kept of it. */
TEST_WITH(DIRECT, a_sequence_that_makes_itself_goes_on_at_once)
{
    struct rig_broker *broker;
    int64_t number;
    int64_t last;

    use_spool(rig);
    rig_automatic(rig, "b*", 1);
    broker = rig_open(rig);
    assert_ok(queue_next(rig_sequence(broker, "bill"), &last, NULL));
    rig_close(broker);
    broker = rig_open(rig);
    RIG_AWAIT(rig_status(broker, "bill").stock > 0);
    assert_ok(queue_next(rig_sequence(broker, "bill"), &number, NULL));
    assert_int_equal(rig_status(broker, "bill").waits, 0);
    assert_true(number != last);
    rig_close(broker);
    rig->queue.automatic = NULL; /* it is not allowed any more */
    broker = rig_open(rig);
    assert_int_equal(queue_find(broker->queue, "bill",
                                &(struct seqb_sequence *){NULL}, NULL),
                     SEQB_UNKNOWN_KEY);
}

TEST_WITH(DIRECT, what_a_cursor_gave_back_is_kept_too)
{
    struct rig_broker *broker;
    struct seqb_cursor *cursor;
    int64_t number;
    int64_t stock;

    use_spool(rig);
    broker = rig_open(rig);
    assert_ok(
        queue_cursor_open(rig_sequence(broker, "order"), 50, &cursor, NULL));
    for (int i = 0; i < 7; i++) {
        assert_ok(queue_cursor_refill(cursor, &number, NULL));
        numbers_add(&rig->taken, &number, 1);
        while (cursor->next < cursor->end) {
            numbers_add(&rig->taken, &cursor->next, 1);
            cursor->next++;
        }
    }
    queue_cursor_close(cursor);
    rig_await_rest(broker);
    stock = rig_status(broker, "order").stock;
    rig_close(broker);
    broker = rig_open(rig);
    RIG_AWAIT(kept(broker) == stock);
    rig_take(broker, (size_t)stock);
}

/* The flusher looks at the sequences with the catalog locked. */
static void give_no_more(struct rig *rig, struct rig_broker *broker)
{
    struct seqb_sequence *order = rig_sequence(broker, "order");

    rig->sequences[0].idle_after_ms = 0; /* of the next broker */
    pthread_rwlock_wrlock(&broker->queue->catalog_lock);
    atomic_store(&order->settings->idle_after_ms, 0);
    pthread_rwlock_unlock(&broker->queue->catalog_lock);
}

/* The file may have what was given to it, for any other broker to take. */
TEST_WITH(DIRECT, what_was_given_uncertainly_is_not_taken_back)
{
    struct rig_broker *first;
    struct rig_broker *second;

    use_spool(rig);
    rig->sequences[0].idle_after_ms = 1;
    events_start();
    first = rig_open(rig);
    atomic_store(&lies, 1);
    rig_take(first, 10);
    RIG_AWAIT(events_count("event=spool_failed", "Input/output error") > 0);
    give_no_more(rig, first);
    assert_int_equal(atomic_load(&lies), 0);
    second = rig_open(rig);
    RIG_AWAIT(kept(second) > 0); /* of the file */
    rig_take(second, 1000);
    rig_take(first, 1000);
}
TEST_ALSO(WINDOWED, what_was_given_uncertainly_is_not_taken_back);

/* Two brokers of one state directory: the blocks of one are the other's. */
TEST_WITH(DIRECT, brokers_of_one_folder_share_what_is_kept)
{
    struct rig_broker *first;
    struct rig_broker *second;
    int64_t stock;

    use_spool(rig);
    first = rig_open(rig);
    second = rig_open(rig);
    rig_take(first, 10);
    rig_take(second, 10);
    rig_await_rest(first);
    rig_await_rest(second);
    stock =
        rig_status(first, "order").stock + rig_status(second, "order").stock;
    rig_close(first);
    rig_close(second);
    first = rig_open(rig);
    assert_int_equal(rig_status(first, "order").stock, stock);
    rig_take(first, (size_t)stock);
}
TEST_ALSO(WINDOWED, brokers_of_one_folder_share_what_is_kept);

/* Nothing can be kept without the stores: a gap, and a line of the log. */
TEST_WITH(DIRECT, stores_that_are_down_at_the_stop_cost_a_gap_only)
{
    struct rig_broker *broker;

    use_spool(rig);
    events_start();
    broker = rig_open(rig);
    rig_take(broker, 100);
    rig_set_down(rig, true);
    rig_close(broker);
    events_expect("event=spool_failed", "", 1);
    rig_set_down(rig, false);
    broker = rig_open(rig);
    rig_take(broker, 2000);
}

TEST_WITH(DIRECT, an_advanced_sequence_keeps_nothing_from_before)
{
    struct rig_broker *broker;

    use_spool(rig);
    broker = rig_open(rig);
    rig_take(broker, 100);
    assert_ok(queue_advance(broker->queue, "order", 1000000, NULL));
    rig_close(broker);
    broker = rig_open(rig);
    rig_take(broker, 2000);
    assert_true(numbers_lowest(&rig->taken, 100) > 1000000);
}

/* Kept by a broker that has stopped, or for a sequence that is idle: after an
 * advance, not even a start hands it out. */
TEST_WITH(DIRECT, a_spool_forgets_what_lies_below_an_advance)
{
    struct rig_broker *first;
    struct rig_broker *second;

    use_spool(rig);
    first = rig_open(rig);
    second = rig_open(rig);
    rig_take(first, 10);
    rig_close(first);
    rig->taken.count = 0;
    assert_ok(queue_advance(second->queue, "order", 1000000, NULL));
    rig_close(second);
    first = rig_open(rig);
    rig_take(first, 2000);
    assert_true(numbers_lowest(&rig->taken, 0) > 1000000);
}

/* The same history says the store, and yet it is an older one. The ticket,
 * which may be of the same store, is what it was. */
TEST_WITH(DIRECT, a_store_that_forgot_what_is_kept_is_raised)
{
    struct rig_broker *broker;

    use_spool(rig);
    /* The other partition must not lift this one above what was kept. */
    fake_refuse(rig->stores[0], FAKE_RESERVE, "main/0/order", SEQB_REFUSED);
    broker = rig_open(rig);
    while (rig_partition(broker, 1).granted < 100)
        rig_take(broker, 1);
    rig_close(broker);
    fake_put(rig->stores[1], "main/1/order", 0);
    broker = rig_open(rig);
    RIG_AWAIT(kept(broker) > 0);
    rig_take(broker, 2000);
}

/* Of the numbers that are kept, too, none at or below it is given. */
TEST_WITH(DIRECT, kept_numbers_that_begin_there_are_dropped)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_DIRECT, 0);
    use_spool(rig);
    for (int64_t more = 0; more < 2; more++) {
        const struct seqb_sequence order = {.key = "order",
                                            .options = &rig->sequences[0]};

        broker = rig_open(rig);
        rig_take(broker, 1);
        rig_await_rest(broker);
        rig_close(broker);
        rig->queue.sequences = &rig->sequences[1];
        broker = rig_open(rig);
        assert_ok(flusher_drop(broker->queue->flusher, &order,
                               numbers_highest(&rig->taken) + more,
                               clock_now_ms() + RIG_PATIENCE_MS, NULL));
        rig_close(broker);
        rig->queue.sequences = &rig->sequences[0];
        broker = rig_open(rig);
        assert_int_equal(rig_status(broker, "order").stock > 0, more == 0);
        rig_close(broker);
    }
}

TEST_WITH(DIRECT, broker_does_not_open_with_a_path_that_is_too_long)
{
    static char path[8192];

    memset(path, 'x', sizeof path - 1);
    rig->queue.spool_path = path;
    rig_expect_open_fails(rig, SEQB_INVALID, "the path is too long");
}
