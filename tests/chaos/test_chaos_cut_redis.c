/* SPDX-License-Identifier: Apache-2.0 */
/* A Redis Cluster on the hosts of a network, with brokers beside its servers:
 * each host in turn is cut off. A master on it serves the brokers there until
 * the node time-out is over, while its replica takes over on the next host. */
#include "backends/redis/slot.h"
#include "cuts.h"
#include "platform/text.h"
#include "redis_pool.h"
#include "support/server_cluster.h"
#include "support/test.h"

#define FAULTS          6
#define TEXT_SIZE       256
#define NODE_TIMEOUT_MS 1000

static struct cluster *cluster;

/* Each host has a master again: two on one host would take the majority with
 * them. They take over without asking. */
static void masters_return(void)
{
    for (size_t i = 0; i < CLUSTER_MASTERS; i++) {
        const unsigned slot = (unsigned)(REDIS_SLOTS * i / CLUSTER_MASTERS);

        if (cluster_owner(cluster, i, slot) != i)
            redis_execute(cluster->servers[i], "CLUSTER FAILOVER TAKEOVER");
        cluster_recover(cluster);
    }
}

/* The master that counts is on the host or not. */
static void cut_the_next(struct chaos *chaos)
{
    cuts_host(chaos, chaos->faults % LAN_HOSTS);
    cluster_recover(cluster);
    masters_return();
}

TEST_WITH(CHAOS, masters_and_brokers_cut_off)
{
    char place[TEXT_SIZE] = "cluster = [ ";

    server_require("redis-server");
    cluster = cluster_new_on(cuts_begin(chaos), NODE_TIMEOUT_MS);
    for (size_t i = 0; i < CLUSTER_SERVERS; i++)
        assert_true(text_append(place, sizeof place, "%s\"%s\"",
                                i > 0 ? ", " : "", cluster->addresses[i]));
    assert_true(text_append(place, sizeof place, " ];"));
    redis_pool_set(chaos, chaos_topology, place);
    chaos_run(chaos, __func__, FAULTS, cut_the_next);
    chaos_stop(chaos);
    cluster_free(cluster);
    cuts_end();
}
