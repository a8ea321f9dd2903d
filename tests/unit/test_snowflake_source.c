/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences of snowflakes, over a generator and clocks that the test sets: when
 * a call waits, how long, and what it says. Which ids a generator makes is
 * test_generator.c's.
 */
#include <string.h>

#include "flake_fixture.h"
#include "generator_script.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "queue/queue_state.h"
#include "queue/snowflake/snowflake.h"
#include "support/failure.h"
#include "support/test.h"

/* "order", whose generator has `left` ids in this ms, and `each` in others. */
static struct seqb_sequence *order_with(struct rig *rig, size_t left,
                                        size_t each)
{
    struct seqb_sequence *order = rig_sequence(rig_open(rig), "order");

    script_begin();
    script.left = left;
    script.each = each;
    return order;
}

static int teardown(void **state)
{
    script.is_on = false;
    return rig_teardown(state);
}

#define ORDER FIXTURE(struct rig *rig, flake_setup, teardown)

static int64_t waits_of(const struct seqb_sequence *order)
{
    return (int64_t)atomic_load(&order->ring->waits);
}

static enum seqb_status take(struct seqb_sequence *order, size_t count,
                             int64_t until_ms)
{
    int64_t ids[20] = {0};
    const enum seqb_status status = queue_take(
        order,
        &(struct queue_take){.out = ids, .count = count, .until_ms = until_ms},
        &failure);

    for (size_t i = 0; status == SEQB_OK && i < count; i++)
        assert_int_equal(ids[i], FIRST + (int64_t)i);
    assert_int_equal(ids[count], 0);
    assert_int_equal(atomic_load(&order->waiters), 0);
    return status;
}

/* --- waiting --- */

TEST_WITH(ORDER, ids_at_hand_are_not_waited_for)
{
    assert_ok(take(order_with(rig, 3, 0), 3, NOW));
    assert_int_equal(script.rests + script.waits, 0);
    assert_int_equal(rig_status(&rig->brokers[0], "order").waits, 0);
}

TEST_WITH(ORDER, call_goes_on_in_the_next_ms)
{
    struct seqb_sequence *order = order_with(rig, 3, 4);

    assert_ok(take(order, 9, NOW + 1000));
    assert_int_equal(script.rests, 2);
    assert_int_equal(waits_of(order), 1);
    script.next = FIRST;
    script.left = 0;
    script.status = SEQB_UNAVAILABLE;
    assert_ok(take(order, 4, NOW + 1000));
    assert_int_equal(script.rests, 2);
    assert_int_equal(script.waits, 1);
}

TEST_WITH(ORDER, run_waits_for_a_ms_that_has_it)
{
    int64_t first[2] = {0};
    const struct queue_take run = {
        .out = first, .count = 3, .is_contiguous = true};
    struct seqb_sequence *order = order_with(rig, 2, 4);

    assert_ok(queue_take(order, &run, NULL));
    assert_int_equal(first[0], FIRST);
    assert_int_equal(first[1], 0);
    assert_int_equal(script.rests, 1);
    assert_int_equal(script.left, 1);
}

/* Its own, or the sequence's. */
TEST_WITH(ORDER, call_waits_until_its_deadline)
{
    struct seqb_sequence *order = order_with(rig, 0, 0);

    assert_status(take(order, 1, NOW), SEQB_TIMEOUT);
    assert_int_equal(script.rests, 0);
    assert_status(take(order, 1, NOW + 2), SEQB_TIMEOUT);
    assert_int_equal(script.rests, 2);
    atomic_store(&order->settings->deadline_ms, 3);
    assert_status(take(order, 1, 0), SEQB_TIMEOUT);
    assert_string_equal(failure.text,
                        "sequence order: every id of its ms was taken until "
                        "the deadline (its own is 3 ms)");
    assert_int_equal(script.rests, 5);
    script.status = SEQB_UNAVAILABLE;
    assert_fails(take(order, 1, script.now_ms + 2 * REST + 1), SEQB_UNAVAILABLE,
                 "scripted");
    assert_int_equal(script.waits, 3);
    assert_int_equal(script.rests, 5);
}

TEST_WITH(ORDER, run_is_of_one_ms_or_times_out)
{
    int64_t first = 0;
    const struct queue_take run = {
        .out = &first, .count = 3, .is_contiguous = true, .until_ms = NOW + 5};

    assert_status(queue_take(order_with(rig, 2, 2), &run, NULL), SEQB_TIMEOUT);
    assert_int_equal(script.rests, 5);
}

TEST_WITH(ORDER, what_does_not_pass_is_not_waited_for)
{
    struct seqb_sequence *order = order_with(rig, 0, 0);

    script.status = SEQB_EXHAUSTED;
    assert_status(take(order, 1, NOW + 100), SEQB_EXHAUSTED);
    assert_int_equal(waits_of(order), 0);
    script.status = SEQB_AGAIN;
    script.later = SEQB_CLOSED;
    assert_status(take(order, 1, NOW + 100), SEQB_CLOSED);
    assert_int_equal(script.rests, 1);
}

TEST_WITH(ORDER, closed_sequence_is_not_rested_for)
{
    struct seqb_sequence *order = order_with(rig, 0, 0);

    script.status = SEQB_UNAVAILABLE;
    script.pace_ms = 1;
    order->is_closed = true;
    assert_status(take(order, 1, NOW + 3), SEQB_UNAVAILABLE);
    order->is_closed = false;
    assert_int_equal(script.waits, 0);
}

TEST_WITH(ORDER, nothing_is_taken_before_it_is_admitted)
{
    struct seqb_sequence *order = order_with(rig, 9, 9);
    int64_t id = 0;

    atomic_store(&order->settings->admission, SEQUENCE_ADMITTING);
    assert_fails(take(order, 1, NOW + 1), SEQB_UNAVAILABLE, "is new");
    assert_int_equal(script.waits, 1);
    assert_status(queue_try_next(order, &id, &failure), SEQB_AGAIN);
    script.leaves = order;
    assert_status(take(order, 1, NOW + 100), SEQB_UNKNOWN_KEY);
    assert_int_equal(script.waits, 2);
    atomic_store(&order->settings->admission, SEQUENCE_ADMITTED);
    assert_status(take(order, 1, NOW + 100), SEQB_UNKNOWN_KEY);
    assert_status(queue_try_next(order, &id, NULL), SEQB_UNKNOWN_KEY);
    assert_int_equal(id, 0);
    assert_int_equal(script.left, 9);
    assert_int_equal(waits_of(order), 3);
}

/* --- not waiting --- */

/* What is there, and a call once there are more. */
TEST_WITH(ORDER, call_that_does_not_wait_takes_what_the_ms_has)
{
    struct seqb_sequence *order = order_with(rig, 3, 0);
    int64_t ids[9] = {0};
    size_t taken;

    assert_ok(queue_try_many(order, 2, ids, &taken, &failure));
    assert_int_equal(taken, 2);
    assert_int_equal(waits_of(order), 0);
    assert_false(atomic_load(&order->is_armed));
    assert_status(queue_try_many(order, 4, &ids[2], &taken, NULL), SEQB_AGAIN);
    assert_int_equal(taken, 1);
    assert_int_equal(ids[1], FIRST + 1);
    assert_int_equal(ids[2], FIRST + 2);
    assert_int_equal(ids[3], 0);
    assert_int_equal(waits_of(order), 1);
    assert_true(atomic_load(&order->is_armed));
    assert_int_equal(script.wakes, 1);
    script.left = 5;
    script.most = 2;
    assert_ok(queue_try_many(order, 3, ids, &taken, NULL));
    assert_int_equal(taken, 3);
    assert_int_equal(script.left, 2);
    assert_ok(queue_try_take(
        order, &(struct queue_take){.out = ids, .count = 2}, NULL));
    assert_status(queue_try_next(order, ids, NULL), SEQB_AGAIN);
    assert_int_equal(waits_of(order), 2);
    assert_int_equal(script.rests + script.waits, 0);
}

TEST_WITH(ORDER, run_that_the_ms_lacks_is_called_for)
{
    struct seqb_sequence *order = order_with(rig, 4, 0);
    int64_t first = 0;

    assert_ok(queue_try_run(order, 3, &first, NULL));
    assert_int_equal(first, FIRST);
    (void)text_copy(failure.text, sizeof failure.text, "of before");
    assert_status(queue_try_run(order, 2, &first, &failure), SEQB_AGAIN);
    assert_status(failure.status, SEQB_AGAIN);
    assert_string_equal(failure.text, "");
    assert_int_equal(waits_of(order), 1);
    assert_ok(queue_try_run(order, 1, &first, NULL));
}

TEST_WITH(ORDER, refusal_is_told_and_called_for_if_it_passes)
{
    struct seqb_sequence *order = order_with(rig, 0, 0);
    int64_t id = 0;

    script.status = SEQB_EXHAUSTED;
    assert_fails(queue_try_next(order, &id, &failure), SEQB_EXHAUSTED,
                 "scripted");
    assert_false(atomic_load(&order->is_armed));
    assert_int_equal(waits_of(order), 0);
    script.status = SEQB_UNAVAILABLE;
    assert_fails(queue_try_next(order, &id, &failure), SEQB_UNAVAILABLE,
                 "scripted");
    assert_true(atomic_load(&order->is_armed));
    assert_int_equal(waits_of(order), 1);
}

static void count_call(void *context)
{
    ++*(int *)context;
}

/* Looks again in `after_ms`; -1: never. */
static void expect_refill(struct seqb_sequence *order, enum seqb_status status,
                          int64_t after_ms)
{
    int64_t next_ms = 0;

    script.status = status;
    assert_int_equal(order->source->refill(order, NOW, &next_ms),
                     after_ms >= 0);
    assert_true(next_ms == (after_ms >= 0 ? NOW + after_ms : INT64_MAX));
}

TEST_WITH(ORDER, who_did_not_wait_is_called)
{
    struct seqb_sequence *order = order_with(rig, 0, 0);
    int calls = 0;

    queue_on_ready(order, count_call, &calls);
    expect_refill(order, SEQB_EXHAUSTED, -1); /* nobody is to be called */
    atomic_store(&order->is_armed, true);
    expect_refill(order, SEQB_AGAIN, 1);
    expect_refill(order, SEQB_UNAVAILABLE, REST);
    atomic_store(&order->settings->admission, SEQUENCE_ADMITTING);
    expect_refill(order, SEQB_EXHAUSTED, -1);
    atomic_store(&order->settings->admission, SEQUENCE_ADMITTED);
    assert_int_equal(calls, 0);
    expect_refill(order, SEQB_EXHAUSTED, -1);
    assert_int_equal(calls, 1);
    atomic_store(&order->is_armed, true);
    script.left = 1;
    expect_refill(order, SEQB_AGAIN, -1);
    assert_int_equal(calls, 2);
}

TEST_WITH(ORDER, start_waits_until_ids_can_be_made)
{
    struct seqb_sequence *order = order_with(rig, 1, 1);
    bool (*const warm)(struct seqb_sequence *, int64_t) = order->source->warm;

    assert_true(warm(order, NOW));
    script.left = 0;
    assert_false(warm(order, NOW));
    assert_int_equal(script.rests, 0);
    assert_true(warm(order, NOW + 1));
    assert_int_equal(script.rests, 1);
    script.left = script.each = 0;
    script.status = SEQB_UNAVAILABLE;
    assert_false(warm(order, script.now_ms + REST + 1));
    assert_int_equal(script.waits, 2);
    script.status = SEQB_EXHAUSTED;
    assert_false(warm(order, script.now_ms + 100));
    assert_int_equal(script.rests + script.waits, 3);
}

/* --- what it tells --- */

TEST_WITH(ORDER, what_it_cannot_is_refused_with_the_reason)
{
    const struct seqb_sequence *order = order_with(rig, 0, 0);
    static const struct {
        enum source_use use;
        const char *words;
    } cases[] = {
        {SOURCE_SPOOL, "sequence order makes its numbers of the time: none"},
        {SOURCE_CURSOR, "would hold ids of a time that is over"},
        {SOURCE_ADVANCE, "there is no counter to advance"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_fails(order->source->permits(order, cases[i].use, &failure),
                     SEQB_INVALID, cases[i].words);
}

/* Each its own if they share the generator. A run that failed is none. */
TEST_WITH(ORDER, taken_ids_are_counted_once)
{
    struct seqb_sequence *order = order_with(rig, 20, 0);
    struct generator *generator = rig->brokers[0].queue->context.generators;
    int64_t ids[9];

    script.taken = 4711;
    assert_ok(queue_try_run(order, 2, ids, NULL));
    assert_int_equal(rig_status(&rig->brokers[0], "order").taken, 4711);
    generator->is_shared = true;
    assert_ok(queue_try_run(order, 2, ids, NULL));
    assert_ok(queue_next_many(order, 3, ids, NULL));
    assert_status(queue_try_run(order, 16, ids, NULL), SEQB_AGAIN);
    assert_int_equal(rig_status(&rig->brokers[0], "order").taken, 5);
}

static int64_t rate_at(struct seqb_sequence *order, int64_t taken,
                       int64_t now_ms)
{
    struct seqb_sequence_counts counts = {.waits = -1};

    script.taken = taken;
    order->source->counts(order, now_ms, &counts);
    assert_int_equal(counts.waits, 0);
    return counts.rate;
}

/* Of the last full second, however often it is asked for. */
TEST_WITH(ORDER, rate_is_that_of_the_last_second)
{
    const int64_t from_ms = clock_now_ms();
    struct seqb_sequence *order = rig_sequence(rig_open(rig), "order");
    const int64_t then_ms = clock_now_ms() + 1000;

    script_begin();
    assert_in_range(rate_at(order, 100, then_ms), 100000 / (then_ms - from_ms),
                    100);
    assert_int_equal(rate_at(order, 3100, then_ms + 1500), 2000);
    assert_int_equal(rate_at(order, 4100, then_ms + 2499), 2000);
    assert_int_equal(rate_at(order, 4100, then_ms + 2500), 1000);
    script.now_ms = then_ms + 3499;
    assert_int_equal(rig_status(&rig->brokers[0], "order").rate, 1000);
    assert_int_equal(rig_status(&rig->brokers[0], "order").window_bits, 0);
}

TEST_WITH(ORDER, end_of_its_bits_is_told_to_the_ms)
{
    const int64_t end_ms = bits_end_ms(&flake_options()->layout);

    (void)order_with(rig, 0, 0);
    assert_int_equal(rig_status(&rig->brokers[0], "order").runs_out_ms,
                     end_ms - FLAKE_EPOCH);
    script.wall_ms = end_ms + 1;
    assert_int_equal(rig_status(&rig->brokers[0], "order").runs_out_ms, 0);
}

/* Two kinds of ids in a pool, whose second one is the sequence's. */
TEST_WITH(ORDER, sequence_has_the_generator_of_its_ids)
{
    static struct lease_options kinds[2]; /* outlive the test */

    kinds[0] = kinds[1] = *flake_options();
    rig->queue.snowflakes = kinds;
    rig->queue.snowflake_count = 2;
    rig->sequences[0].snowflake = &kinds[1];
    assert_ok(take(order_with(rig, 1, 0), 1, NOW));
    assert_ptr_equal(script.generator,
                     &rig->brokers[0].queue->context.generators[1]);
}

TEST_WITH(SNOWFLAKES, sequence_without_memory_is_refused)
{
    script.lacks_memory = true;
    rig_expect_open_fails(rig, SEQB_NO_MEMORY, "scripted");
    script.lacks_memory = false;
}
