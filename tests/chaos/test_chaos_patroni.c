/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PostgreSQL under Patroni, whose leader hands over, is killed, or hangs while
 * its PostgreSQL goes on, and which is made again from a base backup. The even
 * and the odd brokers name the nodes in different orders. The scenarios share
 * the cluster.
 */
#include "patroni_pool.h"
#include "support/server_files.h"
#include "support/server_postgres.h"
#include "support/server_postgres_copies.h"
#include "support/test.h"
#include "wall.h"

#define FAULTS 2
#define COPY   "base"

static struct patroni *patroni;

static void one_cluster(struct chaos *chaos)
{
    patroni_require();
    if (patroni == NULL)
        patroni = server_patroni();
    patroni_pool_set(chaos, patroni);
}

static void hand_over(struct chaos *chaos)
{
    const size_t leader = patroni_await_streaming(patroni);

    (void)chaos;
    patroni_switchover(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
}

TEST_WITH(CHAOS, leader_that_hands_over)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, hand_over);
}

/* Patroni starts it again, as a standby that it promotes. */
static void kill_postgres(struct chaos *chaos)
{
    (void)chaos;
    patroni_kill_postgres(patroni, patroni_await_streaming(patroni));
}

TEST_WITH(CHAOS, postgres_of_the_leader_killed)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_postgres);
}

/* What the standby had not seen is lost. */
static void kill_leader(struct chaos *chaos)
{
    const size_t leader = patroni_await_streaming(patroni);

    patroni_kill_node(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
    chaos_take_some(chaos);
    server_start(patroni->nodes[leader]);
}

TEST_WITH(CHAOS, leader_killed_and_started_as_a_standby)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_leader);
}

static void kill_standby(struct chaos *chaos)
{
    const size_t leader = patroni_await_streaming(patroni);

    patroni_kill_node(patroni, 1 - leader);
    chaos_take_some(chaos);
    server_start(patroni->nodes[1 - leader]);
}

TEST_WITH(CHAOS, standby_killed)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_standby);
}

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
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, stop_postgres);
}

static void step_and_kill_postgres(struct chaos *chaos)
{
    wall_step(chaos);
    kill_postgres(chaos);
}

TEST_WITH(CHAOS, clocks_of_brokers_stepped_while_postgres_is_killed)
{
    one_cluster(chaos);
    wall_reset();
    chaos_run(chaos, __func__, FAULTS, step_and_kill_postgres);
    wall_reset();
}

/* --- an older copy --- */

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
    one_cluster(chaos);
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
    one_cluster(chaos);
    chaos_run(chaos, __func__, 1, stop_leader);
}
