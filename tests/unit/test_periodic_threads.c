/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns under load: threads take while the clock runs through hundreds of
 * stamps, forwards, and back by a little. Each number is unique together with
 * its stamp, and no thread's stamps go back. And what others than the caller do
 * meanwhile: the callback of who does not wait, a child after fork(), stores
 * that owe answers.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "period_fixture.h"
#include "queue/periodic/periodic.h"
#include "support/test.h"

#define TAKERS     4
#define TURNS      400
#define STAMP_BITS 20 /* a number is below; its stamp goes above */

struct load {
    struct rig_broker *broker;
    struct numbers numbers; /* stamp and number in one */
    atomic_bool is_over;
    atomic_llong taken;
    atomic_int went_back;
    bool is_trying; /* else it waits */
};

/* Of the stamp and the number within: the seconds since NOON. */
static int64_t tagged(const struct seqb_stamp *stamp, int64_t number)
{
    return ((stamp->begins_ms - NOON) / SECOND + 1) << STAMP_BITS | number;
}

static enum seqb_status take_some(struct load *load, size_t count, int64_t *out,
                                  struct seqb_stamp *stamp,
                                  struct seqb_error *err)
{
    const struct queue_take take = {.out = out, .count = count, .stamp = stamp};
    struct seqb_sequence *order = rig_sequence(load->broker, "order");

    return load->is_trying ? queue_try_take(order, &take, err)
                           : queue_take(order, &take, err);
}

static void *taker_run(void *argument)
{
    struct load *load = argument;
    int64_t last_ms = 0;
    int64_t numbers[3];
    struct seqb_stamp stamp;
    struct seqb_error err;

    for (size_t i = 0; !atomic_load(&load->is_over); i++) {
        const size_t count = 1 + i % 3;
        const enum seqb_status status =
            take_some(load, count, numbers, &stamp, &err);

        if (status == SEQB_AGAIN)
            continue;
        if (status != SEQB_OK)
            fail_msg("no number: %s", err.text);
        if (stamp.begins_ms < last_ms)
            atomic_fetch_add(&load->went_back, 1);
        last_ms = stamp.begins_ms;
        for (size_t j = 0; j < count; j++)
            numbers[j] = tagged(&stamp, numbers[j]);
        numbers_add(&load->numbers, numbers, count);
        atomic_fetch_add(&load->taken, (long long)count);
    }
    return NULL;
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 500000}, NULL);
}

/* Turns as fast as numbers come: a few of each stamp at least. */
static void run_turns(struct load *load, size_t turns)
{
    for (size_t i = 0; i < turns; i++) {
        const long long before = atomic_load(&load->taken);

        while (atomic_load(&load->taken) < before + TAKERS)
            nap();
        script_clock_step(i % 5 == 4 ? -3 * SECOND : SECOND + 7);
    }
}

static void run_load(struct period_fixture *fixture, bool is_trying)
{
    struct load load = {.is_trying = is_trying};
    pthread_t takers[TAKERS];

    fixture->rig->sequences[0].prefetch = true;
    numbers_init(&load.numbers);
    load.broker = rig_open(fixture->rig);
    for (int i = 0; i < TAKERS; i++)
        assert_int_equal(pthread_create(&takers[i], NULL, taker_run, &load), 0);
    run_turns(&load, rig_scaled(TURNS));
    atomic_store(&load.is_over, true);
    for (int i = 0; i < TAKERS; i++)
        pthread_join(takers[i], NULL);
    assert_int_equal(atomic_load(&load.went_back), 0);
    assert_int_equal(numbers_repeats(&load.numbers), 0);
    assert_true(rig_status(load.broker, "order").dropped > 0);
    numbers_fini(&load.numbers);
}

TEST_WITH(PERIOD, no_number_comes_twice_in_a_stamp)
{
    run_load(fixture, false);
}

TEST_WITH(PERIOD, nor_for_those_who_do_not_wait)
{
    run_load(fixture, true);
}

TEST_WITH(PERIOD_WINDOWED, nor_with_windows)
{
    run_load(fixture, false);
}

/* --- stripes --- */

/* Numbers a ms: more than any test takes. */
#define BUSY 1e15

static struct seqb_sequence *current_term(struct rig_broker *broker)
{
    struct current_period current;
    const bool is_there =
        periodic_last(periodic_of(rig_sequence(broker, "order")), &current);

    assert_true(is_there);
    return is_there ? current.slot->sequence : NULL;
}

static bool is_striped(void *context)
{
    struct stripes *stripes = atomic_load(&current_term(context)->stripes);

    return stripes != NULL && atomic_load(&stripes->slice) > 0;
}

/* The stamp's counter is measured to be busy; then it gets stripes. */
static void make_busy(struct rig_broker *broker)
{
    struct seqb_sequence *sequence = current_term(broker);

    pthread_mutex_lock(&sequence->lock);
    sequence->refill.rate = BUSY;
    pthread_mutex_unlock(&sequence->lock);
    sequence_wake(sequence);
    rig_await(is_striped, broker);
}

/* What is left in a stripe when a stamp is over does not come in the stamp
 * whose term that one's becomes. */
TEST_WITH(PERIOD, renewed_term_has_empty_stripes)
{
    struct rig_broker *broker;
    struct seqb_sequence *slot;
    int64_t taken = 0;
    int64_t dropped = 0;
    int64_t digits;

    fixture->rig->sequences[0].prefetch = true;
    fixture->rig->sequences[0].max_unused = 100000;
    broker = rig_open(fixture->rig);
    (void)period_number(broker, &digits);
    make_busy(broker);
    for (int i = 0; i < 10; i++)
        (void)period_number(broker, &digits);
    slot = current_term(broker);
    assert_true(atomic_load(&slot->stripes->filled) != 0);
    sequence_renew(slot, &taken, &dropped);
    /* A slice that was on its way to a stripe counts as taken. */
    assert_true(taken >= 11);
    assert_true(dropped > 0);
    assert_false(stripes_take(atomic_load(&slot->stripes), &(int64_t){0}));
}

TEST_WITH(PERIOD, closing_answers_those_who_wait)
{
    struct rig_broker *broker;
    struct seqb_stamp stamp;
    struct seqb_error err;

    fixture->rig->sequences[0].deadline_ms = 100;
    broker = rig_open(fixture->rig);
    rig_set_down(fixture->rig, true);
    assert_int_not_equal(period_take(broker, &(int64_t){0}, &stamp, &err),
                         SEQB_OK);
    rig_close(broker);
}

static void become_ready(void *context)
{
    atomic_store((atomic_bool *)context, true);
}

/* The callback comes after the sequences of its stamps, and goes for all. */
TEST_WITH(PERIOD, who_finds_a_stamp_without_numbers_is_called)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct seqb_error err;
    enum seqb_status status;
    atomic_bool is_ready = false;
    int64_t numbers[100];
    int64_t digits;
    size_t taken;

    (void)period_number(broker, &digits);
    queue_on_ready(order, become_ready, &is_ready);
    fake_hang(rig->stores[0]);
    fake_hang(rig->stores[1]);
    /* A refill that is under way may end, and call, right after the miss. */
    do {
        atomic_store(&is_ready, false);
        status = queue_try_many(order, 100, numbers, &taken, &err);
    } while (status == SEQB_OK);
    assert_int_equal(status, SEQB_AGAIN);
    fake_release(rig->stores[0]);
    fake_release(rig->stores[1]);
    RIG_AWAIT(atomic_load(&is_ready));
    queue_on_ready(order, NULL, NULL);
}

/* What a child is answered, one bit a function that was wrong. */
static int child_answers(struct seqb_sequence *sequence)
{
    struct seqb_stamp stamp;
    struct seqb_error err;
    int64_t number;
    size_t taken;
    const struct queue_take all = {.out = &number, .count = 1, .stamp = &stamp};
    const struct queue_take some = {
        .out = &number, .count = 1, .taken = &taken, .stamp = &stamp};

    return (queue_take(sequence, &all, &err) != SEQB_FORKED) |
           (queue_try_take(sequence, &some, &err) != SEQB_FORKED) << 1 |
           (queue_next(sequence, &number, &err) != SEQB_FORKED) << 2;
}

TEST_WITH(PERIOD, forked_child_gets_no_number)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    int64_t digits;
    pid_t child;
    int status;

    (void)period_number(broker, &digits);
    child = fork();
    if (child == 0)
        _exit(child_answers(order));
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    (void)period_number(broker, &digits);
}

static void hang(struct rig *rig, bool is_to_hang)
{
    for (int32_t i = 0; i < 2; i++)
        (is_to_hang ? fake_hang : fake_release)(rig->stores[i]);
}

/* Asks for the stamp until it may be issued. */
static bool is_kept(struct rig_broker *broker, int64_t begin_ms)
{
    struct seqb_clock_status clock;

    (void)queue_try_run(rig_sequence(broker, "order"), 1, &(int64_t){0}, NULL);
    queue_clock(broker->queue, &clock);
    return clock.issued_ms >= begin_ms;
}

/* There is no term left: the clock is not to blame. */
TEST_WITH(PERIOD, stamps_that_stores_owe_answers_for_are_told)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    struct seqb_stamp stamp;
    struct seqb_error err;
    int64_t number;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    rig->sequences[0].deadline_ms = 20;
    broker = rig_open(rig);
    hang(rig, true);
    for (int i = 0; i <= PERIOD_SLOTS; i++) {
        script_clock_set(NOON + i * SECOND);
        RIG_AWAIT(is_kept(broker, NOON + i * SECOND));
        assert_int_equal(period_take(broker, &number, &stamp, &err),
                         SEQB_TIMEOUT);
    }
    assert_non_null(strstr(err.text, "stores owe answers for each of the last "
                                     "3 stamps"));
    assert_int_equal(
        queue_try_run(rig_sequence(broker, "order"), 1, &number, &err),
        SEQB_AGAIN);
    hang(rig, false);
    rig_await_rest(broker);
    while (period_take(broker, &number, &stamp, &err) == SEQB_TIMEOUT)
        continue;
    assert_int_equal(stamp.digits, INT64_C(20261121120000) + PERIOD_SLOTS);
}
