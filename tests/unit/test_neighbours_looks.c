/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When lessors are looked at and what is read of them, whom they wait for, and
 * who is passed over; over scripted stores.
 */
#include <stdlib.h>

#include "ha/startup.h"
#include "neighbours_fixture.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

/* The first of all, too. */
TEST_WITH(THREE_LESSORS, restarted_lessor_waits_for_the_first_one)
{
    struct rig_broker *broker = rig_open(rig);

    fake_set_down(rig->stores[0], true);
    rig_take_until(broker, 0, SEQB_PARTITION_QUARANTINED);
    fake_restart(rig->stores[2]);
    rig_take(broker, 8 * WINDOW_STOCK);
    await_lessor(broker, 2, HA_LESSOR_WAITING);
    assert_string_equal(lessor_of(broker, 2).waits_for, "b0");
    assert_int_equal(lessor_of(broker, 2).partition, 2);
    fake_set_down(rig->stores[0], false);
    await_lessor(broker, 2, HA_LESSOR_LEVEL);
    assert_null(lessor_of(broker, 2).waits_for);
}

/* New ones, others made level by another broker, and marks to be renewed. */
TEST_WITH(NEIGHBOURS, lessors_that_are_well_are_looked_at_no_more)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_NEIGHBOURS, 2);
    for (int i = 0; i < 3; i++) {
        broker = rig_open(rig);
        await_no_look(broker);
        for (int32_t j = 0; j < 4; j++)
            await_lessor(broker, j, HA_LESSOR_LEVEL);
        rig_close(broker);
        fake_forget(rig->stores[i], "known/");
    }
}

#define COUNTERS 400 /* two pages */

static void lease_name(int i, char *out, size_t size)
{
    (void)text_format(out, size, "window/main/2/key-%03d", i);
}

/* Of the lessor's own, of which each second one is not behind, and of the
 * other's. */
TEST_WITH(TWO_LESSORS, all_pages_are_raised)
{
    struct rig_broker *broker;
    char name[64];

    for (int i = 0; i < COUNTERS; i++) {
        lease_name(i, name, sizeof name);
        fake_put(rig->stores[0], name, i % 2 == 0 ? 10 : 1000);
        fake_put(rig->stores[1], name, 500);
    }
    broker = rig_open(rig);
    await_lessor(broker, 0, HA_LESSOR_LEVEL);
    await_lessor(broker, 1, HA_LESSOR_LEVEL);
    assert_in_range(fake_calls(rig->stores[0], FAKE_RAISE), COUNTERS / 2,
                    COUNTERS * 3 / 4);
    for (int i = 0; i < COUNTERS; i++) {
        lease_name(i, name, sizeof name);
        assert_int_equal(fake_value(rig->stores[0], name),
                         i % 2 == 0 ? 500 : 1000);
        assert_true(fake_value(rig->stores[1], name) >=
                    (i % 2 == 0 ? 500 : 1000));
    }
}

/* What a note took counts from its begin: else each would be slow. */
TEST_WITH(TWO_LESSORS, note_whose_answer_is_lost_is_no_slow_call)
{
    struct rig_broker *broker;
    struct ha_pool *pool;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    pool = ha_pool_at(broker->ha, 0);
    rig_take(broker, WINDOW_STOCK);
    fake_lose_answers(rig->stores[1], FAKE_RAISE, 1);
    rig_take_until_failed(broker, 1, 0);
    rig_await_use(broker, 1);
    pthread_mutex_lock(pool->lock);
    assert_int_equal(pool->pool.member[1].slow, 0);
    assert_int_equal(pool->pool.member[1].ejections, 1);
    pthread_mutex_unlock(pool->lock);
}

static bool is_found_hanging(void *context)
{
    struct ha_pool *pool =
        ha_pool_at(((const struct rig_broker *)context)->ha, 0);
    bool is_found;

    pthread_mutex_lock(pool->lock);
    is_found = pool_hanging(pool, clock_now_ms()) == 1;
    pthread_mutex_unlock(pool->lock);
    return is_found;
}

/* Whoever waited for it to lease, or to note a lease, would wait for good. */
TEST_WITH(NEIGHBOURS, lessor_that_hangs_is_passed_over)
{
    const struct ha_entry entry = {0, "clock/x", 1};
    struct rig_broker *broker;
    int64_t standing;

    rig_shape(rig, RIG_NEIGHBOURS, 2);
    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    await_no_look(broker);
    rig_take(broker, 4 * WINDOW_STOCK);
    rig_await_rest(broker);
    fake_hang(rig->stores[0]);
    assert_int_equal(
        ha_note(broker->ha, &entry, clock_now_ms() + 10, &standing, NULL),
        SEQB_UNAVAILABLE);
    rig_await(is_found_hanging, broker);
    rig_take(broker, 64 * WINDOW_STOCK);
    fake_release(rig->stores[0]);
}

/* No more than there is room for, and how many there are. */
TEST_WITH(NEIGHBOURS, lessors_are_shown_up_to_the_capacity)
{
    struct rig_broker *broker;
    static const char *const names[] = {"unknown", "level", "syncing",
                                        "waiting"};
    struct ha_lessor shown[3] = {{.partition = -1}};
    size_t count;
    const int64_t start_ms = clock_now_ms();

    rig_shape(rig, RIG_NEIGHBOURS, 2);
    broker = rig_open(rig);
    shown[2].partition = -2;
    ha_lessors(broker->ha, shown, 2, &count);
    assert_int_equal(count, 4);
    assert_string_equal(shown[1].backend, "b1");
    assert_in_range(shown[1].since_ms, 0, clock_now_ms() - start_ms);
    assert_int_equal(shown[2].partition, -2);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_string_equal(ha_lessor_state_name((enum ha_lessor_state)i),
                            names[i]);
}

static void look_again(struct rig_broker *broker)
{
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);

    pthread_mutex_lock(pool->lock);
    lessors_want(&pool->lessors, clock_now_ms());
    pthread_cond_signal(pool->lessors_changed);
    pthread_mutex_unlock(pool->lock);
}

/* Its marks of the others, and the level. */
TEST_WITH(THREE_LESSORS, look_reads_each_lessor_once)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t claims[3];

    await_no_look(broker);
    for (int i = 0; i < 3; i++)
        claims[i] = fake_calls(rig->stores[i], FAKE_CLAIM);
    look_again(broker);
    for (int i = 0; i < 3; i++)
        assert_true(fake_wait_for_calls(rig->stores[i], FAKE_CLAIM,
                                        claims[i] + 3, RIG_PATIENCE_MS));
    rig_close(broker);
    for (int i = 0; i < 3; i++)
        assert_int_equal(fake_calls(rig->stores[i], FAKE_CLAIM), claims[i] + 3);
}

/* Whichever is to be looked at. */
TEST_WITH(NEIGHBOURS, lessors_of_each_pool_are_made_level)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_NEIGHBOURS, 2);
    rig_split(rig);
    for (size_t i = 0; i < 2; i++) {
        broker = rig_open(rig);
        for (int32_t j = 0; j < 4; j++) {
            await_lessor(broker, j, HA_LESSOR_LEVEL);
            assert_string_equal(lessor_of(broker, j).pool,
                                j < 2 ? "main" : "other");
            assert_int_equal(lessor_of(broker, j).partition, j % 2);
        }
        rig_close(broker);
        fake_restart(rig->stores[2 * i]);
    }
}

static bool has_failed(void *context)
{
    return rig_partition(context, 1).errors > 0;
}

/* Nor is a look. */
TEST_WITH(TWO_LESSORS, look_whose_answer_is_lost_is_no_slow_call)
{
    struct rig_broker *broker;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    await_no_look(broker);
    fake_lose_answers(rig->stores[1], FAKE_CLAIM, 1);
    look_again(broker);
    rig_await(has_failed, broker);
    assert_int_equal(rig_partition(broker, 1).slow, 0);
    rig_await_use(broker, 1);
}
