/* SPDX-License-Identifier: Apache-2.0 */
/* Three Galera nodes on the hosts of a network, with brokers beside them, each
 * of which knows all nodes: one host after the other is cut off. */
#include "cuts.h"
#include "galera_pool.h"
#include "support/test.h"

#define FAULTS 3

static struct server *nodes[GALERA_NODES];

static void cut_the_next(struct chaos *chaos)
{
    cuts_host(chaos, chaos->faults % LAN_HOSTS);
    galera_pool_await(nodes);
}

TEST_WITH(CHAOS, node_and_brokers_cut_off)
{
    galera_require();
    server_galera_cluster_on(cuts_begin(chaos), nodes);
    galera_pool_set(chaos, nodes);
    chaos_run(chaos, __func__, FAULTS, cut_the_next);
    chaos_stop(chaos);
    for (int i = 0; i < GALERA_NODES; i++)
        server_free(nodes[i]);
    cuts_end();
}
