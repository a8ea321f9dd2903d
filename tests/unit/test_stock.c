/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the queue holds and when it asks, over scripted stores: calls are
 * counted, not time. What callers see is in test_queue.c.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/clock.h"
#include "queue/sequence.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

#define RUN 4 /* 2^memory_bits of the rig */

/* Calls of every kind, of every store. */
static int64_t all_calls(const struct rig *rig)
{
    int64_t calls = 0;

    for (int i = 0; i < FAKE_CALLS; i++) {
        for (size_t j = 0; j < RIG_PARTITIONS; j++)
            calls += fake_calls(rig->stores[j], (enum fake_call)i);
        calls += fake_calls(rig->authority, (enum fake_call)i);
    }
    return calls;
}

TEST_WITH(DIRECT, nothing_is_fetched_before_the_first_call)
{
    rig->sequences[0].prefetch = true;
    assert_string_equal(rig_status(rig_open(rig), "order").pool, "main");
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 0);
    assert_int_equal(fake_calls(rig->stores[1], FAKE_RESERVE), 0);
}

TEST_WITH(DIRECT, without_prefetch_only_waiting_fetches)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t calls;

    for (int i = 0; i < 10; i++) {
        rig_take(broker, 1);
        rig_await_rest(broker);
        calls = all_calls(rig);
        rig_take(broker, (size_t)rig_status(broker, "order").stock);
        assert_int_equal(rig_status(broker, "order").stock, 0);
        assert_int_equal(all_calls(rig), calls);
    }
    assert_int_equal(rig_status(broker, "order").waits, 10);
}

/* Or the mark was lowered meanwhile, as the rate falls. */
static bool was_asked_or_need_not_be(struct rig_broker *broker, int64_t calls)
{
    const struct seqb_sequence_status status = rig_status(broker, "order");

    return status.stock > status.low_water ||
           fake_calls(broker->rig->stores[0], FAKE_RESERVE) > calls;
}

TEST_WITH(ONE_DIRECT, with_prefetch_a_low_ring_is_filled_before_it_is_empty)
{
    struct rig_broker *broker;

    rig->sequences[0].prefetch = true;
    broker = rig_open(rig);
    rig_take(broker, 1);
    rig_await_rest(broker);
    for (int i = 0; i < 2000; i++) {
        int64_t calls;

        assert_true(rig_status(broker, "order").stock > 0);
        calls = fake_calls(rig->stores[0], FAKE_RESERVE);
        rig_take(broker, 1);
        RIG_AWAIT(was_asked_or_need_not_be(broker, calls));
    }
    assert_int_equal(rig_status(broker, "order").waits, 1);
    assert_true(fake_calls(rig->stores[0], FAKE_RESERVE) > 1);
}

/* Numbers granted and not taken: all that a kill would lose. */
static int64_t unused(struct rig_broker *broker)
{
    return rig_partition(broker, 0).granted * RUN -
           rig_status(broker, "order").taken;
}

/* As it is found with or without numbers, somebody who waits, and somebody who
 * is to be called. */
static bool is_starved(struct seqb_sequence *sequence, bool has_stock,
                       bool is_awaited, bool is_armed)
{
    struct sequence_poll look;

    pthread_mutex_lock(&sequence->lock);
    if (!has_stock)
        (void)sequence_drop_below(sequence, 0);
    assert_int_equal(ring_stock(sequence->ring) > 0, has_stock);
    atomic_store(&sequence->waiters, is_awaited);
    atomic_store(&sequence->is_armed, is_armed);
    look = sequence_ask(sequence, clock_now_ms());
    atomic_store(&sequence->waiters, 0);
    atomic_store(&sequence->is_armed, false);
    pthread_mutex_unlock(&sequence->lock);
    return look.is_starved;
}

static void expect_starved(struct rig *rig, bool prefetch)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;

    rig->sequences[0].prefetch = prefetch;
    broker = rig_open(rig);
    sequence = rig_sequence(broker, "order");
    assert_ok(rig_take_one(broker, &(int64_t){0}, NULL));
    rig_await_rest(broker);
    assert_false(is_starved(sequence, true, false, false));
    assert_true(is_starved(sequence, true, false, true));
    assert_true(is_starved(sequence, true, true, false));
    assert_int_equal(is_starved(sequence, false, false, false), prefetch);
    assert_true(is_starved(sequence, false, true, true));
    rig_close(broker);
}

static bool has_mark(struct seqb_sequence *sequence)
{
    bool result;

    pthread_mutex_lock(&sequence->lock);
    ring_set_low(sequence->ring, 0);
    (void)sequence_ask(sequence, clock_now_ms());
    result = atomic_load(&sequence->ring->low) != UINT64_MAX;
    pthread_mutex_unlock(&sequence->lock);
    return result;
}

/* Without waiting for a delivery. */
TEST_WITH(DIRECT, every_plan_sets_the_mark)
{
    struct rig_broker *broker;

    rig->sequences[0].prefetch = true;
    broker = rig_open(rig);
    assert_ok(rig_take_one(broker, &(int64_t){0}, NULL));
    rig_await_rest(broker);
    assert_true(has_mark(rig_sequence(broker, "order")));
}

/* Whoever waits is; with prefetch an empty ring is enough. */
TEST_WITH(DIRECT, who_is_starved_asks_at_once)
{
    expect_starved(rig, false);
    expect_starved(rig, true);
}

/* Counted in numbers, not in runs; nobody but the test asks meanwhile. */
TEST_WITH(DIRECT, what_is_under_way_is_not_asked_for_again)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *sequence = rig_sequence(broker, "order");
    const int64_t now_ms = clock_now_ms();
    struct sequence_poll looks[2];

    for (int i = 0; i < 2; i++)
        fake_hang(rig->stores[i]);
    pthread_mutex_lock(&sequence->lock);
    atomic_store(&sequence->is_armed, true);
    atomic_store(&sequence->wanted, (int64_t)5 * RUN);
    for (int i = 0; i < 2; i++)
        looks[i] = sequence_ask(sequence, now_ms);
    pthread_mutex_unlock(&sequence->lock);
    for (int i = 0; i < 2; i++)
        fake_release(rig->stores[i]);
    assert_true(looks[0].is_starved && looks[0].is_short);
    assert_true(looks[1].is_starved && !looks[1].is_short);
    assert_true(looks[1].is_used);
}

static void expect_bounded(struct rig *rig, int64_t max_unused, bool prefetch)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_DIRECT, 0);
    rig->sequences[0].prefetch = prefetch;
    rig->sequences[0].max_unused = max_unused;
    broker = rig_open(rig);
    for (size_t i = 0; i < rig_scaled(5000); i++) {
        rig_take(broker, i % 40 + 1);
        assert_in_range(unused(broker), 0, max_unused + RUN - 1);
    }
    rig_close(broker);
}

TEST_WITH(DIRECT, no_more_than_max_unused_is_held)
{
    events_start();
    expect_bounded(rig, RUN, true);
    expect_bounded(rig, 64, true);
    expect_bounded(rig, 1000, true);
    expect_bounded(rig, 64, false);
    assert_int_equal(events_count("event=dropped", ""), 0);
}

/* A taker of grants that only counts them. */
struct counting_sink {
    struct ha_sink sink;
    pthread_mutex_t lock;
    int64_t runs;
    int deliveries;
};

static void count_grant(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct counting_sink *counting = (struct counting_sink *)sink;

    pthread_mutex_lock(&counting->lock);
    counting->runs += grant->count;
    counting->deliveries++;
    pthread_mutex_unlock(&counting->lock);
}

/* A slot may be asked again only a while after its runs are delivered. */
static bool deliveries_have_come(struct counting_sink *sink,
                                 struct ha_counter *counter, int count)
{
    struct ha_view view;
    int deliveries;

    ha_counter_view(counter, clock_now_ms(), &view);
    pthread_mutex_lock(&sink->lock);
    deliveries = sink->deliveries;
    pthread_mutex_unlock(&sink->lock);
    return deliveries >= count && view.all == 0;
}

TEST_WITH(DIRECT, asking_all_partitions_asks_for_no_more_in_all)
{
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 1001};
    struct counting_sink sink = {.sink = {count_grant}};
    struct ha_counter *counter;
    int64_t asked = 0;
    int expected = 0;

    rig_shape(rig, RIG_DIRECT, 2);
    pthread_mutex_init(&sink.lock, NULL);
    assert_ok(ha_counter_new(ha_pool_at(rig_open(rig)->ha, 0), "bill", 2,
                             &sink.sink, &counter, NULL));
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_int_equal(
            ha_counter_ask(counter, counts[i], HA_ASK_ALL, clock_now_ms()),
            counts[i]);
        asked += counts[i];
        expected += counts[i] < 4 ? (int)counts[i] : 4;
        RIG_AWAIT(deliveries_have_come(&sink, counter, expected));
        assert_int_equal(sink.runs, asked);
    }
    rig_close(&rig->brokers[0]);
    ha_counter_free(counter);
    pthread_mutex_destroy(&sink.lock);
}

TEST_WITH(ONE_DIRECT, rescue_fetches_no_more_than_the_ring_holds)
{
    struct rig_broker *broker;

    events_start();
    rig->sequences[0].max_unused = RUN;
    broker = rig_open(rig);
    for (int i = 0; i < 3; i++) {
        fake_lose_answers(rig->stores[0], FAKE_RESERVE, 1);
        rig_take_until_failed(broker, 0, i);
        rig_await_use(broker, 0);
    }
    rig_take(broker, 100);
    assert_int_equal(events_count("event=dropped", ""), 0);
}

/* --- doing nothing --- */

static bool was_silent(void *context)
{
    const int64_t calls = all_calls(context);

    nanosleep(&(struct timespec){0, 300000000}, NULL);
    return all_calls(context) == calls;
}

TEST_WITH(DIRECT, idle_broker_asks_nothing)
{
    struct rig_broker *broker;

    rig->sequences[0].prefetch = true;
    broker = rig_open(rig);
    rig_await(was_silent, rig);
    rig_take(broker, 1000);
    rig_await(was_silent, rig);
}
TEST_ALSO(WINDOWED, idle_broker_asks_nothing);

/* Probes are at least 100 ms apart, however many calls wait. */
TEST_WITH(DIRECT, stores_that_are_down_are_not_stormed)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t start_ms;
    int64_t calls;

    rig->sequences[0].prefetch = true;
    rig->sequences[0].deadline_ms = 1000;
    broker = rig_open(rig);
    rig_set_down(rig, true);
    start_ms = clock_now_ms();
    calls = all_calls(rig);
    err = rig_take_refused(broker, "order");
    assert_int_equal(err.status, SEQB_UNAVAILABLE);
    assert_int_equal(
        queue_try_run(rig_sequence(broker, "order"), 1, &(int64_t){0}, &err),
        SEQB_UNAVAILABLE);
    nanosleep(&(struct timespec){0, 500000000}, NULL);
    calls = all_calls(rig) - calls;
    assert_in_range(calls, 2, 2 * ((clock_now_ms() - start_ms) / 100 + 3));
}
TEST_ALSO(WINDOWED, stores_that_are_down_are_not_stormed);

static bool has_nothing_under_way(const struct seqb_sequence *sequence)
{
    struct ha_view view;

    ha_counter_view(sequence->counter, clock_now_ms(), &view);
    return view.all == 0;
}

/* At a stop: what the stores still owe is waited for, but not for good. */
TEST_WITH(DIRECT, what_is_under_way_is_settled_in_its_time)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    int64_t until_ms;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    sequence = rig_sequence(broker, "order");
    fake_hang(rig->stores[0]);
    fake_hang(rig->stores[1]);
    (void)ha_counter_ask(sequence->counter, 2, HA_ASK_ALL, clock_now_ms());
    until_ms = clock_now_ms() + 20;
    sequence_finish(sequence, until_ms);
    assert_false(has_nothing_under_way(sequence));
    assert_true(clock_now_ms() >= until_ms);
    fake_release(rig->stores[0]);
    fake_release(rig->stores[1]);
    sequence_finish(sequence, clock_now_ms() + RIG_PATIENCE_MS);
    assert_true(has_nothing_under_way(sequence));
}
