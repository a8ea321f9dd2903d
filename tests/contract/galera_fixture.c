/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the cluster and naming its nodes. */
#include "contract/galera_fixture.h"

#include "platform/text.h"

struct server *galera_nodes[GALERA_NODES];
const char *const *galera_args;
struct hosts hosts_all;
struct hosts hosts_other;

void hosts_set(struct hosts *hosts, size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t node = (from + i) % GALERA_NODES;

        (void)text_format(hosts->text[i], ADDRESS_SIZE, "127.0.0.1:%d",
                          (int)server_port(galera_nodes[node]));
        hosts->list[i] = hosts->text[i];
    }
    hosts->list[count] = NULL;
}

static void cluster_require(void)
{
    galera_require();
    if (galera_nodes[0] == NULL) {
        server_galera_cluster(galera_args, galera_nodes);
        fixture_share(galera_nodes[0]);
    }
    cluster_await(); /* a busy machine splits a cluster */
    hosts_set(&hosts_all, 0, GALERA_NODES);
    hosts_set(&hosts_other, 1, GALERA_NODES);
}

struct fixture *cluster_prepare(void **state)
{
    struct fixture *f;

    cluster_require();
    f = fixture_prepare(state, &backend_mysql_row);
    f->options.host = NULL;
    f->options.port = 0;
    f->options.endpoints = hosts_all.list;
    return f;
}

void must_open_at(struct fixture *f, const struct hosts *hosts)
{
    f->options.endpoints = hosts->list;
    must_open(f);
}

void cluster_await(void)
{
    for (int i = 0; i < GALERA_NODES; i++) {
        galera_await(galera_nodes[i], "wsrep_local_state", "4");
        galera_await(galera_nodes[i], "wsrep_cluster_size", "3");
    }
}
