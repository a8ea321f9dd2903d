/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A direct counter whose store changed, or the counter of windows of an
 * authority that did, under a broker that was just started: it is raised once
 * the level of the other partitions is known, and waits for none that says
 * nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/rig.h"
#include "support/test.h"

#define FIRST          "main/0/order"
#define SECOND         "main/1/order"
#define GAP            1000 /* of the rig */
#define FIRST_WINDOWS  "window/main/0/order"
#define SECOND_WINDOWS "window/main/1/order"
#define LARGE_GAP      1000000 /* more than is under way */
#define WINDOW_GAP     65536
#define VALUES         (INT64_C(1) << 60) /* of a partition of the rig */
/* Far above what the first store is raised to by gap and chance alone. */
#define LEVEL          INT64_C(1000000000000)
/* Of the windows of the rig, which end at 2^52. */
#define PAST_HALF      (INT64_C(3) << 50)

/* A pool in use, of which the second store is far above the first one, and the
 * first one became another one. */
static void change_first(struct rig *rig, int64_t level)
{
    rig_use(rig, 500);
    fake_put(rig->stores[1], SECOND, level);
    fake_change_origin(rig->stores[0]);
}

static void *take_one(void *context)
{
    struct seqb_error err;

    (void)rig_take_one(context, &(int64_t){0}, &err);
    return NULL;
}

/* As many numbers as it takes until the first store gives some, too. */
static void take_of_first(struct rig_broker *broker)
{
    while (rig_partition(broker, 0).granted == 0)
        rig_take(broker, 16);
}

/* The first store answers while the second one does not. How far it is raised
 * above that one's level, before chance has a part in it. */
static int64_t raised_above(struct rig *rig, int64_t level)
{
    struct rig_broker *broker;
    pthread_t taker;
    int64_t calls;

    rig_shape(rig, RIG_DIRECT, 1);
    rig->pool.layout.failover_gap = LARGE_GAP;
    change_first(rig, level);
    broker = rig_open(rig);
    calls = fake_calls(rig->stores[0], FAKE_RESERVE);
    fake_hang(rig->stores[1]);
    assert_int_equal(pthread_create(&taker, NULL, take_one, broker), 0);
    assert_true(fake_wait_for_calls(rig->stores[0], FAKE_RESERVE, calls + 2,
                                    RIG_PATIENCE_MS));
    fake_release(rig->stores[1]);
    assert_int_equal(pthread_join(taker, NULL), 0);
    take_of_first(broker);
    rig_close(broker);
    return fake_first_raise(rig->stores[0], FIRST).floor - level;
}

/* By the gap, which a level past half of all values leaves no room for. */
TEST_WITH(DIRECT, store_that_changed_is_raised_above_the_level_of_others)
{
    assert_true(raised_above(rig, LEVEL) >= LARGE_GAP);
    assert_true(raised_above(rig, VALUES / 16 * 7) >= LARGE_GAP);
    assert_in_range(raised_above(rig, VALUES / 16 * 9), 0, LARGE_GAP - 1);
}

/* Neither has a level that says anything. */
TEST_WITH(DIRECT, stores_that_all_changed_do_not_wait_for_each_other)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_DIRECT, 2);
    rig_use(rig, 500);
    for (int i = 0; i < RIG_PARTITIONS; i++)
        fake_change_origin(rig->stores[i]);
    broker = rig_open(rig);
    take_of_first(broker);
}

TEST_WITH(DIRECT, store_that_cannot_be_asked_is_not_waited_for)
{
    change_first(rig, LEVEL);
    fake_set_down(rig->stores[1], true);
    rig_take(rig_open(rig), 500);
    assert_in_range(fake_value(rig->stores[0], FIRST), GAP, LEVEL - 1);
}

TEST_WITH(DIRECT, store_that_refuses_the_counter_is_not_waited_for)
{
    change_first(rig, LEVEL);
    fake_refuse(rig->stores[1], FAKE_RESERVE, SECOND, SEQB_REFUSED);
    rig_take(rig_open(rig), 500);
    assert_in_range(fake_value(rig->stores[0], FIRST), GAP, LEVEL - 1);
}

/* Each store is asked for it, the one that waits once more. */
TEST_WITH(DIRECT, advance_raises_the_one_that_waits_too)
{
    struct rig_broker *broker;
    struct seqb_error err;
    const int64_t to = 16 * LEVEL;

    change_first(rig, LEVEL);
    broker = rig_open(rig);
    assert_done(queue_advance(broker->queue, "order", to, &err), err);
    assert_true(fake_value(rig->stores[0], FIRST) > LEVEL);
}

/* --- windows of an authority --- */

/* A pool in use, of which the second store counts in a window far above those
 * of the first one. The first one forgot its window, and the authority became
 * another one. */
static void change_authority(struct rig *rig, int64_t level)
{
    rig_use(rig, 500);
    fake_put(rig->authority, SECOND_WINDOWS, level);
    fake_restart(rig->stores[1]);
    fake_set_down(rig->stores[0], true);
    rig_use(rig, 500);
    fake_set_down(rig->stores[0], false);
    fake_restart(rig->stores[0]);
    fake_change_origin(rig->authority);
}

/* The first store asks for windows while the second one does not answer. What
 * the first ones are raised above, before chance has a part in it. */
static int64_t raise_below(struct rig *rig, int64_t level)
{
    struct rig_broker *broker;
    pthread_t taker;
    int64_t calls;

    change_authority(rig, level);
    broker = rig_open(rig);
    calls = fake_calls(rig->authority, FAKE_RESERVE);
    fake_hang(rig->stores[1]);
    assert_int_equal(pthread_create(&taker, NULL, take_one, broker), 0);
    assert_true(fake_wait_for_calls(rig->authority, FAKE_RESERVE, calls + 2,
                                    RIG_PATIENCE_MS));
    fake_release(rig->stores[1]);
    assert_int_equal(pthread_join(taker, NULL), 0);
    take_of_first(broker);
    return fake_first_raise(rig->authority, FIRST_WINDOWS).floor;
}

TEST_WITH(WINDOWED, windows_are_raised_above_the_level_of_others)
{
    assert_true(raise_below(rig, LEVEL) >= LEVEL + WINDOW_GAP);
}

/* A pool past half of its windows has no floor for those that fall behind. */
TEST_WITH(WINDOWED, windows_past_half_are_raised_above_the_level_of_others)
{
    assert_true(raise_below(rig, PAST_HALF) >= PAST_HALF);
}

/* Neither has a window that says anything. */
TEST_WITH(WINDOWED, stores_that_all_forgot_do_not_wait_for_each_other)
{
    struct rig_broker *broker;

    rig_use(rig, 500);
    for (int i = 0; i < 2; i++)
        fake_restart(rig->stores[i]);
    fake_change_origin(rig->authority);
    broker = rig_open(rig);
    take_of_first(broker);
}

TEST_WITH(WINDOWED, windows_do_not_wait_for_a_store_that_cannot_be_asked)
{
    change_authority(rig, LEVEL);
    fake_set_down(rig->stores[1], true);
    rig_take(rig_open(rig), 500);
    assert_in_range(fake_value(rig->authority, FIRST_WINDOWS), WINDOW_GAP,
                    LEVEL - 1);
}
