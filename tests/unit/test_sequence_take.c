/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking from one sequence whose stores grant nothing: what its ring holds, and
 * what the stripes of other threads hold.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ha/counter/counter.h"
#include "platform/clock.h"
#include "platform/fork_wiped.h"
#include "queue/sequence_take.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"

/* Runs of four, whose begins lie eight apart. */
#define FIRST 800
#define SLICE 4

/* --- a counter that grants nothing --- */

static struct {
    const struct ha_counter *counter; /* NULL: none is scripted */
    pthread_t thread;                 /* the test's */
    int64_t asked;                    /* runs that partitions are asked for */
    int asks;                         /* of the test's thread */
    atomic_int looks;                 /* of the refill's */
    _Atomic(struct seqb_sequence *) comes_to; /* NULL, or at the next miss: */
    uint64_t comes;                  /* so many numbers, from FIRST on */
    struct seqb_sequence *goes_from; /* NULL, or what others take all of before
                                        the next take of several */
} dry;

WRAPPED(void, ha_counter_view, struct ha_counter *counter, int64_t now_ms,
        struct ha_view *out)
{
    if (counter != dry.counter) {
        __real_ha_counter_view(counter, now_ms, out);
        return;
    }
    *out = (struct ha_view){.late_ms = INT64_MAX};
    if (!pthread_equal(pthread_self(), dry.thread))
        atomic_fetch_add(&dry.looks, 1);
}

WRAPPED(int64_t, ha_counter_ask, struct ha_counter *counter, int64_t count,
        enum ha_spread spread, int64_t now_ms)
{
    if (counter != dry.counter)
        return __real_ha_counter_ask(counter, count, spread, now_ms);
    dry.asks += pthread_equal(pthread_self(), dry.thread) != 0;
    return dry.asked;
}

enum seqb_status
__real_ha_counter_availability(const struct ha_counter *counter,
                               struct seqb_error *err);
enum seqb_status
__wrap_ha_counter_availability(const struct ha_counter *counter,
                               struct seqb_error *err);
enum seqb_status
__wrap_ha_counter_availability(const struct ha_counter *counter,
                               struct seqb_error *err)
{
    struct seqb_sequence *order = dry.comes_to;

    if (order == NULL || !pthread_equal(pthread_self(), dry.thread))
        return __real_ha_counter_availability(counter, err);
    dry.comes_to = NULL;
    sequence_put(order, FIRST, dry.comes);
    return SEQB_OK;
}

WRAPPED(size_t, sequence_take_some, struct seqb_sequence *sequence,
        size_t count, int64_t *out)
{
    if (dry.goes_from != NULL)
        (void)sequence_drop_all(dry.goes_from);
    dry.goes_from = NULL;
    return __real_sequence_take_some(sequence, count, out);
}

/* It holds `count` numbers from FIRST on. */
static struct seqb_sequence *order_with(struct rig *rig, uint64_t count)
{
    struct seqb_sequence *order = rig_sequence(rig_open(rig), "order");

    dry.counter = order->counter;
    dry.thread = pthread_self();
    dry.asked = 0;
    dry.asks = 0;
    atomic_store(&dry.looks, 0);
    if (count > 0)
        sequence_put(order, FIRST, count);
    return order;
}

/* --- stripes --- */

static void be_busy(struct seqb_sequence *order)
{
    void *memory =
        fork_wiped_take(order->context->memory, sizeof *order->spare);

    assert_non_null(memory);
    assert_true(order->may_stripe);
    order->may_stripe = false; /* the refill leaves it as it is */
    pthread_mutex_lock(&order->lock);
    order->spare = stripes_init(memory, order->ring);
    stripes_set_slice(order->spare, SLICE);
    atomic_store(&order->stripes, order->spare);
    pthread_mutex_unlock(&order->lock);
}

static void expect_one(struct seqb_sequence *order, int64_t number)
{
    int64_t out[2] = {-1, -1};

    assert_int_equal(queue_try_next(order, out, NULL), SEQB_OK);
    assert_int_equal(out[0], number);
    assert_int_equal(out[1], -1);
}

/* Another thread's stripe holds FIRST + 1 ... FIRST + 3, the ring the rest. */
static struct seqb_sequence *order_of_others(struct rig *rig, uint64_t rest)
{
    struct seqb_sequence *order = order_with(rig, SLICE + rest);
    const uint32_t other = thread_index_choose() == 1 ? 2 : 1;
    const struct thread_index mine = thread_index_mine;

    be_busy(order);
    thread_index_mine = (struct thread_index){.any = other, .is_free = true};
    expect_one(order, FIRST);
    thread_index_mine = mine;
    assert_int_equal(ring_stock(order->ring), rest);
    return order;
}

TEST_WITH(DIRECT, one_comes_from_the_stripe_of_another_thread)
{
    struct seqb_sequence *order = order_of_others(rig, 1);

    expect_one(order, FIRST + 8);
    expect_one(order, FIRST + 1);
    assert_int_equal(ring_stock(order->ring), 2);
    expect_one(order, FIRST + 2);
    expect_one(order, FIRST + 3);
    assert_int_equal(queue_try_next(order, &(int64_t){0}, NULL), SEQB_AGAIN);
    assert_int_equal(order->ring->waits, 1);
}

/* As many as were asked for: no stripe is emptied for nothing, and the rest is
 * there still. */
TEST_WITH(DIRECT, many_come_from_the_ring_and_the_stripes)
{
    struct seqb_sequence *order = order_of_others(rig, 3);
    const int64_t expected[] = {FIRST + 10, FIRST + 1, FIRST + 2, -1};
    int64_t out[4] = {-1, -1, -1, -1};
    size_t taken = 0;

    assert_ok(queue_try_many(order, 2, out, &taken, NULL));
    assert_int_equal(out[1], FIRST + 9);
    assert_ok(queue_try_many(order, 3, out, &taken, NULL));
    assert_int_equal(taken, 3);
    assert_memory_equal(out, expected, sizeof out);
    assert_int_equal(ring_stock(order->ring), 1);
    assert_ok(queue_try_many(order, 1, out, &taken, NULL));
    assert_int_equal(out[0], FIRST + 3);
}

TEST_WITH(DIRECT, many_of_the_ring_leave_the_stripes_alone)
{
    struct seqb_sequence *order = order_of_others(rig, 2);
    int64_t out[2];
    size_t taken;

    assert_ok(queue_try_many(order, 2, out, &taken, NULL));
    assert_int_equal(out[1], FIRST + 9);
    assert_int_equal(ring_stock(order->ring), 0);
}

/* A child has no thread that would release the lock. */
TEST_WITH(DIRECT, forked_child_leaves_the_stripes_alone)
{
    struct seqb_sequence *order = order_of_others(rig, 2);
    int64_t number;
    pid_t child;
    int status;

    pthread_mutex_lock(&order->lock);
    child = fork();
    if (child == 0) {
        (void)alarm(RIG_PATIENCE_MS / 1000);
        _exit(queue_try_next(order, &number, NULL) == SEQB_FORKED &&
                      queue_next(order, &number, NULL) == SEQB_FORKED
                  ? 0
                  : 1);
    }
    pthread_mutex_unlock(&order->lock);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* What is too short for it is skipped. */
TEST_WITH(DIRECT, run_comes_from_the_stripe_of_another_thread)
{
    struct seqb_sequence *order = order_of_others(rig, 1);
    int64_t first;

    assert_true(sequence_take_run(order, 2, &first));
    assert_int_equal(first, FIRST + 1);
    assert_int_equal(ring_stock(order->ring), 1);
    assert_int_equal(queue_try_run(order, 2, &first, NULL), SEQB_AGAIN);
    assert_int_equal(ring_stock(order->ring), 0);
}

/* A counter value yields four. */
TEST_WITH(DIRECT, run_is_within_one_counter_value)
{
    static const size_t counts[] = {0, 5, SIZE_MAX};
    struct seqb_sequence *order = order_with(rig, 8);
    int64_t first;
    struct queue_take run = {.out = &first, .is_contiguous = true};

    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        run.count = counts[i];
        assert_status(queue_take(order, &run, NULL), SEQB_INVALID);
        assert_status(queue_try_take(order, &run, NULL), SEQB_INVALID);
    }
    run.count = 4;
    assert_ok(queue_take(order, &run, NULL));
    assert_int_equal(first, FIRST);
    assert_ok(queue_try_take(order, &run, NULL));
    assert_int_equal(first, FIRST + 8);
}

/* All or none of more than half of what the ring may hold. */
TEST_WITH(DIRECT, try_that_can_never_be_had_is_refused)
{
    static const struct {
        int64_t max_unused;
        size_t count;
        bool is_run;
        bool is_some;
        enum seqb_status status;
    } tries[] = {
        {4, 2, false, false, SEQB_AGAIN}, {4, 3, false, false, SEQB_INVALID},
        {4, 3, false, true, SEQB_AGAIN},  {4, 3, true, false, SEQB_AGAIN},
        {1, 1, false, false, SEQB_AGAIN},
    };
    struct seqb_sequence *order = order_with(rig, 0);
    int64_t out[3];
    size_t taken;

    for (size_t i = 0; i < COUNT_OF(tries); i++) {
        const struct queue_take take = {.out = out,
                                        .count = tries[i].count,
                                        .taken =
                                            tries[i].is_some ? &taken : NULL,
                                        .is_contiguous = tries[i].is_run};

        order->settings->max_unused = tries[i].max_unused;
        assert_int_equal(queue_try_take(order, &take, NULL), tries[i].status);
    }
}

/* Two are tried for. They come after the first look. */
TEST_WITH(DIRECT, numbers_that_come_during_a_try_are_taken)
{
    static const struct {
        bool is_run;
        bool is_some;
        uint64_t comes;
        size_t taken;
    } tries[] = {{true, false, 2, 2},
                 {false, true, 2, 2},
                 {false, true, 1, 1},
                 {false, false, 2, 2},
                 {false, false, 1, 0}};
    struct seqb_sequence *order = order_with(rig, 0);

    for (size_t i = 0; i < COUNT_OF(tries); i++) {
        int64_t out[2] = {-1, -1};
        size_t taken = 0;
        const struct queue_take take = {.out = out,
                                        .count = 2,
                                        .taken =
                                            tries[i].is_some ? &taken : NULL,
                                        .is_contiguous = tries[i].is_run};

        dry.comes_to = order;
        dry.comes = tries[i].comes;
        assert_int_equal(queue_try_take(order, &take, NULL),
                         tries[i].taken == 2 ? SEQB_OK : SEQB_AGAIN);
        if (tries[i].is_some)
            assert_int_equal(taken, tries[i].taken);
        assert_int_equal(out[0], tries[i].taken > 0 ? FIRST : -1);
        assert_int_equal(sequence_drop_all(order),
                         tries[i].comes - tries[i].taken);
    }
}

/* One is there, and four come after the first look. */
TEST_WITH(DIRECT, try_takes_no_more_than_it_was_asked_for)
{
    struct seqb_sequence *order = order_with(rig, 1);
    int64_t out[3] = {-1, -1, -1};
    size_t taken = 0;

    dry.comes_to = order;
    dry.comes = 4;
    assert_ok(queue_try_many(order, 2, out, &taken, NULL));
    assert_int_equal(taken, 2);
    assert_int_equal(out[2], -1);
    assert_int_equal(ring_stock(order->ring), 3);
}

/* They were there at the first look. */
TEST_WITH(DIRECT, numbers_that_others_take_during_a_try_are_not_given)
{
    struct seqb_sequence *order = order_with(rig, 2);
    const struct queue_take both = {.out = (int64_t[2]){0}, .count = 2};

    dry.goes_from = order;
    assert_status(queue_try_take(order, &both, NULL), SEQB_AGAIN);
    assert_int_equal(order->ring->waits, 1);
    sequence_put(order, FIRST + 8, 2);
    assert_ok(queue_try_take(order, &both, NULL));
    assert_int_equal(order->ring->waits, 1); /* two were enough */
}

TEST_WITH(DIRECT, slice_comes_from_the_stripe_of_another_thread)
{
    struct seqb_sequence *order = order_of_others(rig, 1);
    struct ring_slice slice;

    assert_ok(sequence_take_slice(order, 100, &slice, NULL));
    assert_int_equal(slice.count, 1);
    assert_int_equal(order->ring->waits, 0);
    assert_ok(sequence_take_slice(order, 100, &slice, NULL));
    assert_int_equal(slice.count, 3);
    assert_int_equal(
        ring_number(order->ring->shape, slice.base, slice.position), FIRST + 1);
    assert_int_equal(order->ring->waits, 1);
    assert_int_equal(atomic_load(&order->waiters), 0);
}

/* --- the ring alone --- */

TEST_WITH(DIRECT, grant_that_the_ring_has_no_place_for_is_dropped)
{
    struct seqb_sequence *order = order_with(rig, 0);
    struct ha_grant grant = {.first = FIRST, .count = 1};

    events_start();
    sequence_deliver(&order->sink, &grant);
    assert_int_equal(events_count("event=dropped", ""), 0);
    for (grant.first += 800; ring_free_blocks(order->ring) > 0;
         grant.first += 800)
        sequence_put(order, grant.first, 1);
    sequence_deliver(&order->sink, &grant);
    events_expect("event=dropped key=order numbers=4", "the ring is full", 1);
    assert_int_equal(order->granted, ring_stock(order->ring));
}

TEST_WITH(DIRECT, taker_who_falls_to_the_mark_wakes_the_refill)
{
    struct seqb_sequence *order = order_with(rig, 8);

    pthread_mutex_lock(&order->lock);
    ring_set_low(order->ring, 7);
    pthread_mutex_unlock(&order->lock);
    expect_one(order, FIRST);
    RIG_AWAIT(atomic_load(&dry.looks) > 0);
}

/* By its own deadline, or by that of the call. */
TEST_WITH(DIRECT, caller_who_waits_is_told_that_none_came_in_time)
{
    struct seqb_sequence *order = order_with(rig, 2);
    int64_t out[3] = {-1, -1, -1};
    const struct queue_take take = {
        .out = out, .count = 3, .until_ms = clock_now_ms() + 1};

    rig_set_deadline(&rig->brokers[0], "order", RIG_FOREVER_MS);
    assert_fails(queue_take(order, &take, &failure), SEQB_TIMEOUT,
                 "sequence order: no number by the deadline");
    assert_int_equal(out[1], FIRST + 1);
    assert_int_equal(out[2], -1);
    rig_set_deadline(&rig->brokers[0], "order", 1);
    assert_fails(queue_next(order, out, &failure), SEQB_TIMEOUT,
                 "(its own is 1 ms)");
    assert_int_equal(order->ring->waits, 2);
    assert_int_equal(atomic_load(&order->waiters), 0);
}

/* --- waiting --- */

#define WAITS 4

/* What the waits of the test's thread see. */
static struct {
    /* NULL: none is scripted. Each thread that waits looks at it. */
    struct seqb_sequence *_Atomic order;
    bool answers[WAITS]; /* false: its time has passed */
    int put_at;          /* the wait in which a number comes */
    int waits;
    int64_t until_ms[WAITS];
} script;

WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    const struct seqb_sequence *order = script.order;
    int i;

    if (order == NULL || condition != &order->filled)
        return __real_condition_wait(condition, lock, until_ms);
    i = script.waits; /* of the test's thread alone */
    assert_true(i < WAITS);
    script.until_ms[i] = until_ms;
    script.waits++;
    if (i == script.put_at)
        assert_true(sequence_push(script.order, FIRST, 1));
    return script.answers[i];
}

/* Takes one by a deadline that does not come; returns that. */
static int64_t wait_for_one(struct seqb_sequence *order, int put_at,
                            enum seqb_status expected)
{
    int64_t number = -1;
    const struct queue_take take = {.out = &number,
                                    .count = 1,
                                    .is_contiguous = true,
                                    .until_ms =
                                        clock_now_ms() + RIG_FOREVER_MS};

    script.order = order;
    script.put_at = put_at;
    script.waits = 0;
    assert_int_equal(queue_take(order, &take, NULL), expected);
    assert_int_equal(number, expected == SEQB_OK ? FIRST : -1);
    script.order = NULL;
    return take.until_ms;
}

/* The refill thread asks then, and the caller does when it is woken. */
TEST_WITH(DIRECT, caller_waits_though_nobody_can_be_asked)
{
    struct seqb_sequence *order = order_with(rig, 0);
    int64_t until_ms;

    script.answers[0] = true;
    script.answers[1] = false;
    until_ms = wait_for_one(order, WAITS, SEQB_TIMEOUT);
    assert_int_equal(script.waits, 2);
    assert_int_equal(script.until_ms[0], until_ms);
    assert_int_equal(script.until_ms[1], until_ms);
    assert_int_equal(dry.asks, 2);
    RIG_AWAIT(atomic_load(&dry.looks) > 0);
}

/* From when the answer is late, the refill thread asks in its place. */
TEST_WITH(DIRECT, caller_waits_on_for_a_late_answer)
{
    struct seqb_sequence *order = order_with(rig, 0);
    int64_t until_ms;

    dry.asked = 1;
    script.answers[0] = false;
    script.answers[1] = true;
    until_ms = wait_for_one(order, 1, SEQB_OK);
    assert_int_equal(script.waits, 2);
    assert_true(script.until_ms[0] < until_ms);
    assert_int_equal(script.until_ms[1], until_ms);
    assert_int_equal(dry.asks, 1);
    RIG_AWAIT(atomic_load(&dry.looks) > 0);
}

TEST_WITH(DIRECT, number_that_comes_at_the_deadline_is_taken)
{
    struct seqb_sequence *order = order_with(rig, 0);

    script.answers[0] = false;
    (void)wait_for_one(order, 0, SEQB_OK);
    assert_int_equal(script.waits, 1);
}
