/* SPDX-License-Identifier: Apache-2.0 */
/* Three etcd members on the hosts of a network, with brokers beside them, each
 * of which knows all members: the leader's host is cut off, or any. */
#include "cuts.h"
#include "etcd_pool.h"
#include "members.h"
#include "support/test.h"

#define FAULTS 6

static struct server *members[ETCD_MEMBERS];

static void cut_one(struct chaos *chaos)
{
    cuts_host(chaos, chaos->faults % 2 == 0
                         ? etcd_leader(members)
                         : (int)chaos_random(chaos, LAN_HOSTS));
}

TEST_WITH(CHAOS, member_and_brokers_cut_off)
{
    char text[ETCD_PLACE_SIZE];

    server_require("etcd");
    server_etcd_cluster_on(cuts_begin(chaos), NULL, members);
    etcd_pool_place(members, text);
    members_topology(chaos, text, text);
    chaos_run(chaos, __func__, FAULTS, cut_one);
    chaos_stop(chaos);
    for (int i = 0; i < ETCD_MEMBERS; i++)
        server_free(members[i]);
    cuts_end();
}
