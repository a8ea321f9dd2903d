/* SPDX-License-Identifier: Apache-2.0 */
/* Brokers of a rig that have more than its one pool and its listed
 * sequences. Before rig_open. */
#pragma once

#include "support/rig.h"

/* Keys that match the pattern make themselves, up to `limit` of them. */
static inline void rig_automatic(struct rig *rig, const char *pattern,
                                 int64_t limit)
{
    rig->queue.automatic = &rig->automatic;
    rig->queue.auto_pattern = pattern;
    rig->queue.auto_limit = limit;
}

/* Of rig_split; the teardown needs them. */
static struct ha_pool_options rig_pools[2] __attribute__((unused));

/* Two pools of the rig's one, of half the partitions each: "main", and "other"
 * of the last ones. */
static inline void rig_split(struct rig *rig)
{
    struct layout *layout = &rig_pools[1].layout;
    const int32_t half = 1 << --rig->pool.layout.bits;

    rig_pools[0] = rig_pools[1] = rig->pool;
    layout->name = "other";
    for (int32_t i = 0; i < half; i++)
        layout->partitions[i] = rig->pool.layout.partitions[half + i];
    rig->ha.pools = rig_pools;
    rig->ha.pool_count = 2;
}
