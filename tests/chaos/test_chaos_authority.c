/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster of three, etcd or Galera, that leases the windows of a pool. Its
 * members are killed or stopped, and meanwhile the partitions' stores forget or
 * the brokers are killed. */
#include "authority_pool.h"
#include "etcd_pool.h"
#include "galera_pool.h"
#include "members.h"
#include "support/test.h"

#define FAULTS        8
#define GALERA_FAULTS 5 /* a node needs seconds to join again */

static struct server *members[ETCD_MEMBERS];
static struct server *nodes[GALERA_NODES];

/* Each kind of forgetting comes with each of the two. */
static void lose_one_and_forget(struct chaos *chaos)
{
    if (chaos->faults / 4 % 2 == 0)
        members_kill_while(chaos, authority_pool_forget);
    else
        members_stop_while(chaos, authority_pool_forget);
}

TEST_WITH(CHAOS, etcd_that_leases_loses_members)
{
    char place[ETCD_PLACE_SIZE];

    server_require("etcd");
    server_etcd_cluster(members);
    members_set(members, ETCD_MEMBERS, NULL);
    etcd_pool_place(members, place);
    authority_pool_set(chaos, place, place);
    chaos_run(chaos, __func__, FAULTS, lose_one_and_forget);
    chaos_stop(chaos);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
}

static void cluster_await(void)
{
    galera_pool_await(nodes);
}

/* The even and the odd brokers lease from different nodes. */
TEST_WITH(CHAOS, galera_that_leases_loses_nodes)
{
    char even[GALERA_PLACE_SIZE];
    char odd[GALERA_PLACE_SIZE];

    galera_require();
    server_galera_cluster(NULL, nodes);
    members_set(nodes, GALERA_NODES, cluster_await);
    galera_pool_database(nodes[0]);
    galera_pool_place(nodes, 0, even);
    galera_pool_place(nodes, 1, odd);
    authority_pool_set(chaos, even, odd);
    chaos_run(chaos, __func__, GALERA_FAULTS, lose_one_and_forget);
}
