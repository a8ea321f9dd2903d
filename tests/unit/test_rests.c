/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that have to look again and again rest between two looks: each wait
 * is for a time that is still to come.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "period_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "platform/thread.h"
#include "queue/queue_state.h"
#include "queue/sequence.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/wrap.h"

#define LONG_MS 10000

/* --- the rests on one condition --- */

static pthread_cond_t *_Atomic watched;
static atomic_int rests;
static atomic_int long_rests;

WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    const int64_t rest_ms = until_ms - clock_now_ms();

    if (condition == atomic_load(&watched)) {
        atomic_fetch_add(&rests, rest_ms > 0 && rest_ms <= LONG_MS);
        atomic_fetch_add(&long_rests, rest_ms > LONG_MS);
    }
    return __real_condition_wait(condition, lock, until_ms);
}

static void watch(pthread_cond_t *condition)
{
    atomic_store(&rests, 0);
    atomic_store(&long_rests, 0);
    atomic_store(&watched, condition);
}

static bool has_rested(void *context)
{
    (void)context;
    return atomic_load(&rests) > 2;
}

/* --- a taker whose clock is behind --- */

struct taker {
    struct rig_broker *broker;
    enum seqb_status status;
};

static void *taker_run(void *argument)
{
    struct taker *taker = argument;
    struct seqb_stamp stamp;

    taker->status = period_take(taker->broker, &(int64_t){0}, &stamp, NULL);
    return NULL;
}

TEST_WITH(PERIOD, who_waits_for_the_clock_rests)
{
    struct taker taker;
    pthread_t thread;
    int64_t digits;

    fixture->clock.rules.on_rollback = GUARD_WAIT;
    fixture->rig->sequences[0].deadline_ms = RIG_FOREVER_MS;
    taker.broker = rig_open(fixture->rig);
    (void)period_number(taker.broker, &digits);
    script_clock_set(NOON - SECOND);
    watch(&rig_sequence(taker.broker, "order")->filled);
    assert_ok(thread_start(&thread, "taker", taker_run, &taker, NULL));
    rig_await(has_rested, NULL);
    script_clock_set(NOON);
    pthread_join(thread, NULL);
    watch(NULL);
    assert_ok(taker.status);
}

/* --- the flusher of a spool --- */

/* Who is woken rests as long as a round is to be from the one before. */
static bool has_rested_once_woken(void *context)
{
    struct rig_broker *broker = context;

    wakeup_set(&broker->queue->context.flusher);
    return has_rested(NULL);
}

TEST_WITH(DIRECT, keeper_rests_between_its_rounds)
{
    struct rig_broker *broker;
    char folder[64];
    char path[80];

    assert_true(folder_make(folder, sizeof folder));
    (void)text_format(path, sizeof path, "%s/spool", folder);
    rig->queue.spool_path = path;
    broker = rig_open(rig);
    watch(&broker->queue->context.flusher.changed);
    rig_await(has_rested_once_woken, broker);
    RIG_AWAIT(atomic_load(&long_rests) > 0);
    rig_close(broker);
    watch(NULL);
    folder_remove(folder);
}
