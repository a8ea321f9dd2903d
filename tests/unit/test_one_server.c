/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brokers whose partitions are one server: what one finds out is true of all,
 * and one that is dead is not flooded. The gate itself is in test_endpoint.c.
 */
#include <stdlib.h>

#include "platform/clock.h"
#include "store/endpoint.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

#define DEAD_MS 2500

/* Four partitions; all but the last `apart` are on one server. */
static struct rig_broker *open_on_one(struct rig *rig, size_t apart)
{
    rig_shape(rig, RIG_DIRECT, 2);
    for (size_t i = 0; i < RIG_PARTITIONS - apart; i++) {
        rig->backends[i].options.host = "db";
        rig->backends[i].options.port = 1;
    }
    return rig_open(rig);
}

TEST_WITH(DIRECT, one_that_cannot_connect_speaks_for_its_server)
{
    struct rig_broker *broker = open_on_one(rig, 2);

    events_start();
    fake_set_down(rig->stores[0], true);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    rig_expect_words(rig_partition(broker, 1).reason,
                     "as backend b0 on the same server: fake store-0: is down");
    assert_int_equal(rig_partition(broker, 2).errors, 0);
    assert_int_equal(rig_partition(broker, 3).errors, 0);
    fake_set_down(rig->stores[0], false);
    rig_await_use(broker, 0);
    rig_await_use(broker, 1);
    rig_take(broker, 1000);
}

static int64_t opens_of(struct rig *rig)
{
    int64_t opens = 0;

    for (size_t i = 0; i < RIG_PARTITIONS; i++)
        opens += fake_calls(rig->stores[i], FAKE_OPEN);
    return opens;
}

/* However many wait for it. A stall makes this longer, and more may come. */
TEST_WITH(DIRECT, a_dead_server_is_tried_twice_a_second_by_all)
{
    struct rig_broker *broker;
    int64_t begin_ms;
    int64_t until_ms;
    int64_t opens;

    rig->sequences[0].deadline_ms = 100;
    broker = open_on_one(rig, 0);
    opens = opens_of(rig);
    begin_ms = clock_now_ms();
    rig_set_down(rig, true);
    while (clock_now_ms() < begin_ms + DEAD_MS)
        (void)rig_take_one(broker, &(int64_t){0}, NULL);
    until_ms = clock_now_ms() + ENDPOINT_ATTEMPT_MS;
    opens = opens_of(rig) - opens;
    assert_true(opens > 0);
    assert_true(opens <= 1 + (clock_now_ms() - begin_ms) / ENDPOINT_ATTEMPT_MS);
    rig_set_down(rig, false);
    RIG_AWAIT(clock_now_ms() >= until_ms);
    for (int32_t i = 0; i < RIG_PARTITIONS; i++)
        rig_await_use(broker, i);
}

/* Files have no server: each is tried by itself. */
TEST_WITH(DIRECT, stores_of_their_own_fail_alone)
{
    struct rig_broker *broker = open_on_one(rig, RIG_PARTITIONS);

    fake_set_down(rig->stores[0], true);
    rig_take_until_failed(broker, 0, 2);
    for (int32_t i = 1; i < RIG_PARTITIONS; i++)
        assert_int_equal(rig_partition(broker, i).errors, 0);
}
