/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for a number is woken by what ends the wait, and does not find out
 * at its deadline. No store answers meanwhile, which would wake it as well.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "period_fixture.h"
#include "platform/clock.h"
#include "platform/thread.h"
#include "queue/sequence.h"
#include "support/test.h"
#include "support/wrap.h"

/* --- the waits of a taker until its deadline --- */

static _Thread_local bool is_taker;
static atomic_int begun;
static atomic_int ended;
static atomic_int late; /* of those that ended, by the deadline */

WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    const bool is_watched =
        is_taker && until_ms > clock_now_ms() + RIG_PATIENCE_MS / 2;
    bool was_woken;

    atomic_fetch_add(&begun, is_watched);
    was_woken = __real_condition_wait(condition, lock, until_ms);
    atomic_fetch_add(&late, is_watched && !was_woken);
    atomic_fetch_add(&ended, is_watched);
    return was_woken;
}

/* The refill thread drops nothing, so that it wakes nobody. */
static atomic_bool is_kept;

WRAPPED(int64_t, sequence_drop_all, struct seqb_sequence *sequence)
{
    return atomic_load(&is_kept) ? 0 : __real_sequence_drop_all(sequence);
}

/* --- a taker --- */

struct taker {
    struct rig_broker *broker;
    pthread_t thread;
    enum seqb_status status;
    struct seqb_stamp stamp;
};

static void *taker_run(void *argument)
{
    struct taker *taker = argument;

    is_taker = true;
    taker->status =
        period_take(taker->broker, &(int64_t){0}, &taker->stamp, NULL);
    return NULL;
}

static void set_hanging(struct rig *rig, bool is_hanging)
{
    for (int i = 0; i < 2; i++) {
        if (is_hanging)
            fake_hang(rig->stores[i]);
        else
            fake_release(rig->stores[i]);
    }
}

/* Takes all that there is, and starts a taker that waits for more. */
static void taker_start(struct taker *taker, struct rig *rig)
{
    rig_set_timeout(rig, RIG_FOREVER_MS);
    *taker = (struct taker){.broker = rig_open(rig)};
    rig_take(taker->broker, 1);
    rig_await_rest(taker->broker);
    set_hanging(rig, true);
    rig_take(taker->broker, (size_t)rig_status(taker->broker, "order").stock);
    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
    atomic_store(&late, 0);
    assert_ok(thread_start(&taker->thread, "taker", taker_run, taker, NULL));
    RIG_AWAIT(atomic_load(&begun) > 0);
}

/* --- what ends a wait --- */

static void expect_woken_by_closing(struct rig *rig)
{
    struct taker taker;

    taker_start(&taker, rig);
    queue_stop(taker.broker->queue);
    pthread_join(taker.thread, NULL);
    set_hanging(rig, false);
    assert_int_equal(taker.status, SEQB_CLOSED);
    assert_int_equal(atomic_load(&late), 0);
}

TEST_WITH(DIRECT, closing_wakes_who_waits)
{
    expect_woken_by_closing(rig);
}

TEST_WITH(PERIOD, closing_wakes_who_waits_for_a_stamp)
{
    fixture->rules.unit = PERIOD_DAY;
    expect_woken_by_closing(fixture->rig);
}

/* They look again, since nothing more comes of the stamp that is over. */
TEST_WITH(PERIOD, next_stamp_wakes_who_waits_for_one_that_is_over)
{
    struct taker taker;

    fixture->rules.unit = PERIOD_DAY;
    taker_start(&taker, fixture->rig);
    atomic_store(&is_kept, true);
    script_clock_step(DAY);
    assert_int_equal(queue_try_run(rig_sequence(taker.broker, "order"), 1,
                                   &(int64_t){0}, NULL),
                     SEQB_AGAIN); /* whoever comes first makes the turn */
    RIG_AWAIT(atomic_load(&ended) > 0);
    assert_int_equal(atomic_load(&late), 0);
    atomic_store(&is_kept, false);
    set_hanging(fixture->rig, false);
    pthread_join(taker.thread, NULL);
    assert_ok(taker.status);
    assert_int_equal(taker.stamp.digits, 20261122);
}
