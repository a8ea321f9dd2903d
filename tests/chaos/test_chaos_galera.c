/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Galera cluster of three MariaDB nodes, which are killed, stopped, started
 * anew one after the other, and begun again from a node that was behind. The
 * even and the odd brokers write to different nodes. The scenarios share the
 * cluster; each has a new database.
 */
#include <signal.h>

#include "members.h"
#include "platform/text.h"
#include "support/server_galera.h"
#include "support/test.h"

#define FAULTS    2
#define TEXT_SIZE 256

static struct server *nodes[GALERA_NODES];

static void cluster_await(void)
{
    for (int i = 0; i < GALERA_NODES; i++) {
        galera_await(nodes[i], "wsrep_local_state", "4");
        galera_await(nodes[i], "wsrep_cluster_size", "3");
    }
}

/* The backend whose brokers connect to that node first. */
static void backend_name(int first, char out[static TEXT_SIZE])
{
    int ports[GALERA_NODES];

    for (int i = 0; i < GALERA_NODES; i++)
        ports[i] = (int)server_port(nodes[(first + i) % GALERA_NODES]);
    assert_true(text_format(
        out, TEXT_SIZE,
        "engine = \"mysql-row\"; user = \"seq\"; database = \"seq\"; hosts = "
        "[ \"127.0.0.1:%d\", \"127.0.0.1:%d\", \"127.0.0.1:%d\" ];",
        ports[0], ports[1], ports[2]));
}

static void one_cluster(struct chaos *chaos)
{
    char even[TEXT_SIZE];
    char odd[TEXT_SIZE];

    galera_require();
    if (nodes[0] == NULL)
        server_galera_cluster(NULL, nodes);
    mariadb_execute(nodes[0],
                    "DROP DATABASE IF EXISTS seq; CREATE DATABASE seq;"
                    "CREATE USER IF NOT EXISTS seq; GRANT ALL ON seq.* TO seq");
    members_set(nodes, GALERA_NODES, cluster_await);
    backend_name(0, even);
    backend_name(1, odd);
    members_topology(chaos, even, odd);
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
