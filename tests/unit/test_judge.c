/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the watchdog has calls judged that are under way: at the time that was
 * asked for, or that the judge said itself, and not in between. What it ends
 * is in test_watchdog.c, what is judged in test_pool_slow.c.
 */

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "store/watchdog.h"
#include "support/rig.h"
#include "support/test.h"

#define SOON_MS 5
#define HOUR_MS 3600000
#define CALLS   64 /* kept of them */

/* A judge that remembers, and says what it is told to. */
struct judge {
    struct watchdog *watchdog;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    int64_t at_ms[CALLS]; /* when it was called, each time */
    size_t calls;
    int64_t again_ms;  /* in so many ms; 0: not by itself */
    size_t again;      /* so many times more */
    int64_t expect_ms; /* asks for that in its next call; 0: nothing */
    bool is_held;      /* its next call waits until it is not */
};

static int64_t judge_call(void *context, int64_t now_ms)
{
    struct judge *judge = context;
    int64_t next_ms = INT64_MAX;
    int64_t expect_ms;

    pthread_mutex_lock(&judge->lock);
    if (judge->calls < CALLS)
        judge->at_ms[judge->calls] = now_ms;
    judge->calls++;
    expect_ms = judge->expect_ms;
    judge->expect_ms = 0;
    pthread_cond_broadcast(&judge->changed);
    while (judge->is_held)
        pthread_cond_wait(&judge->changed, &judge->lock);
    if (judge->again > 0) {
        judge->again--;
        next_ms = now_ms + judge->again_ms;
    }
    pthread_mutex_unlock(&judge->lock);
    if (expect_ms != 0)
        watchdog_expect(judge->watchdog, expect_ms);
    return next_ms;
}

static int judge_setup(void **state)
{
    static struct judge judge;

    judge = (struct judge){.calls = 0};
    pthread_mutex_init(&judge.lock, NULL);
    condition_init(&judge.changed);
    *state = &judge;
    return watchdog_open(judge_call, &judge, &judge.watchdog, NULL) == SEQB_OK
               ? 0
               : -1;
}

static int judge_teardown(void **state)
{
    struct judge *judge = *state;

    watchdog_close(judge->watchdog);
    pthread_cond_destroy(&judge->changed);
    pthread_mutex_destroy(&judge->lock);
    return 0;
}

#define JUDGED FIXTURE(struct judge *judge, judge_setup, judge_teardown)

/* Waits until it was called so often. */
static void await_calls(struct judge *judge, size_t calls)
{
    const int64_t until_ms = clock_now_ms() + RIG_PATIENCE_MS;
    bool in_time = true;

    pthread_mutex_lock(&judge->lock);
    while (judge->calls < calls && in_time)
        in_time = condition_wait(&judge->changed, &judge->lock, until_ms);
    pthread_mutex_unlock(&judge->lock);
    assert_true(in_time);
}

static size_t calls_of(struct judge *judge)
{
    size_t calls;

    pthread_mutex_lock(&judge->lock);
    calls = judge->calls;
    pthread_mutex_unlock(&judge->lock);
    return calls;
}

/* Waits until the watchdog has looked at that time, at what it has to do. */
static void let_poll(struct judge *judge, int64_t at_ms)
{
    struct watch watch;
    int ends[2];
    char byte;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_ok(watch_open(judge->watchdog, ends[0], &watch, NULL));
    watch_begin(&watch, at_ms);
    assert_int_equal(recv(ends[0], &byte, 1, 0), 0);
    assert_true(watch_end(&watch));
    close(ends[0]);
    watch_close(&watch);
    close(ends[1]);
}

TEST_WITH(JUDGED, it_is_not_called_unless_that_was_asked_for)
{
    let_poll(judge, clock_now_ms() + SOON_MS);
    watchdog_expect(judge->watchdog, clock_now_ms() + HOUR_MS);
    let_poll(judge, clock_now_ms() + SOON_MS);
    assert_int_equal(calls_of(judge), 0);
    watchdog_expect(NULL, 0);
}

TEST_WITH(JUDGED, it_is_called_once_and_not_before_its_time)
{
    const int64_t at_ms = clock_now_ms() + SOON_MS;

    watchdog_expect(judge->watchdog, at_ms);
    await_calls(judge, 1);
    assert_true(judge->at_ms[0] >= at_ms);
    let_poll(judge, clock_now_ms() + SOON_MS);
    assert_int_equal(calls_of(judge), 1);
}

/* The soonest of what was asked for counts, in whatever order. */
TEST_WITH(JUDGED, what_is_later_puts_nothing_off)
{
    watchdog_expect(judge->watchdog, clock_now_ms() + HOUR_MS);
    let_poll(judge, clock_now_ms()); /* it waits for that by now */
    watchdog_expect(judge->watchdog, clock_now_ms() + SOON_MS);
    watchdog_expect(judge->watchdog, clock_now_ms() + HOUR_MS);
    await_calls(judge, 1);
}

TEST_WITH(JUDGED, it_is_called_again_when_it_said_so)
{
    judge->again_ms = 3;
    judge->again = 5;
    watchdog_expect(judge->watchdog, clock_now_ms());
    await_calls(judge, 6);
    for (size_t i = 1; i < 6; i++)
        assert_true(judge->at_ms[i] >= judge->at_ms[i - 1] + 3);
    let_poll(judge, clock_now_ms() + SOON_MS);
    assert_int_equal(calls_of(judge), 6);
}

/* As when a change that it tells of is to be looked at anew. */
TEST_WITH(JUDGED, it_may_ask_for_itself)
{
    judge->expect_ms = 1; /* long ago: at once */
    watchdog_expect(judge->watchdog, clock_now_ms());
    await_calls(judge, 2);
    let_poll(judge, clock_now_ms() + SOON_MS);
    assert_int_equal(calls_of(judge), 2);
}

TEST_WITH(JUDGED, what_is_asked_for_while_it_runs_is_not_lost)
{
    judge->is_held = true;
    watchdog_expect(judge->watchdog, clock_now_ms());
    await_calls(judge, 1);
    watchdog_expect(judge->watchdog, clock_now_ms());
    pthread_mutex_lock(&judge->lock);
    judge->is_held = false;
    pthread_cond_broadcast(&judge->changed);
    pthread_mutex_unlock(&judge->lock);
    await_calls(judge, 2);
}

/* A deadline that passed while it ran is met right after it. */
TEST_WITH(JUDGED, a_call_that_hangs_is_ended_after_it)
{
    struct watch watch;
    int ends[2];
    char byte;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_ok(watch_open(judge->watchdog, ends[0], &watch, NULL));
    judge->is_held = true;
    watchdog_expect(judge->watchdog, clock_now_ms());
    await_calls(judge, 1);
    watch_begin(&watch, clock_now_ms());
    pthread_mutex_lock(&judge->lock);
    judge->is_held = false;
    pthread_cond_broadcast(&judge->changed);
    pthread_mutex_unlock(&judge->lock);
    assert_int_equal(recv(ends[0], &byte, 1, 0), 0);
    assert_true(watch_end(&watch));
    close(ends[0]);
    watch_close(&watch);
    close(ends[1]);
}
