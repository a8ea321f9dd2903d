/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL under Patroni, whose leader hands over, and whose nodes are
 * killed. */
#include "patroni_pool.h"
#include "support/test.h"
#include "wall.h"

#define FAULTS 2

static struct patroni *patroni;

static void hand_over(struct chaos *chaos)
{
    const size_t leader = patroni_await_streaming(patroni);

    (void)chaos;
    patroni_switchover(patroni, leader);
    patroni_await(patroni, 1 - leader, PATRONI_PRIMARY);
}

TEST_WITH(CHAOS, leader_that_hands_over)
{
    patroni = patroni_pool_shared(chaos);
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
    patroni = patroni_pool_shared(chaos);
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
    patroni = patroni_pool_shared(chaos);
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
    patroni = patroni_pool_shared(chaos);
    chaos_run(chaos, __func__, FAULTS, kill_standby);
}

static void step_and_kill_postgres(struct chaos *chaos)
{
    wall_step(chaos);
    kill_postgres(chaos);
}

TEST_WITH(CHAOS, clocks_of_brokers_stepped_while_postgres_is_killed)
{
    patroni = patroni_pool_shared(chaos);
    wall_reset();
    chaos_run(chaos, __func__, FAULTS, step_and_kill_postgres);
    wall_reset();
}
