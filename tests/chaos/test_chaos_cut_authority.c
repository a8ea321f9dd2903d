/* SPDX-License-Identifier: Apache-2.0 */
/* Three etcd members on the hosts of a network lease the windows of a pool. The
 * partitions' stores forget, or brokers are killed, and the leader's host or
 * any other is cut off. Brokers on that host still reach the partitions. */
#include "authority_pool.h"
#include "cuts.h"
#include "etcd_pool.h"
#include "support/test.h"

#define FAULTS 8

static struct server *members[ETCD_MEMBERS];

static void forget_and_cut_one(struct chaos *chaos)
{
    const int host = chaos_random(chaos, 2) == 0
                         ? etcd_leader(members)
                         : (int)chaos_random(chaos, LAN_HOSTS);

    authority_pool_forget(chaos);
    cuts_host(chaos, host);
}

TEST_WITH(CHAOS, member_that_leases_and_brokers_cut_off)
{
    char place[ETCD_PLACE_SIZE];

    server_require("etcd");
    server_etcd_cluster_on(cuts_begin(chaos), NULL, members);
    etcd_pool_place(members, place);
    authority_pool_set(chaos, place, place);
    chaos_run(chaos, __func__, FAULTS, forget_and_cut_one);
    chaos_stop(chaos);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
    cuts_end();
}
