/* SPDX-License-Identifier: Apache-2.0 */
/* A node of Galera that a network cuts off from the other two, with a client
 * that reaches no other node: it is granted nothing, and neither is a broker on
 * the node's host. */
#include "cut_side.h"

#include <stdlib.h>

#include "backends/backends.h"
#include "platform/text.h"
#include "scene.h"
#include "support/lan.h"
#include "support/netns.h"
#include "support/server_galera.h"
#include "support/test.h"

#define ADDRESS_SIZE 32
#define CUT_OFF      1
#define HELD         16 /* numbers that a broker holds: fewer than a phase has */

static struct lan *lan;
static struct server *nodes[GALERA_NODES];
static char addresses[GALERA_NODES][ADDRESS_SIZE];

static void cluster_require(void)
{
    netns_require();
    galera_require();
    if (lan != NULL)
        return;
    lan = lan_new();
    server_galera_cluster_on(lan, nodes);
    for (int i = 0; i < GALERA_NODES; i++)
        (void)text_format(addresses[i], ADDRESS_SIZE, "%s:%d",
                          server_address(nodes[i]), (int)server_port(nodes[i]));
    mariadb_execute(nodes[0], "CREATE DATABASE cut;"
                              "CREATE USER seq IDENTIFIED BY 'rye';"
                              "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE "
                              "ON cut.* TO seq");
}

/* A node that is cut off while it joins again never says that it is not
 * Primary: it waits for the rest of its data. */
static void node_cut(void *context)
{
    (void)context;
    galera_await(nodes[CUT_OFF], "wsrep_local_state", "4");
    lan_cut(lan, CUT_OFF);
    galera_await(nodes[CUT_OFF], "wsrep_cluster_status", "non-Primary");
}

static void network_heal(void *context)
{
    (void)context;
    lan_heal(lan);
}

/* A client on the network of that host. */
static struct cut_taker taker_of(int host, const char *const *endpoints)
{
    return (struct cut_taker){.ops = &backend_mysql_row,
                              .netns = lan_fd(lan, host),
                              .options = {.name = "galera-a",
                                          .endpoints = endpoints,
                                          .user = "seq",
                                          .password = "rye",
                                          .database = "cut",
                                          .timeout_ms = 3000,
                                          .connect_timeout_ms = 3000,
                                          .create = true,
                                          .auto_create = true}};
}

TEST(node_that_is_cut_off_grants_nothing)
{
    static const char *const one[] = {addresses[1], addresses[0], addresses[2],
                                      NULL};
    static const char *const other[] = {addresses[0], addresses[2],
                                        addresses[1], NULL};
    struct cut_taker takers[2];
    int64_t first;

    cluster_require();
    takers[0] = taker_of(CUT_OFF, one);
    takers[1] = taker_of(0, other);
    assert_true(cut_take(&takers[1], &first)); /* the tables are there */
    assert_int_equal(cut_run(takers, node_cut, network_heal, NULL), 0);
}

/* --- brokers --- */

static const char topology[] =
    "broker = { interval = \"5ms\"; state_dir = \"%s/state-%d\"; };"
    "backends = ( { name = \"cluster\"; engine = \"mysql-row\";"
    "  user = \"seq\"; password = \"rye\"; database = \"cut\";"
    "  connect_timeout = \"3s\"; hosts = [ \"%s\", \"%s\", \"%s\" ]; } );"
    "pools = ( { name = \"main\"; partitions = [ \"cluster\" ];"
    "  timeout = \"2s\"; rescue_after = \"100ms\"; } );"
    "sequences = ( { key = \"broker\"; max_unused = %d; deadline = \"1s\"; } "
    ");";

/* The broker of a host, whose node is the first of its hosts. */
static void side_init(struct cut_side *side, const struct scene *scene,
                      int host)
{
    char text[SCENE_TEXT_SIZE];
    char name[16];

    assert_true(text_format(text, sizeof text, topology, scene->folder, host,
                            addresses[host],
                            addresses[(host + 1) % GALERA_NODES],
                            addresses[(host + 2) % GALERA_NODES], HELD));
    (void)text_format(name, sizeof name, "side-%d", host);
    cut_side_init(side, scene_write(scene, name, text), "broker");
}

TEST_WITH(SCENE, broker_on_the_minority_is_granted_nothing)
{
    struct cut_taker takers[2];
    struct cut_side sides[2];

    cluster_require();
    assert_int_equal(unsetenv("SEQBROKER_STATE_DIR"), 0); /* one for each */
    for (int i = 0; i < 2; i++) {
        const int host = (CUT_OFF + i) % GALERA_NODES;

        side_init(&sides[i], scene, host);
        takers[i] = (struct cut_taker){.take = cut_side_take,
                                       .context = &sides[i],
                                       .netns = lan_fd(lan, host)};
    }
    assert_in_range(cut_run(takers, node_cut, network_heal, NULL), 0, HELD);
    for (int i = 0; i < 2; i++)
        cut_side_close(&sides[i]);
}

static int cluster_end(void **state)
{
    (void)state;
    for (int i = 0; i < GALERA_NODES; i++)
        server_free(nodes[i]);
    lan_free(lan);
    return 0;
}

TEST_BEFORE_ALL(without_sigpipe);
TEST_AFTER_ALL(cluster_end);
