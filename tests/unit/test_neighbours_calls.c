/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that neighbours make, where they fail: by a store that refuses, or
 * by its worker, which does not come to them, or stops. */
#include <pthread.h>
#include <stdlib.h>

#include "ha/neighbours/sync.h"
#include "ha/startup.h"
#include "neighbours_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/test.h"

/* --- a worker that is busy --- */

static atomic_bool is_held;

static bool is_let_go(void *context)
{
    struct worker *worker = context;
    bool is_stopping;

    pthread_mutex_lock(worker->lock);
    is_stopping = worker->is_stopping;
    pthread_mutex_unlock(worker->lock);
    return is_stopping || !atomic_load(&is_held);
}

static enum seqb_status question_run(struct worker *worker, struct ask *ask,
                                     struct seqb_error *err)
{
    (void)ask;
    (void)err;
    rig_await(is_let_go, worker);
    return SEQB_OK;
}

/* Until it is to stop, or is let go. */
static void hold(struct worker *worker)
{
    struct ask *ask = calloc(1, sizeof *ask);

    assert_non_null(ask);
    atomic_store(&is_held, true);
    ask_init(ask, question_run, ask_free);
    assert_true(ask_post(worker, ask));
    ask_release(ask);
}

static struct worker *worker_of(const struct rig_broker *broker, int32_t i)
{
    return ha_pool_at(broker->ha, 0)->workers[i];
}

/* Posted to it, besides slots. */
static int32_t count_calls(struct worker *worker)
{
    int32_t count = 0;

    pthread_mutex_lock(worker->lock);
    for (struct worker_job *job = worker->first; job != NULL; job = job->next)
        count += job->call != NULL;
    pthread_mutex_unlock(worker->lock);
    return count;
}

static bool has_none(void *context)
{
    return count_calls(context) == 0;
}

/* --- a sync --- */

TEST_WITH(TWO_LESSORS, sync_waits_for_no_busy_worker_for_good)
{
    struct seen *seen = seen_level();
    struct rig_broker *broker;
    struct sync sync;
    struct seqb_error err;

    rig->backends[1].options.connect_timeout_ms = 100;
    rig->backends[1].options.timeout_ms = 100;
    broker = rig_open(rig);
    sync = sync_of(ha_pool_at(broker->ha, 0), seen, 0);
    hold(worker_of(broker, 1));
    assert_false(sync_mark_all(&sync, &err));
    assert_int_equal(err.status, SEQB_UNAVAILABLE);
    assert_string_equal(err.text, "backend b1: no answer in time");
    atomic_store(&is_held, false);
    rig_await(has_none, worker_of(broker, 1));
    free(seen);
}

/* The connection's word on the incarnation is out of date then: the next call
 * makes another one. */
TEST_WITH(TWO_LESSORS, connection_to_a_store_that_was_restarted_is_closed)
{
    struct seen *seen = seen_level();
    struct rig_broker *broker = rig_open(rig);
    const struct sync sync = sync_of(ha_pool_at(broker->ha, 0), seen, 0);
    const struct ha_entry entry = {1, "clock/x", 1};
    const int64_t opened = fake_calls(rig->stores[1], FAKE_OPEN);
    int64_t standing;
    struct seqb_error err;

    (void)text_copy(seen[1].incarnation, sizeof seen[1].incarnation, "run-5");
    assert_false(sync_run(&sync, &err));
    assert_int_equal(err.status, SEQB_FENCED);
    assert_int_equal(ha_note(broker->ha, &entry,
                             clock_now_ms() + RIG_PATIENCE_MS, &standing, &err),
                     SEQB_OK);
    assert_int_equal(fake_calls(rig->stores[1], FAKE_OPEN), opened + 1);
    free(seen);
}

TEST_WITH(TWO_LESSORS, call_of_a_worker_that_stops_is_told_so)
{
    struct rig_broker *broker = rig_open(rig);
    struct worker *worker = worker_of(broker, 1);
    struct call *call = call_new(ha_pool_at(broker->ha, 0), 1);
    struct seqb_error err;

    assert_non_null(call);
    call->run = call_read;
    await_no_look(broker);
    pthread_mutex_lock(worker->lock);
    worker->is_stopping = true;
    pthread_mutex_unlock(worker->lock);
    assert_false(call_ask(call, &err));
    assert_int_equal(err.status, SEQB_CLOSED);
    assert_string_equal(err.text, "the broker is closing");
}

/* Once store 1 is read, of store 0 no claim can be written any more. */
static void *fail_the_last_claim(void *argument)
{
    struct rig *rig = argument;
    const bool hangs =
        fake_wait_for_hanging(rig->stores[1], 1, RIG_PATIENCE_MS);

    fake_fail(rig->stores[0], FAKE_SWAP, 1, SEQB_UNREACHABLE);
    fake_release(rig->stores[1]);
    return hangs ? rig : NULL;
}

TEST_WITH(TWO_LESSORS, sync_whose_last_claim_fails_is_none)
{
    struct seen *seen = seen_level();
    struct rig_broker *broker;
    struct sync sync;
    pthread_t thread;
    void *has_failed;
    char text[256];
    struct seqb_error err;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    (void)text_copy(seen[0].synced, sizeof seen[0].synced, "-run-0");
    (void)text_copy(seen[1].marks[0], sizeof seen[1].marks[0], "run-0|run-0");
    fake_claim_put(rig->stores[0], "synced/main", "-run-0");
    sync = sync_of(ha_pool_at(broker->ha, 0), seen, 0);
    fake_hang(rig->stores[1]);
    assert_int_equal(pthread_create(&thread, NULL, fail_the_last_claim, rig),
                     0);
    assert_false(sync_run(&sync, &err));
    pthread_join(thread, &has_failed);
    assert_non_null(has_failed);
    fake_claim_text(rig->stores[0], "synced/main", text, sizeof text);
    assert_string_equal(text, "-run-0");
    free(seen);
    rig_take(broker, 4 * WINDOW_STOCK);
}
