/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that leases to its neighbours and is the authority of another pool,
 * too. If it changes, its base is raised for the sake of the other pool,
 * whoever of the two raises it.
 */
#include "neighbours_fixture.h"

#define BILLS 200 /* numbers of the other pool's sequence */

/* Pool "main" of the first two stores, and pool "other" of the third one, which
 * may forget. */
static void share(struct rig *rig, struct ha_pool_options pools[2])
{
    rig_shape(rig, RIG_NEIGHBOURS, 2);
    rig->backends[2].ops = &backend_fake_windowed;
    rig->backends[2].options.needs_incarnation = false;
    rig->ha.backend_count = 3;
    rig->pool.layout.bits = 1;
    pools[0] = pools[1] = rig->pool;
    pools[1].layout.name = "other";
    pools[1].layout.bits = 0;
    pools[1].layout.partitions[0] = 2;
    pools[1].layout.neighbours = false;
    pools[1].layout.authority = 0;
    rig->ha.pools = pools;
    rig->ha.pool_count = 2;
    rig->sequences[1].pool = 1;
    rig->queue.sequence_count = 2;
}

static void take_bills(struct rig_broker *broker, struct numbers *out)
{
    for (int i = 0; i < BILLS; i++) {
        int64_t number;

        assert_ok(queue_next(rig_sequence(broker, "bill"), &number, NULL));
        numbers_add(out, &number, 1);
    }
}

/* The sync comes first, and raises leases that the store lost. */
TEST_WITH(NEIGHBOURS, authority_repeats_no_window_of_a_new_key)
{
    struct ha_pool_options pools[2];
    struct rig_broker *broker;
    struct numbers bills;

    numbers_init(&bills);
    share(rig, pools);
    broker = rig_open(rig);
    rig_take(broker, 1);
    fake_save(rig->stores[0]);
    take_bills(broker, &bills);
    rig_take(broker, 16 * WINDOW_STOCK);
    rig_close(broker);
    fake_restore(rig->stores[0]);
    fake_restart(rig->stores[2]);
    broker = rig_open(rig);
    await_lessor(broker, 0, HA_LESSOR_LEVEL);
    rig_take(broker, 16 * WINDOW_STOCK);
    take_bills(broker, &bills);
    assert_int_equal(numbers_repeats(&bills), 0);
    numbers_fini(&bills);
}
