/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callers of the queue that wait, over scripted stores: deadlines, closing,
 * keys, fork(). Those that only try are in test_ready.c, how much is held in
 * test_stock.c.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "queue/queue_state.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define CALLERS 4

/* A thread in queue_next. */
struct caller {
    pthread_t thread;
    struct seqb_sequence *sequence;
    int64_t number;
    enum seqb_status status;
    struct seqb_error err;
};

static void *call_next(void *argument)
{
    struct caller *caller = argument;

    caller->status =
        queue_next(caller->sequence, &caller->number, &caller->err);
    return NULL;
}

static void callers_start(struct caller *callers, struct rig_broker *broker)
{
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i].sequence = rig_sequence(broker, "order");
        assert_int_equal(
            pthread_create(&callers[i].thread, NULL, call_next, &callers[i]),
            0);
    }
}

static void callers_join(struct caller *callers)
{
    for (size_t i = 0; i < CALLERS; i++)
        pthread_join(callers[i].thread, NULL);
}

/* --- waiting --- */

TEST_WITH(DIRECT, deadline_holds_when_every_store_is_down)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t numbers[10];

    rig->sequences[0].deadline_ms = 300;
    broker = rig_open(rig);
    rig_set_down(rig, true);
    err = rig_take_refused(broker, "order");
    assert_int_equal(err.status, SEQB_UNAVAILABLE);
    rig_expect_words(err.text, "sequence order");
    rig_expect_words(err.text, "partition 0 (b0): fake store-0: is down");
    rig_expect_words(err.text, "partition 1 (b1): fake store-1: is down");
    assert_int_equal(
        queue_next_many(rig_sequence(broker, "order"), 10, numbers, &err),
        SEQB_UNAVAILABLE);
}

TEST_WITH(DIRECT, deadline_holds_when_every_store_hangs)
{
    struct rig_broker *broker;
    int64_t number;

    rig->sequences[0].deadline_ms = 100;
    broker = rig_open(rig);
    fake_hang(rig->stores[0]);
    fake_hang(rig->stores[1]);
    assert_fails(rig_take_one(broker, &number, &failure), SEQB_TIMEOUT,
                 "no number by the deadline (its own is 100 ms)");
    /* They hang longer than the deadline was: nobody waited for them. */
    assert_true(fake_wait_for_hanging(rig->stores[0], 1, RIG_PATIENCE_MS));
    assert_true(fake_wait_for_hanging(rig->stores[1], 1, RIG_PATIENCE_MS));
}

TEST_WITH(DIRECT, callers_that_wait_are_served_when_stores_recover)
{
    struct caller callers[CALLERS];
    struct rig_broker *broker = rig_open(rig);

    rig_set_down(rig, true);
    callers_start(callers, broker);
    RIG_AWAIT(rig_status(broker, "order").waits >= CALLERS);
    rig_await_state(broker, 0, SEQB_PARTITION_QUARANTINED);
    rig_set_down(rig, false);
    callers_join(callers);
    for (size_t i = 0; i < CALLERS; i++) {
        assert_ok(callers[i].status);
        numbers_add(&rig->taken, &callers[i].number, 1);
    }
}

TEST_WITH(DIRECT, callers_that_wait_are_answered_by_closing)
{
    struct caller callers[CALLERS];

    rig->sequences[0].deadline_ms = RIG_FOREVER_MS;
    for (size_t i = 0; i < rig_scaled(100) + 10; i++) {
        struct rig_broker *broker = rig_open(rig);

        rig_set_down(rig, true);
        callers_start(callers, broker);
        RIG_AWAIT(rig_status(broker, "order").waits >= CALLERS);
        rig_close(broker);
        callers_join(callers);
        for (size_t j = 0; j < CALLERS; j++)
            assert_int_equal(callers[j].status, SEQB_CLOSED);
        rig_set_down(rig, false);
    }
}

/* Numbers come in while the broker closes: each waiting caller gets one of
 * them or is told, and nothing is freed under it. */
TEST_WITH(DIRECT, callers_may_be_served_while_closing)
{
    struct caller callers[CALLERS];

    for (size_t i = 0; i < rig_scaled(200) + 20; i++) {
        struct rig_broker *broker = rig_open(rig);

        fake_hang(rig->stores[0]);
        fake_hang(rig->stores[1]);
        callers_start(callers, broker);
        RIG_AWAIT(rig_status(broker, "order").waits >= CALLERS);
        fake_release(rig->stores[0]);
        fake_release(rig->stores[1]);
        rig_close(broker);
        callers_join(callers);
        for (size_t j = 0; j < CALLERS; j++)
            assert_true(callers[j].status == SEQB_CLOSED ||
                        callers[j].status == SEQB_OK);
    }
}

TEST_WITH(DIRECT, more_than_the_stock_is_waited_for)
{
    struct rig_broker *broker;
    int64_t many[10000];

    rig->sequences[0].max_unused = 64;
    broker = rig_open(rig);
    assert_ok(
        queue_next_many(rig_sequence(broker, "order"), 10000, many, NULL));
    numbers_add(&rig->taken, many, 10000);
}

/* As a term of an earlier stamp becomes that of a later one. */
TEST_WITH(DIRECT, a_renewed_sequence_has_no_past)
{
    struct rig_broker *broker;
    struct seqb_sequence *sequence;
    int64_t taken = 5;
    int64_t dropped = 7;
    struct seqb_sequence_status status;
    int64_t stock;

    rig->sequences[0].prefetch = true;
    broker = rig_open(rig);
    sequence = rig_sequence(broker, "order");
    rig_take(broker, 10);
    rig_await_rest(broker);
    pthread_mutex_lock(&sequence->lock);
    atomic_store(&sequence->is_over, true); /* nothing is planned */
    sequence->refill.rate = 1;
    pthread_mutex_unlock(&sequence->lock);
    rig_await_rest(broker); /* what was planned since is part of the stock */
    status = rig_status(broker, "order");
    stock = status.stock;
    assert_true(stock > 1);
    assert_true(status.asked > 0);
    assert_true(status.target > 0);
    sequence_renew(sequence, &taken, &dropped);
    assert_int_equal(taken, 15);
    assert_int_equal(dropped, 7 + stock);
    status = rig_status(broker, "order");
    assert_int_equal(status.stock, 0);
    assert_int_equal(status.taken, 0);
    assert_int_equal(status.low_water, 0);
    assert_int_equal(status.target, 0);
    assert_int_equal(status.asked, 0);
    assert_true(sequence->refill.rate == 0);
    atomic_store(&sequence->is_over, false);
    rig_take(broker, 10);
}

static void expect_no_take(struct seqb_sequence *sequence, size_t count)
{
    int64_t number;
    size_t taken;
    const struct queue_take all = {.out = &number, .count = count};
    const struct queue_take some = {
        .out = &number, .count = count, .taken = &taken};

    assert_fails(queue_take(sequence, &all, &failure), SEQB_INVALID,
                 "is not in 1 ... ");
    assert_fails(queue_try_take(sequence, &some, &failure), SEQB_INVALID,
                 "is not in 1 ... ");
}

TEST_WITH(DIRECT, counts_out_of_range_are_refused)
{
    static const size_t counts[] = {0, 10000001, SIZE_MAX};
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct seqb_error err;
    int64_t number;
    size_t taken;

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        assert_int_equal(queue_next_many(order, counts[i], &number, &err),
                         SEQB_INVALID);
        assert_int_equal(
            queue_try_many(order, counts[i], &number, &taken, &err),
            SEQB_INVALID);
        assert_int_equal(queue_try_run(order, counts[i], &number, &err),
                         SEQB_INVALID);
        expect_no_take(order, counts[i]);
    }
    /* The bound, and what was asked: a count below 0 as its caller sees it. */
    assert_int_equal(queue_try_run(order, 5, &number, &err), SEQB_INVALID);
    assert_string_equal(err.text, "sequence order: the increment must be "
                                  "1 ... 4 (2^memory_bits), not 5");
    assert_fails(queue_try_run(order, 0, &number, &failure), SEQB_INVALID,
                 "not 0");
    assert_fails(queue_try_run(order, (size_t)-3, &number, &failure),
                 SEQB_INVALID, "not -3");
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 0);
}

/* --- keys --- */

static void expect_no_sequence(struct rig_broker *broker, const char *key,
                               enum seqb_status expected, const char *words)
{
    struct seqb_sequence *sequence;
    struct seqb_error err;

    assert_int_equal(rig_find(broker, key, &sequence, &err), expected);
    rig_expect_words(err.text, words);
}

TEST_WITH(DIRECT, unknown_keys_are_refused_with_a_hint)
{
    struct rig_broker *broker = rig_open(rig);

    expect_no_sequence(broker, "ordr", SEQB_UNKNOWN_KEY,
                       "did you mean 'order'?");
    expect_no_sequence(broker, "invoice", SEQB_UNKNOWN_KEY,
                       "unknown sequence 'invoice': list it");
    expect_no_sequence(broker, "", SEQB_INVALID, "not a sequence key");
    expect_no_sequence(broker, "a b", SEQB_INVALID, "not a sequence key");
    expect_no_sequence(broker, "order\n", SEQB_INVALID, "not a sequence key");
}

/* Copies what it is told of a key. */
static enum seqb_status copy_meaning(void *context,
                                     const struct queue_meaning *meaning,
                                     struct seqb_error *err)
{
    (void)err;
    *(struct queue_meaning *)context = *meaning;
    return SEQB_AGAIN;
}

/* Whether there is a sequence, or one could make itself; none does. */
TEST_WITH(DIRECT, meaning_of_a_key_makes_no_sequence)
{
    struct queue_meaning meaning;
    struct rig_broker *broker;
    struct seqb_error err;

    rig_automatic(rig, "tmp-?", 2);
    broker = rig_open(rig);
    assert_status(
        queue_look_up(broker->queue, "order", copy_meaning, &meaning, &err),
        SEQB_AGAIN);
    assert_ptr_equal(meaning.options, &rig->sequences[0]);
    assert_string_equal(meaning.key, "order");
    assert_status(
        queue_look_up(broker->queue, "tmp-1", copy_meaning, &meaning, &err),
        SEQB_AGAIN);
    assert_ptr_equal(meaning.options, &rig->automatic);
    assert_ptr_equal(meaning.pool, ha_pool_at(broker->ha, 0));
    assert_string_equal(meaning.key, "tmp-1");
    meaning.key = NULL;
    assert_status(
        queue_look_up(broker->queue, "tmp-11", copy_meaning, &meaning, &err),
        SEQB_UNKNOWN_KEY);
    assert_status(
        queue_look_up(broker->queue, "a b", copy_meaning, &meaning, &err),
        SEQB_INVALID);
    assert_null(meaning.key);
    assert_int_equal(broker->queue->catalog.count, 1);
}

TEST_WITH(DIRECT, automatic_sequences_obey_pattern_and_limit)
{
    struct rig_broker *broker;

    rig_automatic(rig, "tmp-?", 2);
    broker = rig_open(rig);
    assert_ptr_equal(rig_sequence(broker, "tmp-1"),
                     rig_sequence(broker, "tmp-1"));
    assert_ptr_not_equal(rig_sequence(broker, "tmp-2"),
                         rig_sequence(broker, "tmp-1"));
    expect_no_sequence(broker, "tmp-3", SEQB_UNKNOWN_KEY,
                       "limit of auto_sequences, 2, is reached");
    expect_no_sequence(broker, "tmp-33", SEQB_UNKNOWN_KEY, "unknown");
    (void)rig_sequence(broker, "order");
}

static void count_visit(void *context, struct seqb_sequence *sequence)
{
    (void)sequence;
    ++*(size_t *)context;
}

/* Who makes a sequence meanwhile need not wait for all of it. */
TEST_WITH(DIRECT, visit_of_many_is_in_parts)
{
    struct rig_broker *broker;
    size_t visited = 0;
    size_t at = 0;

    rig_automatic(rig, "tmp-*", 600);
    broker = rig_open(rig);
    for (int i = 0; i < 599; i++) {
        char key[16];

        (void)snprintf(key, sizeof key, "tmp-%d", i);
        (void)rig_sequence(broker, key);
    }
    assert_true(queue_visit(broker->queue, &at, count_visit, &visited));
    assert_in_range(visited, 1, 300);
    while (queue_visit(broker->queue, &at, count_visit, &visited))
        continue;
    assert_int_equal(visited, 600);
}

/* Only with a period the counter's name holds a stamp, too. */
TEST_WITH(DIRECT, automatic_key_may_be_as_long_as_any)
{
    char key[65];

    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    rig_automatic(rig, "k*", 1);
    (void)rig_sequence(rig_open(rig), key);
}

/* --- fork --- */

/* What a child is answered, one bit a function that was wrong. */
static int child_answers(struct rig_broker *broker,
                         struct seqb_sequence *sequence)
{
    struct seqb_sequence *found;
    struct seqb_cursor *cursor;
    struct seqb_error err;
    int64_t numbers[4];
    size_t taken;

    return (queue_is_forked(broker->queue) ? 0 : 1) |
           (queue_find(broker->queue, "order", &found, &err) != SEQB_FORKED)
               << 1 |
           (queue_next(sequence, numbers, &err) != SEQB_FORKED) << 2 |
           (queue_next_many(sequence, 4, numbers, &err) != SEQB_FORKED) << 3 |
           (queue_try_many(sequence, 4, numbers, &taken, &err) != SEQB_FORKED)
               << 4 |
           (queue_try_run(sequence, 1, numbers, &err) != SEQB_FORKED) << 5 |
           (queue_try_run(sequence, 4, numbers, &err) != SEQB_FORKED) << 6 |
           (queue_cursor_open(sequence, 4, &cursor, &err) != SEQB_FORKED) << 7;
}

TEST_WITH(DIRECT, forked_child_is_refused_and_its_parent_goes_on)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    int status;
    pid_t child;

    rig_take(broker, 10);
    rig_await_rest(broker);
    assert_true(rig_status(broker, "order").stock > 0);
    child = fork();
    if (child == 0)
        _exit(child_answers(broker, order));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    rig_take(broker, 2000);
}
