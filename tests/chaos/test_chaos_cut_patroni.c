/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL under Patroni on the hosts of a network, with brokers beside the
 * two nodes and beside the third member of the etcd: the leader's host is cut
 * off, or any. The old leader grants to the brokers on its host until its
 * Patroni demotes it, and the other node is promoted without that. */
#include <unistd.h>

#include "cuts.h"
#include "patroni_pool.h"
#include "support/test.h"

#define FAULTS 3

static struct patroni *patroni;

static void cut_one(struct chaos *chaos)
{
    const size_t leader = patroni_await_streaming(patroni);

    cuts_host(chaos, chaos->faults % 2 == 0
                         ? (int)leader
                         : (int)chaos_random(chaos, LAN_HOSTS));
    (void)patroni_await_streaming(patroni);
}

TEST_WITH(CHAOS, leader_and_brokers_cut_off)
{
    patroni_require();
    patroni = server_patroni_on(cuts_begin(chaos));
    patroni_pool_set(chaos, patroni);
    chaos_run(chaos, __func__, FAULTS, cut_one);
    chaos_stop(chaos);
    patroni_free(patroni);
    cuts_end();
}
