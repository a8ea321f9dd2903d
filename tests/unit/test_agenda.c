/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the refill thread and the flusher's wait, and what ends a wait. No time
 * passes: a wait ends by a signal that came meanwhile, or as if its time had.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "queue/agenda.h"
#include "queue/sequence.h"
#include "queue/wakeup.h"
#include "support/test.h"
#include "support/wrap.h"

#define WAITS_MOST 8

/* --- the waits --- */

static struct {
    int64_t until_ms[WAITS_MOST];
    size_t count;
    size_t signals;
    void (*meanwhile)(void); /* what another thread does during the first */
} waits;

WRAPPED(int, pthread_cond_signal, pthread_cond_t *condition)
{
    waits.signals++;
    return __real_pthread_cond_signal(condition);
}

WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    const size_t signals = waits.signals;

    (void)condition;
    assert_true(waits.count < WAITS_MOST);
    waits.until_ms[waits.count++] = until_ms;
    pthread_mutex_unlock(lock);
    if (waits.count == 1 && waits.meanwhile != NULL)
        waits.meanwhile();
    pthread_mutex_lock(lock);
    return waits.signals > signals;
}

static void waits_begin(void (*meanwhile)(void))
{
    memset(&waits, 0, sizeof waits);
    waits.meanwhile = meanwhile;
}

/* The waits of the call before. */
static void expect_waits(size_t count, int64_t first, int64_t second)
{
    assert_int_equal(waits.count, count);
    if (count > 0)
        assert_int_equal(waits.until_ms[0], first);
    if (count > 1)
        assert_int_equal(waits.until_ms[1], second);
}

/* A real one. Its deadline is one of the monotonic clock. */
static void expect_whole_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
    const int64_t until_ms = clock_now_ms() + 10;

    pthread_mutex_lock(lock);
    while (__real_condition_wait(condition, lock, until_ms))
        continue;
    pthread_mutex_unlock(lock);
    assert_true(clock_now_ms() >= until_ms);
}

/* --- the refill thread --- */

static struct agenda agenda;
static struct seqb_sequence a;
static struct seqb_sequence b;

static int agenda_setup(void **state)
{
    (void)state;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    agenda_init(&agenda);
    waits_begin(NULL);
    return 0;
}

static int agenda_teardown(void **state)
{
    (void)state;
    agenda_fini(&agenda);
    return 0;
}

#define AGENDA FIXTURE(void *unused, agenda_setup, agenda_teardown)

/* Which sequence the list begins with, and that the thread goes on. */
static struct seqb_sequence *wait_for_list(int64_t until_ms, int64_t latest_ms)
{
    struct seqb_sequence *list;
    void (*meanwhile)(void) = waits.meanwhile;

    waits_begin(meanwhile);
    assert_true(agenda_wait(&agenda, until_ms, latest_ms, &list));
    return list;
}

static void poll_at(struct seqb_sequence *sequence, bool stays)
{
    (void)agenda_begin(&agenda, sequence);
    agenda_end(&agenda, sequence, stays);
}

TEST_WITH(AGENDA, nothing_to_look_at_is_waited_for_until_the_watch)
{
    assert_null(wait_for_list(100, 1000));
    expect_waits(1, 1000, 0);
}

TEST_WITH(AGENDA, woken_sequence_is_looked_at_at_once)
{
    agenda_wake(&agenda, &a);
    assert_ptr_equal(wait_for_list(100, 1000), &a);
    expect_waits(0, 0, 0);
    poll_at(&a, false);
    assert_null(wait_for_list(100, 1000));
    expect_waits(1, 1000, 0);
    agenda_wake(&agenda, &a);
    assert_ptr_equal(wait_for_list(100, 1000), &a);
}

TEST_WITH(AGENDA, each_is_in_the_list_once)
{
    agenda_wake(&agenda, &a);
    agenda_wake(&agenda, &b);
    agenda_wake(&agenda, &a);
    assert_ptr_equal(wait_for_list(100, 1000), &b);
    assert_ptr_equal(agenda_begin(&agenda, &b), &a);
    agenda_end(&agenda, &b, false);
    assert_null(agenda_begin(&agenda, &a));
    agenda_end(&agenda, &a, false);
    assert_null(wait_for_list(100, 1000));
}

TEST_WITH(AGENDA, sequence_that_stays_is_looked_at_after_the_interval)
{
    agenda_wake(&agenda, &a);
    (void)wait_for_list(100, 1000);
    poll_at(&a, true);
    assert_ptr_equal(wait_for_list(100, 1000), &a);
    expect_waits(1, 100, 0);
    poll_at(&a, true);
    assert_ptr_equal(wait_for_list(1000, 1000), &a);
    expect_waits(1, 1000, 0);
    poll_at(&a, true);
    /* The watch comes first, and leaves the list. */
    assert_null(wait_for_list(1001, 1000));
    expect_waits(1, 1000, 0);
    assert_ptr_equal(wait_for_list(100, 1000), &a);
}

/* What was changed since the look began may not have been seen by it. */
TEST_WITH(AGENDA, sequence_woken_during_its_look_is_looked_at_again)
{
    agenda_wake(&agenda, &a);
    (void)wait_for_list(100, 1000);
    (void)agenda_begin(&agenda, &a);
    agenda_wake(&agenda, &a);
    agenda_end(&agenda, &a, false);
    assert_ptr_equal(wait_for_list(100, 1000), &a);
    expect_waits(0, 0, 0);
    poll_at(&a, false);
    assert_null(wait_for_list(100, 1000));
}

TEST_WITH(AGENDA, soonest_of_those_in_no_list_is_waited_for)
{
    agenda_poll_at(&agenda, 500);
    agenda_poll_at(&agenda, 400);
    agenda_poll_at(&agenda, 600);
    assert_null(wait_for_list(100, 1000));
    expect_waits(1, 400, 0);
    assert_false(agenda_is_due(&agenda, 399));
    assert_true(agenda_is_due(&agenda, 400));
    assert_false(agenda_is_due(&agenda, 400));
    assert_null(wait_for_list(100, 1000));
    expect_waits(1, 1000, 0);
}

/* The one in no list before, or after, the one that stays. */
TEST_WITH(AGENDA, sooner_of_both_kinds_is_waited_for)
{
    agenda_wake(&agenda, &a);
    (void)wait_for_list(100, 1000);
    poll_at(&a, true);
    agenda_poll_at(&agenda, 200);
    (void)wait_for_list(100, 1000);
    expect_waits(1, 100, 0);
    poll_at(&a, true);
    agenda_poll_at(&agenda, 50);
    (void)wait_for_list(100, 1000);
    expect_waits(1, 50, 0);
}

static void wake_a(void)
{
    agenda_wake(&agenda, &a);
}

static void stop(void)
{
    agenda_stop(&agenda);
}

TEST_WITH(AGENDA, wait_ends_when_one_is_woken)
{
    waits_begin(wake_a);
    assert_ptr_equal(wait_for_list(100, 1000), &a);
    expect_waits(1, 1000, 0);
    assert_int_equal(waits.signals, 1);
}

TEST_WITH(AGENDA, wait_ends_when_it_is_to_stop)
{
    struct seqb_sequence *list;

    waits_begin(stop);
    assert_false(agenda_wait(&agenda, 100, 1000, &list));
    expect_waits(1, 1000, 0);
    assert_int_equal(waits.signals, 1);
    /* Later, too. */
    assert_false(agenda_wait(&agenda, 100, 1000, &list));
    expect_waits(1, 1000, 0);
}

TEST_WITH(AGENDA, wait_of_the_refill_ends_at_its_deadline)
{
    expect_whole_wait(&agenda.changed, &agenda.lock);
}

/* --- the flusher's thread --- */

static struct wakeup wakeup;

static int wakeup_setup(void **state)
{
    (void)state;
    wakeup.is_woken = true; /* not what it is made with */
    wakeup_init(&wakeup);
    waits_begin(NULL);
    return 0;
}

static int wakeup_teardown(void **state)
{
    (void)state;
    wakeup_fini(&wakeup);
    return 0;
}

#define WAKEUP FIXTURE(void *unused, wakeup_setup, wakeup_teardown)

static void set_it(void)
{
    wakeup_set(&wakeup);
}

static void stop_it(void)
{
    wakeup_stop(&wakeup);
}

TEST_WITH(WAKEUP, wait_of_the_flusher_ends_at_its_deadline)
{
    expect_whole_wait(&wakeup.changed, &wakeup.lock);
}

TEST_WITH(WAKEUP, thread_that_nobody_wakes_waits_as_usual)
{
    assert_true(wakeup_wait(&wakeup, 10, 100));
    expect_waits(1, 100, 0);
}

/* It rests all the same, and is woken once. */
TEST_WITH(WAKEUP, thread_that_was_woken_waits_less)
{
    wakeup_set(&wakeup);
    assert_true(wakeup_wait(&wakeup, 10, 100));
    expect_waits(1, 10, 0);
    assert_true(wakeup_wait(&wakeup, 10, 100));
    expect_waits(2, 10, 100);
}

TEST_WITH(WAKEUP, thread_is_woken_while_it_waits)
{
    waits_begin(set_it);
    assert_true(wakeup_wait(&wakeup, 10, 100));
    expect_waits(2, 100, 10);
    assert_int_equal(waits.signals, 1);
}

TEST_WITH(WAKEUP, thread_is_stopped_while_it_waits_and_before)
{
    waits_begin(stop_it);
    assert_false(wakeup_wait(&wakeup, 10, 100));
    expect_waits(1, 100, 0);
    assert_int_equal(waits.signals, 1);
    assert_false(wakeup_wait(&wakeup, 10, 100));
    expect_waits(1, 100, 0);
}
