/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sequence without a broker: what its plans are made of, what it takes of
 * grants and gives back, and what it does once it is over. The counter and the
 * plans are scripted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/thread.h"
#include "queue/sequence_take.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/test.h"
#include "support/wrap.h"

#define BITS     2 /* runs of four */
#define RUN      INT64_C(4)
#define SEGMENTS 8
#define NOW      INT64_C(5000)

static struct source_context context;
static struct seqb_sequence *order;

static struct {
    struct ha_view ha;
    struct refill_plan plan;
    struct refill_rules rules; /* what the last plan was made of */
    struct refill_view view;
    uint32_t partitions;
    int looks, calls, wakes, readies, rests, searches;
    int64_t now_ms, held;
    bool is_unasked;
    enum seqb_status available;
} script;

WRAPPED(void, ha_counter_view, struct ha_counter *counter, int64_t now_ms,
        struct ha_view *out)
{
    (void)counter;
    assert_int_equal(now_ms, script.now_ms);
    script.looks++;
    *out = script.ha;
}

WRAPPED(int64_t, ha_counter_ask, struct ha_counter *counter, int64_t count,
        enum ha_spread spread, int64_t now_ms)
{
    (void)counter;
    (void)count;
    (void)spread;
    (void)now_ms;
    return 0;
}

WRAPPED(uint32_t, ha_counter_partitions, const struct ha_counter *counter)
{
    (void)counter;
    return script.partitions;
}

WRAPPED(int32_t, ha_counter_window_bits, const struct ha_counter *counter)
{
    (void)counter;
    return 7;
}

WRAPPED(int64_t, ha_counter_runs_out_ms, struct ha_counter *counter,
        int64_t now_ms)
{
    (void)counter;
    return now_ms + 9;
}

WRAPPED(const char *, ha_counter_pool_name, const struct ha_counter *counter)
{
    (void)counter;
    return "main";
}

WRAPPED(struct refill_plan, refill_decide, struct refill *refill,
        const struct refill_rules *rules, const struct refill_view *view)
{
    (void)refill;
    script.rules = *rules;
    script.view = *view;
    return script.plan;
}

WRAPPED(int64_t, clock_now_ms, void)
{
    return script.now_ms;
}

/* What is in flight is answered at the third wait. */
WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    assert_ptr_equal(condition, &order->filled);
    assert_int_equal(pthread_mutex_trylock(lock), EBUSY);
    assert_int_equal(until_ms, script.now_ms + SEQUENCE_SOON_MS);
    script.now_ms = until_ms;
    script.ha.all = ++script.rests < 3;
    return false;
}

WRAPPED(bool, ha_counter_is_unasked, struct ha_counter *counter)
{
    (void)counter;
    return script.is_unasked;
}

WRAPPED(enum seqb_status, ha_counter_availability, struct ha_counter *counter,
        struct seqb_error *err)
{
    (void)counter;
    return error_set(err, script.available, "a store is away");
}

WRAPPED(void, ha_counter_hold, struct ha_counter *counter, int64_t number)
{
    (void)counter;
    script.held = number;
}

WRAPPED(void, wakeup_set, struct wakeup *wakeup)
{
    script.searches += wakeup == &context.flusher;
}

WRAPPED(int, pthread_cond_broadcast, pthread_cond_t *condition)
{
    script.calls += condition == &order->filled;
    return 0;
}

WRAPPED(void, agenda_wake, struct agenda *agenda,
        struct seqb_sequence *sequence)
{
    (void)agenda;
    script.wakes += sequence == order;
}

static void be_ready(void *unused)
{
    (void)unused;
    script.readies++;
}

static int setup(void **state)
{
    static const struct queue_sequence_options options = {.memory_bits = BITS};

    memset(&script, 0, sizeof script);
    script.ha.late_ms = INT64_MAX;
    script.partitions = 1;
    script.now_ms = NOW;
    order = aligned_alloc(RING_LINE, sizeof *order);
    assert_non_null(order);
    memset(order, 0, sizeof *order);
    order->context = &context;
    order->key = "order";
    order->options = &options;
    order->settings = &order->own_settings;
    order->own_settings.texts = &options;
    order->own_settings.max_unused = 100;
    order->ring = aligned_alloc(RING_LINE, ring_size(SEGMENTS));
    assert_non_null(order->ring);
    memset(order->ring, 0, ring_size(SEGMENTS));
    order->ring = ring_init(order->ring, SEGMENTS, BITS, 0);
    order->ready = be_ready;
    *state = order;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(order->spare);
    free(order->ring);
    free(order);
    return 0;
}

#define ALONE FIXTURE(struct seqb_sequence *unused, setup, teardown)

static int64_t stock(void)
{
    return (int64_t)ring_stock(order->ring);
}

static void grant(int64_t first, int64_t runs, bool is_void)
{
    const struct ha_grant grant = {first, runs, is_void};

    script.calls = script.wakes = 0;
    sequence_deliver(&order->sink, &grant);
}

/* --- plans --- */

TEST_WITH(ALONE, plan_is_made_of_what_there_is_and_what_comes)
{
    int64_t next_ms;
    uint64_t before;

    grant(400, 2, false);
    script.ha.all = 5;
    script.ha.fresh = 3;
    script.ha.delay_ms = 7;
    script.plan.low = 6;
    script.plan.target = 50;
    assert_true(sequence_refill(order, NOW, &next_ms));
    assert_int_equal(script.view.stock, 8);
    assert_int_equal(script.view.room, 2 * (100 + RUN) - 8 - 5 * RUN);
    assert_int_equal(script.view.fresh, 3 * RUN);
    assert_int_equal(script.view.delay_ms, 7);
    assert_int_equal(order->low, 0); /* nothing is fetched ahead */
    assert_int_equal(order->target, 50);
    assert_int_equal(order->asked.target, 0); /* it asked for nothing */
    before = order->ring->low;
    order->own_settings.prefetch = true;
    script.plan.runs = 1;
    (void)sequence_refill(order, NOW, &next_ms);
    assert_int_equal(order->low, 6);
    assert_true(order->ring->low != before);
    assert_int_equal(order->asked.target, 50);
    script.partitions = SEGMENTS + 1; /* each may need a segment */
    (void)sequence_refill(order, NOW, &next_ms);
    assert_int_equal(script.view.room, 0);
}

/* Nor does it have numbers fetched ahead, and who armed it late is called. */
static void expect_no_look(void)
{
    int64_t next_ms = 0;

    script.looks = 0;
    order->is_armed = true;
    assert_false(sequence_refill(order, NOW, &next_ms));
    assert_true(next_ms == INT64_MAX);
    assert_int_equal(script.looks, 0);
    assert_true(sequence_ask(order, NOW).late_ms == INT64_MAX);
    assert_int_equal(script.looks, 0);
}

TEST_WITH(ALONE, sequence_that_is_over_asks_for_nothing)
{
    script.plan.runs = 1;
    order->own_settings.is_removed = true;
    expect_no_look();
    assert_int_equal(script.readies, 1);
    order->own_settings.is_removed = false;
    order->is_over = true;
    expect_no_look();
    assert_int_equal(script.readies, 2);
    order->is_over = false;
    order->own_settings.admission = SEQUENCE_ADMITTING;
    expect_no_look();
    assert_int_equal(script.readies, 2);
    order->own_settings.admission = SEQUENCE_ADMITTED;
    assert_true(sequence_ask(order, NOW).is_short);
    assert_int_equal(script.looks, 1);
}

TEST_WITH(ALONE, look_has_the_spool_searched)
{
    int64_t next_ms;

    order->may_be_kept = true;
    for (int i = 0; i < 2; i++) {
        (void)sequence_refill(order, NOW, &next_ms);
        assert_int_equal(script.searches, 1);
    }
    assert_true(order->is_missed);
}

/* --- grants --- */

TEST_WITH(ALONE, grant_wakes_those_who_wait)
{
    order->waiters = 1;
    sequence_set_without_number(order);
    order->is_armed = true;
    grant(400, 0, false); /* it failed */
    assert_int_equal(script.calls, 1);
    assert_int_equal(script.wakes, 1);
    assert_int_equal(script.readies, 1);
    assert_int_equal(context.without_number, 1);
    assert_int_equal(stock(), 0);
    grant(400, 1, false);
    assert_int_equal(script.calls, 1);
    assert_int_equal(script.wakes, 0);
    assert_int_equal(context.without_number, 0);
    assert_int_equal(stock(), RUN);
    assert_int_equal(order->granted, RUN);
    order->waiters = 0;
    order->low = RUN + 1;
    grant(500, 1, false);
    assert_int_equal(script.calls, 0);
    assert_int_equal(script.wakes, 0);
    order->low = 3 * RUN;
    grant(600, 1, false);
    assert_int_equal(script.wakes, 1);
    order->own_settings.is_removed = true;
    grant(700, 1, false);
    assert_int_equal(stock(), 3 * RUN);
    assert_int_equal(context.without_number, 0); /* it was counted once */
}

/* Its stripes hold some of them. */
static void hold(int64_t first, uint64_t numbers)
{
    void *memory = aligned_alloc(RING_LINE, sizeof *order->spare);

    assert_non_null(memory);
    order->spare =
        stripes_init(memset(memory, 0, sizeof *order->spare), order->ring);
    grant(first, (int64_t)numbers / RUN, false);
    stripes_set_slice(order->spare, numbers);
    order->stripes = order->spare;
    assert_true(sequence_take_one(order, &(int64_t){0}));
}

TEST_WITH(ALONE, void_grant_drops_all_and_is_told)
{
    events_start();
    hold(400, 8);
    grant(800, 2, false);
    grant(0, 0, true);
    assert_int_equal(stock(), 0);
    assert_int_equal(events_count("event=dropped key=order numbers=15", ""), 1);
    grant(900, 3, false);
    grant(0, 0, true);
    assert_int_equal(stock(), 0);
    assert_int_equal(events_count("event=dropped", ""), 1);
    events_stop();
}

TEST_WITH(ALONE, all_are_dropped_and_callers_look_again)
{
    order->waiters = 1;
    hold(400, 8);
    script.calls = 0;
    assert_int_equal(sequence_drop_all(order), 7);
    assert_int_equal(script.calls, 1);
    assert_int_equal(stock(), 0);
}

/* Not those at the floor. */
TEST_WITH(ALONE, numbers_above_the_floor_are_given_back)
{
    struct ring_slice slice;
    enum ring_taken taken;

    grant(400, 2, false);
    order->waiters = 1;
    order->is_armed = true;
    taken = ring_take_slice(order->ring, 8, RING_SEGMENT, &slice);
    assert_true(taken != RING_EMPTY);
    order->floor = 400;
    script.calls = 0;
    sequence_give_back(order, &slice);
    assert_int_equal(stock(), 0);
    assert_int_equal(script.calls, 1);
    assert_int_equal(script.readies, 1);
    order->floor = 399;
    sequence_give_back(order, &slice);
    assert_int_equal(stock(), 8);
}

TEST_WITH(ALONE, calm_sequence_has_no_stripes)
{
    int64_t next_ms;

    order->may_stripe = true;
    hold(400, 8);
    assert_true(sequence_refill(order, NOW, &next_ms));
    assert_int_equal(order->spare->slice, 0);
    assert_null(order->stripes);
    assert_int_equal(stock(), 7);
    assert_false(sequence_refill(order, NOW, &next_ms));
}

/* --- what it tells --- */

TEST_WITH(ALONE, numbers_that_wait_for_texts_are_told)
{
    struct queue_sequence_options texts = {.text_max = 0};
    struct ha_texts out;

    order->own_settings.texts = &texts;
    grant(400, 2, false);
    sequence_read_texts(&order->sink, &out);
    assert_int_equal(out.max, 0);
    assert_int_equal(out.stock, 0);
    texts.text_max = 1;
    sequence_read_texts(&order->sink, &out);
    assert_int_equal(out.max, 1);
    assert_int_equal(out.stock, 8);
}

TEST_WITH(ALONE, status_tells_how_many_numbers_the_texts_have)
{
    struct queue_sequence_options texts = {.width_numbers = 11,
                                           .pool_numbers = 22};
    struct seqb_sequence_status status;

    order->own_settings.texts = &texts;
    order->low = 5;
    sequence_status(order, NOW, &status);
    assert_true(status.width_numbers == INT64_MAX);
    assert_true(status.pool_numbers == INT64_MAX);
    assert_int_equal(status.low_water, 5);
    assert_int_equal(status.window_bits, 7);
    assert_int_equal(status.runs_out_ms, NOW + 9);
    texts.template = (const struct template *)&script;
    sequence_status(order, NOW, &status);
    assert_int_equal(status.width_numbers, 11);
    assert_int_equal(status.pool_numbers, 22);
}

/* --- the stores' answer, and the end --- */

TEST_WITH(ALONE, answer_is_told_to_those_who_wait)
{
    order->is_armed = true;
    sequence_settle(order, SEQUENCE_ADMITTED);
    assert_int_equal(script.calls, 1);
    assert_int_equal(script.wakes, 1);
    assert_int_equal(script.readies, 0);
    sequence_settle(order, SEQUENCE_REFUSED);
    assert_int_equal(script.calls, 2);
    assert_int_equal(script.readies, 1);
    order->source = &source_snowflake; /* which has nothing to drop */
    order->is_armed = true;
    sequence_remove(order, false);
    assert_int_equal(script.calls, 3);
    assert_int_equal(script.readies, 2);
}

/* The reason is that of its counter if a store of another pool is away. */
TEST_WITH(ALONE, sequence_says_what_it_waits_for)
{
    script.available = SEQB_UNAVAILABLE;
    order->own_settings.admission = SEQUENCE_ADMITTING;
    assert_fails(sequence_admitting(order, SEQB_TIMEOUT, &failure),
                 SEQB_TIMEOUT, "order is new");
    script.is_unasked = true;
    assert_true(sequence_is_unasked(order));
    assert_fails(sequence_admitting(order, SEQB_TIMEOUT, &failure),
                 SEQB_TIMEOUT, "a store is away");
    script.available = SEQB_LAYOUT;
    assert_fails(sequence_admitting(order, SEQB_TIMEOUT, &failure),
                 SEQB_TIMEOUT, "order is new");
    order->own_settings.admission = SEQUENCE_ADMITTED;
    assert_false(sequence_is_unasked(order));
}

TEST_WITH(ALONE, kept_numbers_are_told_to_who_is_called)
{
    order->is_armed = true;
    sequence_put(order, 400, 8);
    assert_int_equal(script.held, 407);
    assert_int_equal(script.readies, 1);
}

TEST_WITH(ALONE, end_waits_for_what_is_in_flight)
{
    script.ha.all = 1;
    sequence_finish(order, NOW + INT64_C(2) * SEQUENCE_SOON_MS);
    assert_int_equal(script.rests, 2); /* it is that time */
    script.rests = 0;
    script.ha.all = 1;
    sequence_finish(order, NOW + 1000);
    assert_int_equal(script.rests, 3);
    assert_int_equal(script.looks, 3 + 4);
}
