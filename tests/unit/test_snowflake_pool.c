/* SPDX-License-Identifier: Apache-2.0 */
/* Pools with a snowflake in them: its bits, its calls, its clock, and its
 * neighbours. What its status says is test_snowflake_counts.c's. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flake_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/queue_state.h"
#include "queue/snowflake/snowflake.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/test.h"
#include "support/wrap.h"

#define MANY 2000

/* --- the pool --- */

TEST_WITH(SNOWFLAKES, use_of_every_value_of_a_ms_is_no_failure)
{
    struct rig_broker *broker;

    flake_options()->layout.counter = 2; /* 4 values */
    broker = rig_open(rig);
    rig_take(broker, rig_scaled(MANY));
    assert_string_equal(flake_why(broker), "");
}

TEST_WITH(SNOWFLAKES_IN_USE, other_bits_are_another_layout)
{
    struct lease_options *options = flake_options();

    options->layout.shard = 9;
    rig_expect_open_fails(rig, SEQB_LAYOUT,
                          "pool main: backend auth has 'snowflake "
                          "epoch_ms=1577836800000 datacenter=0/0 "
                          "worker_bits=10 counter_bits=12 lessor=");
    options->layout.shard = 10;
    options->layout.epoch_ms++;
    rig_expect_open_fails(rig, SEQB_LAYOUT, "epoch_ms=1577836800001");
    options->layout.epoch_ms--;
    options->layout.shard = 11;
    options->datacenter_bits = 1;
    options->datacenter = 1;
    rig_expect_open_fails(rig, SEQB_LAYOUT, "datacenter=1/1 worker_bits=10");
}

TEST_WITH(SNOWFLAKES, snowflake_needs_a_direct_store)
{
    rig->pool.layout.authority = -1;
    rig->ha.backend_count = 1;
    rig_expect_open_fails(rig, SEQB_CONFIG, "needs a direct store");
}

TEST_WITH(SNOWFLAKES, number_that_does_not_fit_is_refused)
{
    struct rig_broker *broker;

    flake_options()->layout.time = 30; /* over in January 2020 */
    broker = rig_open(rig);
    assert_fails(rig_take_one(broker, &(int64_t){0}, &failure), SEQB_EXHAUSTED,
                 "does not fit");
}

static void be_warm(struct rig *rig, int32_t timeout_ms)
{
    rig->sequences[0].warm = true;
    rig->queue.warm_timeout_ms = timeout_ms;
    events_start();
}

static int64_t time_of(int64_t id)
{
    return (id >> 22) + FLAKE_EPOCH;
}

/* However long nobody took any: none was made ahead. */
TEST_WITH(SNOWFLAKES_IN_USE, id_has_the_time_of_its_taking)
{
    struct rig_broker *broker;

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    be_warm(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    assert_int_equal(events_count("event=cold", ""), 0);
    for (int i = 0; i < 20; i++) {
        const int64_t from_ms = clock_wall_ms();

        rig_take(broker, 1);
        assert_in_range(time_of(rig->taken.values[rig->taken.count - 1]),
                        from_ms, clock_wall_ms());
        thread_rest_us(INT64_C(1000) * i);
    }
    assert_int_equal(rig_status(broker, "order").stock, 0);
    assert_int_equal(rig_status(broker, "order").taken, 20);
    assert_int_equal(rig_status(broker, "order").window_bits, 0);
}

/* --- the guarded clock --- */

/* How far it is ahead of the machine's clock. */
static _Atomic int64_t ahead_ms;

WRAPPED(enum seqb_status, guarded_clock_now, struct guarded_clock *clock,
        int64_t *out, struct seqb_error *err)
{
    const enum seqb_status status = __real_guarded_clock_now(clock, out, err);

    *out += atomic_load(&ahead_ms);
    return status;
}

/* The ms of the next id, once the machine's clock is past `from_ms`. */
static int64_t next_time(struct rig_broker *broker, int64_t from_ms)
{
    struct seqb_error err;
    int64_t id;

    while (clock_wall_ms() <= from_ms)
        thread_rest_us(1000);
    assert_done(rig_take_one(broker, &id, &err), err);
    return time_of(id);
}

/* The time of ids goes on by a ms at least, so they stay behind a clock that
 * the guarded one does not believe. */
TEST_STATE(WINDOWED, ids_have_the_guarded_time_if_it_is_behind)
{
    struct queue_clock_options clock = {
        .rules = {.on_rollback = GUARD_HOLD,
                  .max_rollback_ms = RIG_FOREVER_MS,
                  .max_ahead_ms = RIG_FOREVER_MS},
        .broker = "test",
        .store = -1,
    };
    struct rig *rig = flake_rig_open(state, 10);
    struct rig_broker *broker;
    int64_t time_ms;

    clock.path = rig_file(rig, "clock");
    rig->queue.clock = &clock;
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    broker = rig_open(rig);
    atomic_store(&ahead_ms, FLAKE_LONG_LEASE_MS);
    time_ms = next_time(broker, 0);
    assert_true(time_ms <= clock_wall_ms());
    atomic_store(&ahead_ms, -FLAKE_LONG_LEASE_MS);
    for (int i = 0; i < 3; i++) {
        const int64_t later_ms = next_time(broker, time_ms + 10);

        assert_in_range(later_ms, time_ms, time_ms + 1);
        time_ms = later_ms;
    }
    atomic_store(&ahead_ms, 0);
}

/* Until the ms has room for them, or the lease has come. A run has only one
 * place. */
static int64_t take_run(struct seqb_sequence *sequence, size_t count)
{
    enum seqb_status status = SEQB_AGAIN;
    struct seqb_error err;
    int64_t first[2] = {0, 0};

    while (status == SEQB_AGAIN || status == SEQB_UNAVAILABLE)
        status = queue_try_run(sequence, count, first, &err);
    assert_ok(status);
    assert_int_equal(first[1], 0);
    return first[0];
}

/* They share the worker id and the count of a ms. */
TEST_WITH(SNOWFLAKES_IN_USE, sequences_of_a_pool_share_no_id)
{
    struct rig_broker *broker;
    int64_t id;

    rig->queue.sequence_count = 2;
    broker = rig_open(rig);
    for (size_t i = 0; i < rig_scaled(MANY); i++) {
        assert_ok(queue_next(rig_sequence(broker, "order"), &id, NULL));
        numbers_add(&rig->taken, &id, 1);
        assert_ok(queue_next(rig_sequence(broker, "bill"), &id, NULL));
        numbers_add(&rig->taken, &id, 1);
    }
    id = take_run(rig_sequence(broker, "bill"), 1);
    numbers_add(&rig->taken, &id, 1);
    assert_int_equal(rig_status(broker, "order").taken, rig_scaled(MANY));
    assert_int_equal(rig_status(broker, "bill").taken, rig_scaled(MANY) + 1);
    (void)take_run(rig_sequence(broker, "bill"), 5);
    assert_int_equal(rig_status(broker, "bill").taken, rig_scaled(MANY) + 6);
}

/* Two sites whose stores know nothing of each other lease the same worker id.
 */
TEST_STATE(WINDOWED, sites_have_numbers_of_their_own)
{
    struct rig *rig = flake_rig(state, 12);
    struct rig_broker *broker;
    struct seqb_decoded decoded;
    int64_t id;

    flake_options()->datacenter_bits = 2;
    flake_options()->datacenter = 3;
    broker = rig_open(rig);
    assert_ok(rig_take_one(broker, &id, NULL));
    assert_int_equal(id >> 12 & 0xfff, 3 << 10);
    queue_decode(rig_sequence(broker, "order"), id, &decoded);
    assert_int_equal(decoded.datacenter, 3);
    assert_int_equal(decoded.worker, 0);
    assert_int_equal(decoded.shard, -1);
    assert_int_equal(decoded.number, id & 4095);
    assert_int_equal(decoded.time_ms, (id >> 24) + FLAKE_EPOCH);
    rig_close(broker);
    flake_options()->datacenter = 2;
    rig_expect_open_fails(rig, SEQB_LAYOUT, "datacenter=3/2");
}

/* More than a ms has are waited for, in order, and never of a ms to come. */
TEST_WITH(SNOWFLAKES, full_ms_is_waited_for)
{
    int64_t ids[20] = {0};
    struct seqb_sequence *sequence;
    struct queue_take run = {
        .out = &ids[19], .count = 3, .is_contiguous = true};
    struct seqb_error err;

    flake_options()->layout.counter = 2; /* 4 ids a ms */
    sequence = rig_sequence(rig_open(rig), "order");
    assert_ok(queue_next_many(sequence, 18, ids, &err));
    for (int i = 0; i < 18; i++) {
        assert_true(i == 0 || ids[i] > ids[i - 1]);
        assert_true((ids[i] >> 12) + FLAKE_EPOCH <= clock_wall_ms());
    }
    assert_true((ids[17] >> 12) - (ids[0] >> 12) >= 4);
    assert_int_equal(ids[18], 0); /* no more than were asked for */
    for (int i = 0; i < 3; i++) {
        const int64_t before = ids[19];

        assert_ok(queue_take(sequence, &run, &err));
        assert_int_equal(ids[19] & 3, 0); /* the first of another ms */
        assert_true(ids[19] > before);
    }
    assert_int_equal(ids[18], 0);
    assert_int_equal(atomic_load(&sequence->waiters), 0);
    run.count = 5;
    assert_int_equal(queue_take(sequence, &run, &err), SEQB_INVALID);
}

/* 16 ids a ms: these would take six seconds. A lease may be renewed late. */
TEST_STATE(WINDOWED, full_ms_is_waited_for_until_the_deadline)
{
    static int64_t ids[100000];
    struct rig *rig = flake_rig(state, 10);
    enum seqb_status status = SEQB_UNAVAILABLE;
    struct seqb_sequence *sequence;
    struct seqb_error err;

    flake_options()->layout.counter = 4;
    rig->sequences[0].deadline_ms = 5;
    sequence = rig_sequence(rig_open(rig), "order");
    while (status == SEQB_UNAVAILABLE)
        status = queue_next_many(sequence, COUNT_OF(ids), ids, &err);
    assert_int_equal(status, SEQB_TIMEOUT);
    rig_expect_words(err.text, "every id of its ms was taken until the ");
}

/* 16 ids a ms: five runs of 3, and one id that is let go; or one of all. */
TEST_WITH(SNOWFLAKES, increments_are_contiguous)
{
    struct seqb_sequence *sequence;
    struct seqb_error err;
    int64_t ids[3];

    flake_options()->layout.counter = 4;
    sequence = rig_sequence(rig_open(rig), "order");
    for (int i = 0; i < 100; i++) {
        ids[0] = take_run(sequence, COUNT_OF(ids));
        assert_true((ids[0] & 15) + 2 <= 15);
        ids[1] = ids[0] + 1;
        ids[2] = ids[0] + 2;
        numbers_add(&rig->taken, ids, COUNT_OF(ids));
    }
    (void)take_run(sequence, 2);
    ids[0] = take_run(sequence, 1);
    ids[1] = take_run(sequence, 16);
    assert_int_equal(ids[1] & 15, 0);
    assert_true(ids[1] > ids[0]);
    ids[2] = ids[1] + 15;
    numbers_add(&rig->taken, ids, COUNT_OF(ids));
    assert_fails(queue_try_run(sequence, 17, ids, &failure), SEQB_INVALID,
                 "must be 1 ... 16");
    assert_int_equal(queue_try_run(sequence, 0, ids, &err), SEQB_INVALID);
}

static void become_ready(void *context)
{
    atomic_store((atomic_bool *)context, true);
}

/* Who does not wait is called when the next ms has come. */
TEST_WITH(SNOWFLAKES_IN_USE, who_finds_a_full_ms_is_called)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;
    atomic_bool is_ready;

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    broker = rig_open(rig);
    sequence = rig_sequence(broker, "order");
    queue_on_ready(sequence, become_ready, &is_ready);
    for (int i = 0; i < 5; i++) {
        int64_t ids[5000]; /* more than a ms has */
        size_t taken = 0;

        atomic_store(&is_ready, false);
        (void)text_copy(err.text, sizeof err.text, "of before");
        while (queue_try_many(sequence, 5000, ids, &taken, &err) == SEQB_OK)
            continue;
        assert_int_equal(err.status, SEQB_AGAIN);
        assert_string_equal(err.text, "");
        assert_int_equal(rig_status(broker, "order").waits, i + 1);
        RIG_AWAIT(atomic_load(&is_ready));
    }
}

/* Nobody else polls a sequence that waits for its lease. */
static void expect_poll(struct rig_broker *broker, bool is_armed)
{
    struct seqb_sequence *sequence = rig_sequence(broker, "order");
    int64_t next_ms = 0;

    assert_int_equal(sequence->source->refill(sequence, 1000, &next_ms),
                     is_armed);
    assert_int_equal(next_ms, is_armed ? 1005 : INT64_MAX);
}

TEST_WITH(SNOWFLAKES, first_broker_says_what_it_waits_for)
{
    struct rig_broker *broker;

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    be_warm(rig, 1);
    broker = rig_open(rig);
    assert_int_equal(events_count("event=cold", "keys=order"), 1);
    events_expect("event=worker_lease_failed", "backend auth is new", 1);
    expect_poll(broker, false);
    rig_expect_words(flake_why(broker), "pool main: backend auth is new");
    expect_poll(broker, true);
}

/* Nor does the first broker of a pool have to be asked again and again. */
TEST_WITH(SNOWFLAKES, who_finds_no_lease_is_called)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *sequence = rig_sequence(broker, "order");
    struct seqb_error err;
    atomic_bool is_ready = false;
    enum seqb_status status;
    int64_t id;
    size_t taken;

    queue_on_ready(sequence, become_ready, &is_ready);
    status = queue_try_many(sequence, 1, &id, &taken, &err);
    if (status == SEQB_OK)
        return; /* the lease was quicker than this thread */
    assert_int_equal(status, SEQB_UNAVAILABLE);
    rig_expect_words(err.text, "backend auth is new");
    RIG_AWAIT(atomic_load(&is_ready));
    assert_ok(queue_try_many(sequence, 1, &id, &taken, &err));
}

/* A child has its parent's lease, whose ids would come twice. */
static int child_answers(struct seqb_sequence *sequence)
{
    struct seqb_error err;
    int64_t ids[2];
    size_t taken;

    return (queue_next(sequence, ids, &err) != SEQB_FORKED) |
           (queue_next_many(sequence, 2, ids, &err) != SEQB_FORKED) << 1 |
           (queue_try_many(sequence, 2, ids, &taken, &err) != SEQB_FORKED)
               << 2 |
           (queue_try_run(sequence, 2, ids, &err) != SEQB_FORKED) << 3;
}

TEST_WITH(SNOWFLAKES_IN_USE, forked_child_gets_no_id)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    pid_t child;
    int status;

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    broker = rig_open(rig);
    sequence = rig_sequence(broker, "order");
    rig_take(broker, 10);
    child = fork();
    if (child == 0)
        _exit(child_answers(sequence));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    rig_take(broker, 10);
}

TEST_WITH(SNOWFLAKES_IN_USE, none_is_given_once_the_broker_stops)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    struct seqb_error err;
    int64_t ids[2];
    size_t taken;

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    broker = rig_open(rig);
    sequence = rig_sequence(broker, "order");
    rig_take(broker, 1);
    /* as if the ms did not end */
    atomic_store(&broker->queue->context.generators[0].gate->span, UINT64_MAX);
    queue_stop(broker->queue);
    assert_int_equal(queue_try_run(sequence, 2, ids, &err), SEQB_CLOSED);
    assert_int_equal(queue_try_many(sequence, 2, ids, &taken, &err),
                     SEQB_CLOSED);
    assert_int_equal(queue_next(sequence, ids, &err), SEQB_CLOSED);
}
