/* SPDX-License-Identifier: Apache-2.0 */
/* The health of a pool whose authority is away: a spare window bridges the
 * time, but not for ever. */
#include "operate_fixture.h"
#include "support/numbers.h"

/* Either partition has a window, and a later one was leased for it. */
static bool has_spares(void *context)
{
    struct rig *rig = context;
    const int64_t windows[] = {fake_window(rig->stores[0], "main/0/order"),
                               fake_window(rig->stores[1], "main/1/order")};

    return windows[0] > 0 && windows[1] > 0 &&
           fake_value(rig->authority, "window/main/0/order") > windows[0] &&
           fake_value(rig->authority, "window/main/1/order") > windows[1];
}

TEST_WITH(WINDOWED, drained_authority_leases_nothing)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t calls;

    rig_take(broker, 1000);
    rig_await_rest(broker);
    rig_await(has_spares, rig);
    order(broker, "main", -1, SEQB_ORDER_DRAIN);
    calls = all_calls(rig->authority);
    expect_health(broker, SEQB_HEALTH_DEGRADED,
                  "pool main: authority auth is drained: drained by an "
                  "operator");
    fake_flush(rig->stores[0]);
    fake_flush(rig->stores[1]);
    rig_take(broker, 500);
    assert_int_equal(all_calls(rig->authority), calls);
    order(broker, "main", -1, SEQB_ORDER_RESUME);
    rig_await_state(broker, -1, SEQB_PARTITION_UP);
    fake_flush(rig->stores[0]);
    fake_flush(rig->stores[1]);
    rig_take(broker, 5000);
    assert_true(all_calls(rig->authority) > calls);
}

/* The rest of the current windows is all that it has. */
TEST_WITH(WINDOWED, pool_whose_authority_is_away_soon_cannot_serve)
{
    static const char words[] =
        "pool main cannot serve: the authority is away, and no spare window is "
        "left; authority auth is drained: drained by an operator";
    struct rig_broker *broker = rig_open(rig);
    int64_t number;
    struct seqb_error err;

    order(broker, "main", -1, SEQB_ORDER_DRAIN);
    expect_health(broker, SEQB_HEALTH_NOT_SERVING, words);
    order(broker, "main", -1, SEQB_ORDER_RESUME);
    rig_await_state(broker, -1, SEQB_PARTITION_UP);
    expect_health(broker, SEQB_HEALTH_SERVING, "");
    rig_take(broker, 1000);
    rig_await_rest(broker);
    rig_await(has_spares, rig);
    order(broker, "main", -1, SEQB_ORDER_DRAIN);
    expect_health(broker, SEQB_HEALTH_DEGRADED,
                  "pool main: authority auth is drained: drained by an "
                  "operator");
    rig_set_deadline(broker, "order", 300);
    while (rig_take_one(broker, &number, &err) == SEQB_OK)
        numbers_add(&rig->taken, &number, 1);
    expect_health(broker, SEQB_HEALTH_NOT_SERVING, words);
}

/* A direct partition needs no window. */
TEST_WITH(WINDOWED, pool_with_a_direct_partition_serves_without_its_authority)
{
    struct rig_broker *broker;

    rig->backends[1].ops = &backend_fake;
    broker = rig_open(rig);
    order(broker, "main", -1, SEQB_ORDER_DRAIN);
    expect_health(broker, SEQB_HEALTH_DEGRADED,
                  "pool main: authority auth is drained: drained by an "
                  "operator");
    order(broker, "main", 1, SEQB_ORDER_DRAIN);
    assert_int_equal(ha_health(broker->ha, NULL, 0), SEQB_HEALTH_NOT_SERVING);
}
