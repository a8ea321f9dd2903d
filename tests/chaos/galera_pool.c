/* SPDX-License-Identifier: Apache-2.0 */
/* See galera_pool.h. */
#include "galera_pool.h"

#include "members.h"
#include "platform/text.h"
#include "support/test.h"

void galera_pool_place(struct server *const nodes[static GALERA_NODES],
                       int first, char out[static GALERA_PLACE_SIZE])
{
    assert_true(text_format(out, GALERA_PLACE_SIZE,
                            "engine = \"mysql-row\"; user = \"seq\"; "
                            "database = \"seq\"; hosts = ["));
    for (int i = 0; i < GALERA_NODES; i++) {
        const struct server *node = nodes[(first + i) % GALERA_NODES];

        assert_true(text_append(out, GALERA_PLACE_SIZE, "%s \"%s:%d\"",
                                i > 0 ? "," : "", server_address(node),
                                (int)server_port(node)));
    }
    assert_true(text_append(out, GALERA_PLACE_SIZE, " ];"));
}

void galera_pool_database(struct server *node)
{
    mariadb_execute(node,
                    "DROP DATABASE IF EXISTS seq; CREATE DATABASE seq;"
                    "CREATE USER IF NOT EXISTS seq; GRANT ALL ON seq.* TO seq");
}

void galera_pool_set(struct chaos *chaos,
                     struct server *nodes[static GALERA_NODES])
{
    char even[GALERA_PLACE_SIZE];
    char odd[GALERA_PLACE_SIZE];

    galera_pool_database(nodes[0]);
    galera_pool_place(nodes, 0, even);
    galera_pool_place(nodes, 1, odd);
    members_topology(chaos, even, odd);
}

void galera_pool_await(struct server *nodes[static GALERA_NODES])
{
    for (int i = 0; i < GALERA_NODES; i++) {
        galera_await(nodes[i], "wsrep_local_state", "4");
        galera_await(nodes[i], "wsrep_cluster_size", "3");
    }
}
