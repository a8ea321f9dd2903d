/* SPDX-License-Identifier: Apache-2.0 */
/* A node of Galera that a network cuts off from the other two, with a client
 * that reaches no other node: it is granted nothing. */
#include "cut.h"

#include "backends/backends.h"
#include "platform/text.h"
#include "support/lan.h"
#include "support/netns.h"
#include "support/server_galera.h"
#include "support/test.h"

#define ADDRESS_SIZE 32
#define CUT_OFF      1

static struct lan *lan;
static struct server *nodes[GALERA_NODES];
static char addresses[GALERA_NODES][ADDRESS_SIZE];

static void cluster_start(void)
{
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

static void node_cut(void *context)
{
    (void)context;
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

    netns_require();
    galera_require();
    cluster_start();
    takers[0] = taker_of(CUT_OFF, one);
    takers[1] = taker_of(0, other);
    assert_true(cut_take(&takers[1], &first)); /* the tables are there */
    assert_int_equal(cut_run(takers, node_cut, network_heal, NULL), 0);
    for (int i = 0; i < GALERA_NODES; i++)
        server_free(nodes[i]);
    lan_free(lan);
}

TEST_BEFORE_ALL(without_sigpipe);
