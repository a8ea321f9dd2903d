/* SPDX-License-Identifier: Apache-2.0 */
/* A sequence is advanced while the flusher has its numbers in hand, or the
 * flusher cannot lock its file. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "platform/error.h"
#include "platform/file.h"
#include "platform/thread.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"

#define TO 1000000

/* Threads other than `mine` that lock a file while `is_held`. */
static struct {
    pthread_t mine;
    atomic_bool is_held;
    atomic_bool is_reached;
    bool is_lost; /* the file cannot be locked by `mine` */
    atomic_bool is_lost_for_others;
} locks;

WRAPPED(enum seqb_status, file_lock, const char *path, int64_t until_ms,
        int *out, struct seqb_error *err)
{
    if (pthread_equal(pthread_self(), locks.mine) == 0) {
        while (atomic_load(&locks.is_held)) {
            atomic_store(&locks.is_reached, true);
            thread_rest_us(1000);
        }
    }
    if (pthread_equal(pthread_self(), locks.mine) != 0
            ? locks.is_lost
            : atomic_load(&locks.is_lost_for_others))
        return error_set(err, SEQB_STATE_DIR, "%s: no lock", path);
    return __real_file_lock(path, until_ms, out, err);
}

static bool is_reached(void *context)
{
    (void)context;
    return atomic_load(&locks.is_reached);
}

/* Nothing below the advance is kept, nor handed out by the next broker. */
TEST_WITH(DIRECT, numbers_in_hand_are_dropped_by_an_advance)
{
    struct rig_broker *broker;

    locks.mine = pthread_self();
    rig->queue.spool_path = rig_file(rig, "spool");
    rig->sequences[0].idle_after_ms = 1;
    broker = rig_open(rig);
    rig_take(broker, 10);
    rig_await_rest(broker);
    atomic_store(&locks.is_held, true);
    rig_await(is_reached, NULL);
    assert_int_equal(queue_advance(broker->queue, "order", TO, NULL), SEQB_OK);
    atomic_store(&locks.is_held, false);
    rig_close(broker);
    broker = rig_open(rig);
    rig->taken.count = 0;
    rig_take(broker, 2000);
    assert_true(numbers_lowest(&rig->taken, 0) > TO);
}

/* The stores are raised by then: who reads the error must not take it for an
 * advance that did not happen. */
TEST_WITH(DIRECT, advance_that_drops_nothing_kept_says_that_it_was_carried_out)
{
    struct rig_broker *broker;
    struct seqb_error err = {SEQB_OK, ""};

    locks.mine = pthread_self();
    rig->queue.spool_path = rig_file(rig, "spool");
    broker = rig_open(rig);
    rig_take(broker, 10);
    locks.is_lost = true;
    assert_int_equal(queue_advance(broker->queue, "order", TO, &err),
                     SEQB_STATE_DIR);
    locks.is_lost = false;
    rig_expect_words(err.text, "sequence order is advanced in every store");
    rig_expect_words(err.text, "spool.lock: no lock");
    rig_take(broker, 10);
    assert_true(numbers_lowest(&rig->taken, 10) > TO);
}

TEST_WITH(DIRECT, numbers_that_cannot_be_kept_are_put_back)
{
    struct rig_broker *broker;

    locks.mine = pthread_self();
    rig->queue.spool_path = rig_file(rig, "spool");
    rig->sequences[0].idle_after_ms = 1;
    broker = rig_open(rig);
    events_start();
    atomic_store(&locks.is_lost_for_others, true);
    rig_take(broker, 10);
    RIG_AWAIT(events_count("event=spool_failed", "no lock") > 0);
    RIG_AWAIT(rig_status(broker, "order").stock > 0);
    atomic_store(&locks.is_lost_for_others, false);
}
