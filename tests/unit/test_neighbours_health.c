/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours that lease no windows, or find no witness: what health says of it,
 * and that nothing is given.
 */
#include "health_fixture.h"
#include "neighbours_fixture.h"
#include "support/events.h"
#include "support/test.h"

/* Of a counter of leases: the first one that no window has a number for. */
#define LEASE_END ((INT64_MAX >> 13) + 1)

/* Takes what the windows hold that are leased already; more must not come. */
static void take_what_is_left(struct rig_broker *broker)
{
    struct seqb_error err = {SEQB_OK, ""};
    int64_t number;

    while (rig_take_one(broker, &number, &err) == SEQB_OK) {
        numbers_add(&broker->rig->taken, &number, 1);
        assert_true(numbers_count(&broker->rig->taken) < 64 * WINDOW_STOCK);
    }
}

TEST_WITH(THREE_LESSORS, lessor_that_waits_degrades_the_health)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 4 * WINDOW_STOCK);
    expect_health_says(broker, SEQB_HEALTH_SERVING, "");
    fake_set_down(rig->stores[1], true);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    fake_restart(rig->stores[0]);
    rig_take(broker, 8 * WINDOW_STOCK);
    await_lessor(broker, 0, HA_LESSOR_WAITING);
    expect_health_says(broker, SEQB_HEALTH_DEGRADED,
                       "; partition 0 (b0) leases no windows: it waits for b1");
}

TEST_WITH(TWO_LESSORS, pool_without_windows_cannot_serve)
{
    struct rig_broker *broker;

    rig->sequences[0].deadline_ms = 300;
    broker = rig_open(rig);
    fake_set_down(rig->stores[1], true);
    take_what_is_left(broker);
    rig_await_state(broker, 1, SEQB_PARTITION_QUARANTINED);
    expect_health_says(
        broker, SEQB_HEALTH_NOT_SERVING,
        "pool main cannot serve: no neighbour can lease a window, "
        "and no spare one is left; partition 1 (b1) is");
}

/* As a migration leaves it, which may have left out the store that leases. */
TEST_WITH(TWO_LESSORS, ended_counter_notes_nothing)
{
    struct rig_broker *broker;

    rig->sequences[0].deadline_ms = 300;
    broker = rig_open(rig);
    await_lessor(broker, 0, HA_LESSOR_LEVEL);
    fake_put(rig->stores[1], LEASES(0), LEASE_END);
    fake_put(rig->stores[1], LEASES(1), LEASE_END);
    fake_put(rig->stores[1], LEASES(2), LEASE_END);
    fake_put(rig->stores[1], LEASES(3), LEASE_END);
    take_what_is_left(broker);
}

/* --- lessors that refuse a lease --- */

/* What the lessors answer to the partition that forgets. */
static void refuse_leases(struct rig *rig, enum seqb_status first,
                          enum seqb_status second, enum seqb_status third)
{
    fake_refuse(rig->stores[0], FAKE_RESERVE, LEASES(3), first);
    fake_refuse(rig->stores[1], FAKE_RESERVE, LEASES(3), second);
    fake_refuse(rig->stores[2], FAKE_RESERVE, LEASES(3), third);
}

static bool refuses_order(void *context)
{
    return rig_partition(context, 3).refused == 1;
}

static bool refuses_nothing(void *context)
{
    return rig_partition(context, 3).refused == 0;
}

/* Its partition is well, and so are those who lease. */
TEST_WITH(THREE_LESSORS, what_each_lessor_refuses_is_that_counters_alone)
{
    struct rig_broker *broker;

    events_start();
    refuse_leases(rig, SEQB_REFUSED, SEQB_REFUSED, SEQB_REFUSED);
    broker = rig_open(rig);
    rig_take(broker, WINDOW_STOCK);
    rig_await(refuses_order, broker);
    rig_expect_words(rig_partition(broker, 3).reason,
                     "refuses counter order: fake store-");
    rig_expect_words(rig_partition(broker, 3).reason,
                     ": " LEASES(3) ": told to refuse");
    events_expect("event=counter_refused", "partition=3", 1);
    refuse_leases(rig, SEQB_OK, SEQB_OK, SEQB_OK);
    rig_await(refuses_nothing, broker);
    events_expect("event=counter_recovered", "partition=3", 1);
    events_expect("event=quarantined", "", 0);
}
