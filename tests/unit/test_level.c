/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions that were away and come back behind the others: they are raised
 * to their level before they grant, once, and nobody is dragged along by one
 * that ran ahead by mistake. How far one may lag is in test_fence.c.
 */
#include <stdlib.h>

#include "ha/policy/fence.h"
#include "store/layout.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

#define COUNTER_0 "main/0/order"
#define COUNTER_1 "main/1/order"

/* Takes numbers while partition 0 is away, until the other one is at `level`;
 * then it is back. */
static void be_away(struct rig *rig, struct rig_broker *broker, int64_t level,
                    int64_t (*of)(struct fake_store *store, const char *name))
{
    fake_set_down(rig->stores[0], true);
    rig_take_until(broker, 0, SEQB_PARTITION_QUARANTINED);
    while (of(rig->stores[1], COUNTER_1) < level)
        rig_take(broker, 100);
    fake_set_down(rig->stores[0], false);
}

TEST_WITH(DIRECT, one_that_was_away_goes_on_near_the_others)
{
    struct rig_broker *broker = rig_open(rig);

    events_start();
    rig_take(broker, 1000);
    be_away(rig, broker, 5000, fake_value);
    assert_true(fake_value(rig->stores[0], COUNTER_0) < 2000);
    rig_await_use(broker, 0);
    rig_take(broker, 4000);
    assert_true(fake_value(rig->stores[0], COUNTER_0) > 5000);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RAISE), 1);
    assert_int_equal(fake_calls(rig->stores[1], FAKE_RAISE), 0);
    events_expect("info event=raised", COUNTER_0, 1);
    events_expect("event=raised", "it had fallen behind", 1);
}

static void order(struct rig_broker *broker, enum seqb_order order)
{
    assert_ok(ha_command(broker->ha, "main", 0, order, NULL));
}

TEST_WITH(DIRECT, one_that_was_away_shortly_is_left_where_it_is)
{
    struct rig_broker *broker = rig_open(rig);

    events_start();
    rig_take(broker, 100);
    /* An order is followed at once: of a store that fails nobody knows how far
     * the other one goes on until that is seen. */
    order(broker, SEQB_ORDER_DRAIN);
    while (fake_value(rig->stores[1], COUNTER_1) < 300)
        rig_take(broker, 100);
    order(broker, SEQB_ORDER_RESUME);
    rig_await_use(broker, 0);
    rig_take(broker, 200);
    assert_int_equal(events_count("event=raised", ""), 0);
}

/* The windows that are left over are dropped, and a fresh one is taken. */
TEST_WITH(WINDOWED, one_that_forgets_goes_on_near_the_others_windows)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 1000);
    be_away(rig, broker, 256, fake_window);
    fake_put(rig->authority, "window/main/1/order", 300);
    fake_flush(rig->stores[1]); /* the next of its windows is 301 */
    while (fake_window(rig->stores[1], COUNTER_1) < 300)
        rig_take(broker, 100);
    rig_await_use(broker, 0);
    while (fake_window(rig->stores[0], COUNTER_0) < 300 - FENCE_LAG_WINDOWS)
        rig_take(broker, 100);
}

/* Somebody set its counter far up: that is no place to follow it to. */
TEST_WITH(DIRECT, none_is_dragged_to_the_end_of_its_range)
{
    const int64_t most = layout_counter_max(rig->pool.layout.bits,
                                            rig->sequences[0].memory_bits);
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 1000);
    fake_put(rig->stores[0], COUNTER_0, most - 100);
    while (fake_value(rig->stores[0], COUNTER_0) < most)
        rig_take(broker, 100);
    rig_take(broker, 1000);
    assert_true(fake_value(rig->stores[1], COUNTER_1) < most / 2);
    assert_int_equal(fake_calls(rig->stores[1], FAKE_RAISE), 0);
}
