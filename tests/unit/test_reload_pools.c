/* SPDX-License-Identifier: Apache-2.0 */
/* Other options for pools that serve, over scripted stores: what is put in
 * place, and which backends are connected again. */
#include <string.h>

#include "ha/worker.h"
#include "support/rig.h"
#include "support/test.h"

static void ha_reload_to(struct rig_broker *broker,
                         const struct ha_options *options)
{
    struct ha_reload *reload;

    assert_ok(ha_prepare(broker->ha, options, &reload, NULL));
    ha_commit(reload);
}

TEST_WITH(DIRECT, times_of_a_pool_are_put_in_place)
{
    struct rig_broker *broker = rig_open(rig);
    const struct ha_pool *pool = ha_pool_at(broker->ha, 0);
    struct ha_options options = rig->ha;
    struct ha_pool_options next[2] = {rig->pool, rig->pool};

    next[0].layout.name = "other";
    next[1].timeout_ms = 1;
    next[1].slow_count = 2;
    next[1].slow_window_ms = 3;
    next[1].rescue_after_ms = 4;
    next[1].rescue = HA_RESCUE_FIXED;
    next[1].check_interval_ms = 60000;
    options.pools = next;
    options.pool_count = 1;
    ha_reload_to(broker, &options);
    assert_int_equal(pool->current.timeout_ms, rig->pool.timeout_ms);
    options.pool_count = 2;
    ha_reload_to(broker, &options);
    assert_int_equal(pool->current.timeout_ms, 1);
    assert_int_equal(pool->current.slow_count, 2);
    assert_int_equal(pool->current.slow_window_ms, 3);
    assert_int_equal(pool->current.rescue_after_ms, 4);
    assert_int_equal(pool->current.rescue, HA_RESCUE_FIXED);
    assert_int_equal(pool->current.check_interval_ms, 60000);
    assert_string_equal(pool->current.layout.name, "main");
    assert_int_equal(pool->workers[0]->connection.slow_ms, 1);
}

TEST_WITH(DIRECT, only_a_backend_that_changed_is_connected_again)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_options options = rig->ha;
    struct store_options next[RIG_PARTITIONS + 1];
    int64_t opened[2];

    rig_take_from(broker, 0, 1);
    rig_take_from(broker, 1, 1);
    memcpy(next, rig->backends, sizeof next);
    options.backends = next;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 2; j++)
            opened[j] = fake_calls(rig->stores[j], FAKE_OPEN);
        next[1].options.timeout_ms -= i != 1;
        ha_reload_to(broker, &options);
        rig_take_from(broker, 0, rig_partition(broker, 0).granted + 1);
        rig_take_from(broker, 1, rig_partition(broker, 1).granted + 1);
        assert_int_equal(fake_calls(rig->stores[0], FAKE_OPEN), opened[0]);
        assert_int_equal(fake_calls(rig->stores[1], FAKE_OPEN),
                         opened[1] + (i != 1));
    }
}

/* Its next probe is far away, and what kept it away may be over. */
TEST_WITH(DIRECT, backend_that_changed_is_tried_at_once)
{
    struct ha_options options = rig->ha;
    struct store_options next[RIG_PARTITIONS + 1];
    struct rig_broker *broker;

    rig->pool.rescue = HA_RESCUE_FIXED;
    rig->pool.rescue_after_ms = RIG_FOREVER_MS;
    broker = rig_open(rig);
    fake_set_down(rig->stores[1], true);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    fake_set_down(rig->stores[1], false);
    memcpy(next, rig->backends, sizeof next);
    options.backends = next;
    next[1].options.timeout_ms--;
    ha_reload_to(broker, &options);
    rig_await_use(broker, 1);
}

TEST_WITH(DIRECT, pools_are_found_by_their_names)
{
    struct rig_broker *broker = rig_open(rig);
    struct ha_options options = rig->ha;
    struct ha_pool_options next[2] = {rig->pool, rig->pool};
    int32_t map[2];

    next[0].layout.name = "other";
    options.pools = next;
    options.pool_count = 2;
    ha_map_pools(broker->ha, &options, map);
    assert_int_equal(map[0], -1);
    assert_int_equal(map[1], 0);
}
