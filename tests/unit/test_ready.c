/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers of the queue that do not wait, over scripted stores: what trying
 * answers, and the ready callback. Waiting is in test_queue.c.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "platform/text.h"
#include "queue/sequence.h"
#include "support/rig.h"
#include "support/test.h"

struct readiness {
    atomic_int calls;
};

static void note_ready(void *context)
{
    atomic_fetch_add(&((struct readiness *)context)->calls, 1);
}

TEST_WITH(DIRECT, empty_ring_says_again_and_calls_when_ready)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct readiness readiness = {0};
    struct seqb_error err = {SEQB_OK, "x"};
    int64_t numbers[4];
    size_t taken;

    queue_on_ready(order, note_ready, &readiness);
    fake_hang(rig->stores[0]);
    fake_hang(rig->stores[1]);
    assert_int_equal(queue_try_many(order, 4, numbers, &taken, &err),
                     SEQB_AGAIN);
    assert_int_equal(taken, 0);
    assert_int_equal(err.status, SEQB_AGAIN);
    assert_string_equal(err.text, "");
    assert_int_equal(atomic_load(&readiness.calls), 0);
    fake_release(rig->stores[0]);
    fake_release(rig->stores[1]);
    RIG_AWAIT(atomic_load(&readiness.calls) > 0);
    assert_ok(queue_try_many(order, 4, numbers, &taken, &err));
    assert_int_equal(taken, 4);
    queue_on_ready(order, NULL, NULL);
}

TEST_WITH(DIRECT, removal_calls_who_waits)
{
    struct seqb_sequence *order = rig_sequence(rig_open(rig), "order");
    struct readiness readiness = {0};

    rig_set_down(rig, true);
    queue_on_ready(order, note_ready, &readiness);
    atomic_store(&order->is_armed, true);
    sequence_remove(order, true);
    assert_true(atomic_load(&readiness.calls) > 0);
    queue_on_ready(order, NULL, NULL);
}

/* What a cursor did not use; no store answers meanwhile. */
TEST_WITH(DIRECT, numbers_that_are_given_back_call_when_ready)
{
    struct rig_broker *broker;
    struct seqb_sequence *order;
    struct seqb_cursor *cursor;
    struct readiness readiness = {0};
    int64_t first;
    int64_t number;

    rig->sequences[0].max_unused = 64;
    broker = rig_open(rig);
    order = rig_sequence(broker, "order");
    assert_ok(queue_cursor_open(order, 50, &cursor, NULL));
    assert_ok(queue_cursor_refill(cursor, &first, NULL));
    assert_true(cursor->next < cursor->end);
    rig_await_rest(broker);
    fake_hang(rig->stores[0]);
    fake_hang(rig->stores[1]);
    queue_on_ready(order, note_ready, &readiness);
    while (queue_try_run(order, 1, &number, NULL) == SEQB_OK)
        continue;
    assert_int_equal(atomic_load(&readiness.calls), 0);
    queue_cursor_close(cursor);
    assert_int_equal(atomic_load(&readiness.calls), 1);
    assert_ok(queue_try_run(order, 1, &number, NULL));
    queue_on_ready(order, NULL, NULL);
    fake_release(rig->stores[0]);
    fake_release(rig->stores[1]);
}

struct attempt {
    struct rig_broker *broker;
    struct seqb_error err;
};

static bool try_is_unavailable(void *context)
{
    struct attempt *attempt = context;

    return queue_try_run(rig_sequence(attempt->broker, "order"), 1,
                         &(int64_t){0}, &attempt->err) == SEQB_UNAVAILABLE;
}

TEST_WITH(DIRECT, unusable_stores_say_so_and_call_when_rescued)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct attempt attempt = {.broker = broker};
    struct readiness readiness = {0};

    rig_set_down(rig, true);
    rig_await(try_is_unavailable, &attempt);
    rig_expect_words(attempt.err.text, "partition 0 (b0): fake store-0");
    rig_expect_words(attempt.err.text, "partition 1 (b1): fake store-1");
    queue_on_ready(order, note_ready, &readiness);
    rig_await(try_is_unavailable, &attempt);
    atomic_store(&readiness.calls, 0);
    rig_set_down(rig, false);
    while (queue_try_run(order, 1, &(int64_t){0}, &attempt.err) != SEQB_OK) {
        RIG_AWAIT(atomic_load(&readiness.calls) > 0);
        atomic_store(&readiness.calls, 0);
    }
    queue_on_ready(order, NULL, NULL);
}

TEST_WITH(DIRECT, part_of_what_was_tried_for_is_kept)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t numbers[1000];
    size_t taken;

    rig->sequences[0].max_unused = 64;
    broker = rig_open(rig);
    assert_ok(rig_take_one(broker, numbers, &err));
    rig_await_rest(broker);
    assert_int_equal(queue_try_many(rig_sequence(broker, "order"), 1000,
                                    numbers, &taken, &err),
                     SEQB_AGAIN);
    assert_true(taken > 0 && taken < 1000);
    assert_int_equal(rig_status(broker, "order").taken, taken + 1);
}

TEST_WITH(DIRECT, run_is_contiguous_and_a_short_rest_is_skipped)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct seqb_decoded decoded;
    int64_t first;
    int64_t second;

    assert_ok(queue_next(order, &first, NULL));
    queue_decode(order, first, &decoded);
    assert_int_equal(decoded.memory, 0);
    /* Three are left of that run, four are wanted. */
    assert_ok(queue_try_run(order, 4, &second, NULL));
    queue_decode(order, second, &decoded);
    assert_int_equal(decoded.memory, 0);
    assert_int_not_equal(first, second);
    assert_int_equal(rig_status(broker, "order").taken, 8);
}

/* A callback that runs until it may end. */
struct slow_callback {
    atomic_bool has_begun;
    atomic_bool may_end;
    atomic_bool has_ended;
    atomic_int remover; /* the removing thread's id; 0: not yet */
    atomic_bool is_removed;
    bool had_ended; /* when the removal returned */
    struct seqb_sequence *sequence;
};

static void run_slowly(void *context)
{
    struct slow_callback *callback = context;

    atomic_store(&callback->has_begun, true);
    while (!atomic_load(&callback->may_end))
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_store(&callback->has_ended, true);
}

static void *remove_callback(void *argument)
{
    struct slow_callback *callback = argument;

    atomic_store(&callback->remover, gettid());
    queue_on_ready(callback->sequence, NULL, NULL);
    callback->had_ended = atomic_load(&callback->has_ended);
    atomic_store(&callback->is_removed, true);
    return NULL;
}

/* Whether the thread waits. One that is merely not scheduled is "R". */
static bool thread_sleeps(int thread)
{
    char path[64];
    char line[256] = "";
    char state = '?';
    FILE *file;

    (void)text_format(path, sizeof path, "/proc/self/task/%d/stat", thread);
    file = fopen(path, "re");
    if (file == NULL)
        return false;
    (void)!fgets(line, sizeof line, file);
    (void)fclose(file);
    (void)sscanf(line, "%*d (%*[^)]) %c", &state);
    return state == 'S';
}

/* The removal has returned, or waits. */
static bool removal_has_shown(void *context)
{
    const struct slow_callback *callback = context;
    const int remover = atomic_load(&callback->remover);

    return atomic_load(&callback->is_removed) ||
           (remover != 0 && thread_sleeps(remover));
}

TEST_WITH(DIRECT, removing_a_callback_waits_for_the_call_under_way)
{
    struct rig_broker *broker = rig_open(rig);
    struct slow_callback callback = {.sequence = rig_sequence(broker, "order")};
    pthread_t thread;

    queue_on_ready(callback.sequence, run_slowly, &callback);
    (void)queue_try_run(callback.sequence, 1, &(int64_t){0}, NULL);
    RIG_AWAIT(atomic_load(&callback.has_begun));
    assert_int_equal(pthread_create(&thread, NULL, remove_callback, &callback),
                     0);
    rig_await(removal_has_shown, &callback);
    atomic_store(&callback.may_end, true);
    pthread_join(thread, NULL);
    RIG_AWAIT(atomic_load(&callback.has_ended)); /* which is on this stack */
    assert_true(callback.had_ended);
}
