/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence moved forwards by an operator, over scripted stores: nothing at
 * or below the number is handed out afterwards, whatever is under way.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "queue/sequence.h"
#include "store/layout.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

#define COUNTER_0 "main/0/order"
#define COUNTER_1 "main/1/order"
#define SHIFT     3 /* bits below the counter value: two partitions, runs of 4 */

static void advance(struct rig_broker *broker, int64_t to)
{
    struct seqb_error err;

    if (queue_advance(broker->queue, "order", to, &err) != SEQB_OK)
        fail_msg("not advanced: %s", err.text);
}

static void expect_refused(struct rig_broker *broker, int64_t to,
                           enum seqb_status expected, const char *words)
{
    struct seqb_error err = {SEQB_OK, ""};

    assert_int_equal(queue_advance(broker->queue, "order", to, &err), expected);
    assert_int_equal(err.status, expected);
    rig_expect_words(err.text, words);
}

static void take_stock(struct rig_broker *broker)
{
    rig_await_rest(broker);
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
}

/* The number need not be a run's last. */
TEST_WITH(DIRECT, numbers_are_above_what_was_advanced_to)
{
    static const int64_t to[] = {100000, 200001, 300007, 400003, 1 << 30};
    struct rig_broker *broker = rig_open(rig);

    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        size_t before;

        rig_take(broker, 10);
        advance(broker, to[i]);
        assert_true(fake_value(rig->stores[0], COUNTER_0) > to[i] >> SHIFT);
        assert_true(fake_value(rig->stores[1], COUNTER_1) > to[i] >> SHIFT);
        before = rig->taken.count;
        take_stock(broker);
        rig_take(broker, 100);
        assert_true(numbers_lowest(&rig->taken, before) > to[i]);
        /* Nor is much more skipped than has to be. */
        assert_true(numbers_lowest(&rig->taken, before) <=
                    to[i] + (2 << SHIFT));
    }
}

TEST_WITH(WINDOWED, windows_are_skipped_as_a_whole)
{
    struct rig_broker *broker = rig_open(rig);
    const int64_t to = (int64_t)1000 << (8 + SHIFT); /* in window 1000 */

    rig_take(broker, 100);
    rig_await_rest(broker);
    advance(broker, to);
    assert_true(fake_window(rig->stores[0], COUNTER_0) > 1000);
    assert_true(fake_window(rig->stores[1], COUNTER_1) > 1000);
    rig->taken.count = 0;
    rig_take(broker, 1000);
    assert_true(numbers_lowest(&rig->taken, 0) > to);
}

/* The cells are above the number, and the authority was put back. Another
 * broker has no notes, and the cells are lost. */
TEST_WITH(WINDOWED, authority_is_raised_above_the_cells)
{
    struct rig_broker *broker = rig_open(rig);
    const int64_t to = (int64_t)1000 << (8 + SHIFT); /* in window 1000 */

    advance(broker, to);
    rig_take(broker, 1000);
    rig_close(broker);
    fake_put(rig->authority, "window/" COUNTER_0, 2);
    fake_put(rig->authority, "window/" COUNTER_1, 2);
    broker = rig_open(rig);
    advance(broker, to - 1);
    rig_close(broker);
    assert_true(fake_value(rig->authority, "window/" COUNTER_0) > 1000);
    assert_true(fake_value(rig->authority, "window/" COUNTER_1) > 1000);
    fake_flush(rig->stores[0]);
    fake_flush(rig->stores[1]);
    rig_use(rig, 10000);
}

TEST_WITH(DIRECT, what_is_dropped_was_not_taken)
{
    struct rig_broker *broker = rig_open(rig);

    events_start();
    advance(broker, 1000); /* it holds nothing yet */
    events_expect("event=dropped", "", 0);
    rig_take(broker, 10);
    rig_await_rest(broker);
    assert_true(rig_status(broker, "order").stock > 0);
    advance(broker, 1000000);
    events_expect("event=dropped", "advanced beyond 1000000", 1);
    assert_int_equal(rig_status(broker, "order").taken, 10);
    rig_take(broker, 10);
    assert_int_equal(rig_status(broker, "order").taken, 20);
    assert_true(rig_status(broker, "order").rate < 1000000);
}

TEST_WITH(DIRECT, sequence_never_goes_back)
{
    struct rig_broker *broker = rig_open(rig);
    const int64_t most =
        (layout_counter_max(1, 2) << SHIFT) - 1; /* one value is left */
    int64_t highest;
    int64_t granted;
    char words[64];

    rig_take(broker, 1);
    take_stock(broker);
    highest = numbers_highest(&rig->taken);
    assert_ok(queue_highest(broker->queue, "order", &granted, NULL));
    assert_int_equal(granted, highest);
    assert_status(queue_highest(broker->queue, "bid", &granted, NULL),
                  SEQB_UNKNOWN_KEY);
    (void)snprintf(words, sizeof words, "numbers up to %lld were granted",
                   (long long)highest);
    expect_refused(broker, 1, SEQB_INVALID, words);
    expect_refused(broker, highest - 1, SEQB_INVALID, words);
    expect_refused(broker, highest, SEQB_INVALID, words);
    expect_refused(broker, 0, SEQB_INVALID, "0 is no number");
    expect_refused(broker, -5, SEQB_INVALID, "-5 is no number");
    expect_refused(broker, most + 1, SEQB_INVALID, "beyond its bits");
    expect_refused(broker, INT64_MAX, SEQB_INVALID, "beyond its bits");
    assert_true(fake_value(rig->stores[0], COUNTER_0) <= highest >> SHIFT);
    advance(broker, highest + 1);
    /* Now the stores have granted more than that. */
    expect_refused(broker, highest + 1, SEQB_INVALID, "never goes back");
    advance(broker, most);
    rig->taken.count = 0;
    take_stock(broker);
    assert_true(numbers_lowest(&rig->taken, 0) > most);
    assert_int_equal(queue_advance(broker->queue, "no", 5, NULL),
                     SEQB_UNKNOWN_KEY);
}

TEST_WITH(WINDOWED, windowed_bits_have_their_bound)
{
    struct rig_broker *broker = rig_open(rig);
    const int64_t windows = layout_window_max(1, 2, 8);

    expect_refused(broker, windows << (8 + SHIFT), SEQB_INVALID,
                   "beyond its bits");
    advance(broker, (windows << (8 + SHIFT)) - 1);
    rig_take(broker, 1);
    assert_true(numbers_lowest(&rig->taken, 0) >= windows << (8 + SHIFT));
}

TEST_WITH(DIRECT, nothing_granted_yet_is_no_obstacle)
{
    struct rig_broker *broker;

    rig_use(rig, 1000);
    broker = rig_open(rig);
    advance(broker, 1); /* the stores are beyond it already */
    rig_take(broker, 1000);
}

TEST_WITH(DIRECT, partition_that_is_down_is_raised_before_it_is_used)
{
    struct rig_broker *broker = rig_open(rig);

    events_start();
    rig_take(broker, 10);
    fake_set_down(rig->stores[0], true);
    rig_take_until(broker, 0, SEQB_PARTITION_QUARANTINED);
    expect_refused(broker, 1000000, SEQB_UNAVAILABLE,
                   "; partition 0 (b0): fake store-0: is down");
    events_expect("event=advanced", "key=order", 1);
    events_expect("event=advanced", "b0", 1);
    assert_true(fake_value(rig->stores[1], COUNTER_1) > 1000000 >> SHIFT);
    assert_true(fake_value(rig->stores[0], COUNTER_0) < 1000000 >> SHIFT);
    fake_set_down(rig->stores[0], false);
    rig->taken.count = 0;
    rig_take_until(broker, 0, SEQB_PARTITION_UP);
    rig_take(broker, 1000);
    assert_true(numbers_lowest(&rig->taken, 0) > 1000000);
    assert_true(fake_value(rig->stores[0], COUNTER_0) > 1000000 >> SHIFT);
}

/* --- under way --- */

struct call {
    struct rig_broker *broker;
    int64_t out;
    enum seqb_status status;
    struct seqb_error err;
};

static void *take_one(void *argument)
{
    struct call *call = argument;

    call->status = rig_take_one(call->broker, &call->out, &call->err);
    return NULL;
}

static void *advance_far(void *argument)
{
    struct call *call = argument;

    call->status =
        queue_advance(call->broker->queue, "order", 1000000, &call->err);
    return NULL;
}

static bool has_floor(void *context)
{
    struct seqb_sequence *sequence =
        rig_sequence(((struct call *)context)->broker, "order");
    bool is_set;

    pthread_mutex_lock(&sequence->lock);
    is_set = sequence->floor > 0;
    pthread_mutex_unlock(&sequence->lock);
    return is_set;
}

/* The answer to a request that was sent before is too low, and is not handed
 * out; the store is asked again. */
TEST_WITH(ONE_DIRECT, grant_on_its_way_is_dropped)
{
    struct call taker;
    struct call operator_;
    pthread_t threads[2];

    taker.broker = rig_open(rig);
    operator_.broker = taker.broker;
    rig_take(taker.broker, 1);
    take_stock(taker.broker);
    fake_hang(rig->stores[0]);
    pthread_create(&threads[0], NULL, take_one, &taker);
    assert_true(fake_wait_for_hanging(rig->stores[0], 1, RIG_PATIENCE_MS));
    pthread_create(&threads[1], NULL, advance_far, &operator_);
    rig_await(has_floor, &operator_);
    fake_release(rig->stores[0]);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_ok(taker.status);
    assert_ok(operator_.status);
    assert_true(taker.out > 1000000);
}

/* Of an answer on its way that reaches above the number, what does is handed
 * out, and nothing beyond it. */
TEST_WITH(ONE_DIRECT, rest_of_a_grant_on_its_way_is_used)
{
    struct rig_broker *broker;
    struct seqb_sequence *order;
    int64_t value;

    rig->sequences[0].max_unused = 256;
    broker = rig_open(rig);
    order = rig_sequence(broker, "order");
    rig_take(broker, 1000);
    rig_await_rest(broker);
    value = fake_value(rig->stores[0], COUNTER_0);
    pthread_mutex_lock(&order->lock);
    (void)sequence_drop_below(order, (value + 4) << 2); /* runs of 4 */
    pthread_mutex_unlock(&order->lock);
    rig_take(broker, 2000);
    assert_int_equal(numbers_lowest(&rig->taken, 1000), (value + 5) << 2);
}

/* A run that begins at the number itself is too low as a whole, the next one is
 * not: wherever it comes from. */
TEST_WITH(ONE_DIRECT, run_that_begins_at_the_number_is_dropped)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *order;
    const int64_t to = 1000 << 2; /* runs of 4 */
    const struct ha_grant grant = {.first = to, .count = 2};
    const struct ring_slice slice = {.base = (uint64_t)to, .count = 4};
    int64_t number = 0;

    order = rig_sequence(broker, "order");
    rig_await_rest(broker);
    fake_hang(rig->stores[0]); /* all that comes is from here */
    pthread_mutex_lock(&order->lock);
    order->floor = to;
    (void)ring_drop(order->ring);
    pthread_mutex_unlock(&order->lock);
    sequence_put(order, to, 4);
    sequence_give_back(order, &slice);
    assert_int_equal(queue_try_run(order, 1, &number, NULL), SEQB_AGAIN);
    order->sink.deliver(&order->sink, &grant);
    assert_ok(queue_try_run(order, 1, &number, NULL));
    assert_int_equal(number, to + 4);
    fake_release(rig->stores[0]);
}

/* Its deadline has not come when the broker closes. */
TEST_WITH(DIRECT, advance_ends_when_the_broker_closes)
{
    struct call operator_;
    pthread_t thread;

    rig->sequences[0].max_unused = 1 << 16;
    rig_set_timeout(rig, RIG_FOREVER_MS);
    operator_.broker = rig_open(rig);
    rig_take(operator_.broker, 1);
    rig_await_rest(operator_.broker);
    rig_set_deadline(operator_.broker, "order", RIG_FOREVER_MS);
    fake_hang(rig->stores[0]);
    pthread_create(&thread, NULL, advance_far, &operator_);
    assert_true(fake_wait_for_hanging(rig->stores[0], 1, RIG_PATIENCE_MS));
    queue_end_waits(operator_.broker->queue, 0);
    pthread_join(thread, NULL);
    fake_release(rig->stores[0]);
    assert_int_equal(operator_.status, SEQB_UNAVAILABLE);
    rig_expect_words(operator_.err.text, "no answer in time");
}

#define TAKERS 3

/* What takers and the operator share. */
struct crowd {
    struct rig_broker *broker;
    _Atomic int64_t floor; /* advanced to, and the call has returned */
    atomic_bool is_over;
    _Atomic int64_t taken;
    _Atomic int64_t too_low;
    _Atomic int64_t failures;
};

/* By one, and by many at once. */
static void *taker_run(void *argument)
{
    struct crowd *crowd = argument;
    struct seqb_sequence *sequence = NULL;
    int64_t many[7];

    if (queue_find(crowd->broker->queue, "order", &sequence, NULL) != SEQB_OK)
        return NULL;
    for (size_t round = 0; !atomic_load(&crowd->is_over); round++) {
        const int64_t floor = atomic_load(&crowd->floor);
        const size_t n = round % 2 == 0 ? 1 : 7;

        if ((n == 1 ? queue_next(sequence, many, NULL)
                    : queue_next_many(sequence, n, many, NULL)) != SEQB_OK) {
            atomic_fetch_add(&crowd->failures, 1);
            continue;
        }
        for (size_t i = 0; i < n; i++)
            atomic_fetch_add(&crowd->too_low, many[i] <= floor);
        atomic_fetch_add(&crowd->taken, (int64_t)n);
    }
    return NULL;
}

/* Each time beyond all that was granted, which the error says. */
static void advance_beyond(struct crowd *crowd, int64_t gap)
{
    int64_t to;

    rig_take(crowd->broker, 1);
    to = numbers_highest(&crowd->broker->rig->taken) + gap;
    advance(crowd->broker, to);
    atomic_store(&crowd->floor, to);
    atomic_store(&crowd->taken, 0);
    RIG_AWAIT(atomic_load(&crowd->taken) > 0);
}

static void expect_none_too_low(struct rig *rig)
{
    struct crowd crowd = {.broker = rig_open(rig)};
    pthread_t threads[TAKERS];

    for (size_t i = 0; i < TAKERS; i++)
        pthread_create(&threads[i], NULL, taker_run, &crowd);
    for (size_t i = 0; i < rig_scaled(200); i++)
        advance_beyond(&crowd, (int64_t)1 << 32);
    atomic_store(&crowd.is_over, true);
    for (size_t i = 0; i < TAKERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&crowd.too_low), 0);
    assert_int_equal(atomic_load(&crowd.failures), 0);
}

TEST_WITH(DIRECT, no_taker_gets_what_is_too_low)
{
    rig->sequences[0].prefetch = true;
    expect_none_too_low(rig);
}

TEST_WITH(WINDOWED, no_taker_gets_what_is_too_low_of_a_window)
{
    rig->sequences[0].prefetch = true;
    expect_none_too_low(rig);
}
