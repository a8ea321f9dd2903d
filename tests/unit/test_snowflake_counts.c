/* SPDX-License-Identifier: Apache-2.0 */
/* What a pool with snowflakes refuses, and what it tells: its counts, and who
 * has which worker id. */
#include <unistd.h>

#include "flake_fixture.h"
#include "platform/clock.h"
#include "queue/sequence.h"
#include "support/failure.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

TEST_WITH(SNOWFLAKES_IN_USE, snowflake_cannot_be_advanced)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t highest;

    assert_fails(queue_advance(broker->queue, "order", INT64_MAX / 2, &failure),
                 SEQB_INVALID, "of the time");
    assert_status(queue_highest(broker->queue, "order", &highest, NULL),
                  SEQB_INVALID);
}

TEST_WITH(SNOWFLAKES_IN_USE, snowflake_has_no_cursor)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_cursor *cursor = NULL;

    assert_fails(
        queue_cursor_open(rig_sequence(broker, "order"), 0, &cursor, &failure),
        SEQB_INVALID, "of a time that is over");
}

/* One that is listed, and one that made itself. */
TEST_WITH(SNOWFLAKES_IN_USE, each_sequence_of_a_pool_counts_its_own)
{
    struct rig_broker *broker;
    int64_t id;

    rig->automatic.memory_bits = 0;
    rig->automatic.snowflake = flake_options();
    rig_automatic(rig, "tmp-*", 1);
    broker = rig_open(rig);
    rig_take(broker, 3);
    assert_ok(queue_next(rig_sequence(broker, "tmp-1"), &id, NULL));
    numbers_add(&rig->taken, &id, 1);
    assert_int_equal(rig_status(broker, "order").taken, 3);
    assert_int_equal(rig_status(broker, "tmp-1").taken, 1);
}

/* They would come back with times of long ago. */
TEST_STATE(WINDOWED, nothing_is_left_at_a_stop)
{
    struct rig *rig = flake_rig_open(state, 4);
    struct rig_broker *broker;

    rig->queue.spool_path = rig_file(rig, "spool");
    broker = rig_open(rig);
    rig_take(broker, 1);
    assert_int_equal(rig_status(broker, "order").stock, 0);
    rig_close(broker);
    assert_int_equal(access(rig->path, F_OK), -1);
}

TEST_WITH(SNOWFLAKES_IN_USE, all_ids_that_were_ever_taken_are_listed)
{
    struct rig_broker *broker;
    struct seqb_worker workers[8];
    size_t count = 0;

    row_put_other(rig, 0, FLAKE_LONG_LEASE_MS);
    broker = rig_open(rig); /* it has id 1 */
    row_put(rig, 2, "nonsense");
    assert_ok(queue_workers(broker->queue, workers, 8, &count, NULL));
    assert_int_equal(count, 3);
    for (int32_t i = 0; i < 3; i++) {
        assert_string_equal(workers[i].pool, "main");
        assert_int_equal(workers[i].worker, i);
        assert_int_equal(workers[i].is_ours, i == 1);
        assert_false(workers[i].is_free);
    }
    assert_string_equal(workers[0].holder, "bills@far:9");
    rig_expect_words(workers[1].holder, "orders@");
    assert_true(workers[1].renewed_ms > clock_wall_ms() - RIG_FOREVER_MS);
    assert_true(workers[1].used_upto_ms >= workers[1].renewed_ms);
    rig_expect_words(workers[2].holder, "damaged");
    assert_ok(queue_workers(broker->queue, workers, 1, &count, NULL));
    assert_int_equal(count, 3);
    fake_set_down(rig->authority, true);
    assert_fails(queue_workers(broker->queue, workers, 8, &count, &failure),
                 SEQB_UNAVAILABLE, "backend auth");
    fake_set_down(rig->authority, false);
}

TEST_WITH(SNOWFLAKES_IN_USE, lease_is_told_and_what_is_taken_out_gives_no_id)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_worker_lease leases[2] = {{.worker = -2}, {.worker = -2}};
    struct seqb_sequence *order = rig_sequence(broker, "order");
    size_t count;
    int64_t id;

    queue_worker_leases(broker->queue, leases, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(leases[0].worker, -2);
    queue_worker_leases(broker->queue, leases, 2, &count);
    assert_int_equal(count, 1);
    assert_string_equal(leases[0].pool, "main");
    assert_int_equal(leases[0].worker, 0);
    assert_in_range(leases[0].left_ms, 1, FLAKE_LONG_LEASE_MS);
    assert_int_equal(leases[1].worker, -2);
    sequence_remove(order, false);
    assert_int_equal(queue_next(order, &id, NULL), SEQB_UNKNOWN_KEY);
    assert_int_equal(queue_try_next(order, &id, NULL), SEQB_UNKNOWN_KEY);
}

/* The topology of a reload, and the options in it, is freed by the reload after
 * the next one. A thread that reads the leases does not lock the catalog. */
TEST_WITH(SNOWFLAKES_IN_USE, leases_are_counted_by_the_first_options)
{
    struct rig_broker *broker = rig_open(rig);
    static struct queue_options next;
    struct queue_reload *reload = NULL;
    size_t count;

    next = rig->queue;
    assert_ok(queue_prepare(broker->queue, &next, NULL, &reload, NULL));
    assert_ok(queue_commit(reload, NULL));
    queue_reload_free(reload);
    next.snowflake_count = 2; /* as if it was freed and written over */
    queue_worker_leases(broker->queue, NULL, 0, &count);
    next.snowflake_count = 1;
    assert_int_equal(count, 1);
}
