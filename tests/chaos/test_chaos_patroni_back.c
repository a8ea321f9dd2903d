/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL under Patroni, where what was thought to be gone comes back: a
 * leader that hung, and a cluster that is made again from a base backup. */
#include "patroni_pool.h"
#include "support/server_files.h"
#include "support/server_postgres_copies.h"
#include "support/test.h"

#define FAULTS 2
#define COPY   "base"

static struct patroni *patroni;

/* When it goes on, what brokers had sent it is in its sockets, and another
 * node leads. */
static void stop_postgres(struct chaos *chaos)
{
    const size_t leader = patroni_await_streaming(patroni);

    patroni_pause_postgres(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    chaos_take_some(chaos);
    patroni_resume_postgres();
}

TEST_WITH(CHAOS, postgres_of_the_leader_hangs_and_goes_on)
{
    patroni = patroni_pool_shared(chaos);
    chaos_run(chaos, __func__, FAULTS, stop_postgres);
}

/* The cluster is made again from a base backup, of now or of the fault before:
 * with its state in etcd removed, one node leads with the files that it finds,
 * and the other one copies them. */
static void put_base_backup_back(struct chaos *chaos)
{
    static size_t copied; /* the node that has the backup */
    const size_t leader = patroni_await_streaming(patroni);

    if (chaos->faults == 0 || copied != leader || chaos_random(chaos, 2) == 0)
        postgres_copy_base(patroni->nodes[leader], COPY);
    copied = leader;
    chaos_take_some(chaos);
    for (size_t i = 0; i < PATRONI_NODES; i++)
        patroni_kill_node(patroni, i);
    server_files_copy(patroni->nodes[leader], COPY, "data");
    server_files_remove(patroni->nodes[1 - leader], "data");
    patroni_forget(patroni);
    server_start(patroni->nodes[leader]);
    patroni_await(patroni, leader, PATRONI_PRIMARY);
    server_start(patroni->nodes[1 - leader]);
}

TEST_WITH(CHAOS, base_backup_put_back)
{
    patroni = patroni_pool_shared(chaos);
    chaos_run(chaos, __func__, FAULTS, put_base_backup_back);
}

/* Two leaders; the old one's commits wait for a standby that has left. */
static void stop_leader(struct chaos *chaos)
{
    size_t leader;

    patroni_synchronous(patroni, true); /* nobody else would be promoted */
    leader = patroni_single(patroni);
    server_pause(patroni->nodes[leader]);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    chaos_take_some(chaos);
    server_resume(patroni->nodes[leader]);
}

TEST_WITH(CHAOS, synchronous_leader_that_hangs_and_goes_on)
{
    patroni = patroni_pool_shared(chaos);
    chaos_run(chaos, __func__, 1, stop_leader);
}
