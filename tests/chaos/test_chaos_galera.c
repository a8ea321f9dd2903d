/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Galera cluster of three MariaDB nodes. They are killed, also while the
 * brokers' clocks are stepped; stopped; started again one after the other; and
 * begun again from a node that was behind. The even and the odd brokers write
 * to different nodes. The scenarios share the cluster; each has a new database.
 */
#include <signal.h>

#include "galera_pool.h"
#include "members.h"
#include "support/test.h"
#include "wall.h"

#define FAULTS 2

static struct server *nodes[GALERA_NODES];

static void cluster_await(void)
{
    galera_pool_await(nodes);
}

static void one_cluster(struct chaos *chaos)
{
    galera_require();
    if (nodes[0] == NULL)
        server_galera_cluster(NULL, nodes);
    members_set(nodes, GALERA_NODES, cluster_await);
    galera_pool_set(chaos, nodes);
}

TEST_WITH(CHAOS, node_killed_while_the_others_go_on)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, members_kill_one);
}

/* It leaves the cluster when it was silent for 2 s, and joins again. */
TEST_WITH(CHAOS, node_stopped_and_continued)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, members_stop_one);
}

static void restart_all_in_turn(struct chaos *chaos)
{
    (void)chaos;
    for (int i = 0; i < GALERA_NODES; i++) {
        server_shut_down(nodes[i], SIGTERM);
        server_start(nodes[i]);
        cluster_await();
    }
}

TEST_WITH(CHAOS, nodes_restarted_one_after_the_other)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, 1, restart_all_in_turn);
}

static void step_and_kill_one(struct chaos *chaos)
{
    wall_step(chaos);
    members_kill_one(chaos);
}

TEST_WITH(CHAOS, clocks_of_brokers_stepped_while_nodes_are_killed)
{
    one_cluster(chaos);
    wall_reset();
    chaos_run(chaos, __func__, FAULTS, step_and_kill_one);
    wall_reset();
}

/* What was granted since that node died is lost. */
static void begin_again(struct chaos *chaos)
{
    const uint64_t first = chaos_random(chaos, GALERA_NODES);

    server_kill(nodes[first]);
    chaos_take_some(chaos);
    for (uint64_t i = 1; i < GALERA_NODES; i++)
        server_kill(nodes[(first + i) % GALERA_NODES]);
    galera_bootstrap(nodes[first]);
    for (uint64_t i = 1; i < GALERA_NODES; i++) {
        struct server *node = nodes[(first + i) % GALERA_NODES];

        galera_drop_files(node);
        server_start(node);
    }
    cluster_await();
}

TEST_WITH(CHAOS, cluster_killed_and_begun_again_from_a_node_behind)
{
    one_cluster(chaos);
    chaos_run(chaos, __func__, FAULTS, begin_again);
}
