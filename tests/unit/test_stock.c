/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the queue holds and when it asks, over scripted stores: calls are
 * counted, not time. What callers see is in test_queue.c.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "platform/clock.h"
#include "support/events.h"
#include "support/rig.h"

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

static void nothing_is_fetched_before_the_first_call(void **state)
{
    struct rig *rig = *state;

    rig->sequences[0].prefetch = true;
    (void)rig_sequence(rig_open(rig), "order");
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 0);
    assert_int_equal(fake_calls(rig->stores[1], FAKE_RESERVE), 0);
}

static void without_prefetch_only_waiting_fetches(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker = rig_open(rig);
    struct numbers numbers;
    int64_t calls;

    numbers_init(&numbers);
    for (int i = 0; i < 10; i++) {
        rig_take(broker, 1, &numbers);
        rig_await_rest(broker);
        calls = all_calls(rig);
        rig_take(broker, (size_t)rig_status(broker, "order").stock, &numbers);
        assert_int_equal(rig_status(broker, "order").stock, 0);
        assert_int_equal(all_calls(rig), calls);
    }
    assert_int_equal(rig_status(broker, "order").waits, 10);
    assert_int_equal(numbers_repeats(&numbers), 0);
    numbers_fini(&numbers);
}

struct refilling {
    struct rig *rig;
    struct rig_broker *broker;
    int64_t calls;
};

/* Or the mark was lowered meanwhile, as the rate falls. */
static bool was_asked_or_need_not_be(void *context)
{
    const struct refilling *refilling = context;
    const struct seqb_sequence_status status =
        rig_status(refilling->broker, "order");

    return status.stock > status.low_water ||
           fake_calls(refilling->rig->stores[0], FAKE_RESERVE) >
               refilling->calls;
}

static void with_prefetch_a_low_ring_is_filled_before_it_is_empty(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;
    struct refilling refilling = {.rig = rig};
    struct numbers numbers;

    numbers_init(&numbers);
    rig_shape(rig, RIG_DIRECT, 0);
    rig->sequences[0].prefetch = true;
    broker = rig_open(rig);
    refilling.broker = broker;
    rig_take(broker, 1, &numbers);
    rig_await_rest(broker);
    for (int i = 0; i < 2000; i++) {
        assert_true(rig_status(broker, "order").stock > 0);
        refilling.calls = fake_calls(rig->stores[0], FAKE_RESERVE);
        rig_take(broker, 1, &numbers);
        rig_await(was_asked_or_need_not_be, &refilling);
    }
    assert_int_equal(rig_status(broker, "order").waits, 1);
    assert_true(fake_calls(rig->stores[0], FAKE_RESERVE) > 1);
    numbers_fini(&numbers);
}

/* Numbers granted and not taken: all that a kill would lose. */
static int64_t unused(struct rig_broker *broker)
{
    return rig_partition(broker, 0).granted * RUN -
           rig_status(broker, "order").taken;
}

static void expect_bounded(struct rig *rig, int64_t max_unused, bool prefetch)
{
    struct rig_broker *broker;
    struct numbers numbers;

    numbers_init(&numbers);
    rig_shape(rig, RIG_DIRECT, 0);
    rig->sequences[0].prefetch = prefetch;
    rig->sequences[0].max_unused = max_unused;
    broker = rig_open(rig);
    for (size_t i = 0; i < rig_scaled(5000); i++) {
        rig_take(broker, i % 40 + 1, &numbers);
        assert_in_range(unused(broker), 0, max_unused + RUN - 1);
    }
    rig_close(broker);
    assert_int_equal(numbers_repeats(&numbers), 0);
    numbers_fini(&numbers);
}

static void no_more_than_max_unused_is_held(void **state)
{
    struct rig *rig = *state;

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

struct expected_deliveries {
    struct counting_sink *sink;
    int count;
};

static bool deliveries_have_come(void *context)
{
    const struct expected_deliveries *expected = context;
    int deliveries;

    pthread_mutex_lock(&expected->sink->lock);
    deliveries = expected->sink->deliveries;
    pthread_mutex_unlock(&expected->sink->lock);
    return deliveries >= expected->count;
}

static void asking_all_partitions_asks_for_no_more_in_all(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 8, 1001};
    struct rig *rig = *state;
    struct counting_sink sink = {.sink = {count_grant}};
    struct expected_deliveries expected = {.sink = &sink};
    struct ha_counter *counter;
    int64_t asked = 0;

    rig_shape(rig, RIG_DIRECT, 2);
    pthread_mutex_init(&sink.lock, NULL);
    assert_int_equal(ha_counter_new(ha_pool_at(rig_open(rig)->ha, 0), "bill", 2,
                                    &sink.sink, &counter, NULL),
                     SEQB_OK);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_int_equal(
            ha_counter_ask(counter, counts[i], HA_ASK_ALL, clock_now_ms()),
            counts[i]);
        asked += counts[i];
        expected.count += counts[i] < 4 ? (int)counts[i] : 4;
        rig_await(deliveries_have_come, &expected);
        assert_int_equal(sink.runs, asked);
    }
    rig_close(&rig->brokers[0]);
    ha_counter_free(counter);
    pthread_mutex_destroy(&sink.lock);
}

static void rescue_fetches_no_more_than_the_ring_holds(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;
    struct numbers numbers;

    numbers_init(&numbers);
    events_start();
    rig_shape(rig, RIG_DIRECT, 0);
    rig->sequences[0].max_unused = RUN;
    broker = rig_open(rig);
    for (int i = 0; i < 3; i++) {
        fake_lose_answers(rig->stores[0], FAKE_RESERVE, 1);
        rig_take_until_failed(broker, 0, i, &numbers);
        rig_await_use(broker, 0);
    }
    rig_take(broker, 100, &numbers);
    assert_int_equal(events_count("event=dropped", ""), 0);
    assert_int_equal(numbers_repeats(&numbers), 0);
    numbers_fini(&numbers);
}

/* --- doing nothing --- */

static bool was_silent(void *context)
{
    const int64_t calls = all_calls(context);

    nanosleep(&(struct timespec){0, 300000000}, NULL);
    return all_calls(context) == calls;
}

static void idle_broker_asks_nothing(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;
    struct numbers numbers;

    numbers_init(&numbers);
    rig->sequences[0].prefetch = true;
    broker = rig_open(rig);
    rig_await(was_silent, rig);
    rig_take(broker, 1000, &numbers);
    rig_await(was_silent, rig);
    numbers_fini(&numbers);
}

/* Probes are at least 100 ms apart, however many calls wait. */
static void stores_that_are_down_are_not_stormed(void **state)
{
    struct rig *rig = *state;
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t number;
    int64_t start_ms;
    int64_t calls;

    rig->sequences[0].prefetch = true;
    rig->sequences[0].deadline_ms = 1000;
    broker = rig_open(rig);
    rig_set_down(rig, true);
    start_ms = clock_now_ms();
    calls = all_calls(rig);
    assert_int_equal(rig_take_one(broker, &number, &err), SEQB_UNAVAILABLE);
    assert_int_equal(
        queue_try_run(rig_sequence(broker, "order"), 1, &number, &err),
        SEQB_UNAVAILABLE);
    nanosleep(&(struct timespec){0, 500000000}, NULL);
    calls = all_calls(rig) - calls;
    assert_in_range(calls, 2, 2 * ((clock_now_ms() - start_ms) / 100 + 3));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        DIRECT(nothing_is_fetched_before_the_first_call),
        DIRECT(without_prefetch_only_waiting_fetches),
        DIRECT(with_prefetch_a_low_ring_is_filled_before_it_is_empty),
        DIRECT(no_more_than_max_unused_is_held),
        DIRECT(asking_all_partitions_asks_for_no_more_in_all),
        DIRECT(rescue_fetches_no_more_than_the_ring_holds),
        DIRECT(idle_broker_asks_nothing),
        WINDOWED(idle_broker_asks_nothing),
        DIRECT(stores_that_are_down_are_not_stormed),
        WINDOWED(stores_that_are_down_are_not_stormed),
    };

    return cmocka_run_group_tests_name("stock", tests, NULL, NULL);
}
