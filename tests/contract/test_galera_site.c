/* SPDX-License-Identifier: Apache-2.0 */
/* A second Galera cluster that replicates the first one by its binary log, as a
 * site for disasters does. */
#include "contract/galera_fixture.h"
#include "contract/mysql_replica.h"

#include "platform/text.h"

/* Replication copies the voucher, as it copies any row. */
TEST_STATE(ON_SERVER, cluster_that_replicates_another_is_another_store)
{
    const char *const args[] = {"--server-id=1", "--log-bin", NULL};
    const char *const site_args[] = {"--server-id=2", NULL};
    struct server *site[GALERA_NODES];
    char origin[SEQB_ORIGIN_SIZE];
    struct seqb_request request;
    struct hosts hosts;
    struct fixture *f;

    galera_require();
    server_galera_cluster(site_args, galera_nodes);
    hosts_set(&hosts, 0, GALERA_NODES);
    for (int i = 0; i < GALERA_NODES; i++)
        site[i] = galera_nodes[i];
    server_galera_cluster(args, galera_nodes);
    hosts_set(&hosts_all, 0, GALERA_NODES);
    f = fixture_prepare_on(state, &backend_mysql_row, galera_nodes[0]);
    f->options.host = NULL;
    f->options.port = 0;
    f->options.endpoints = hosts_all.list;
    replica_follow(site[0], f->server);
    tables_make_alike(f, site[0]);
    must_take(f, 10, 0);
    (void)text_copy(origin, sizeof origin, f->backend->origin);
    replica_catch_up(site[0], f->server);
    assert_true(answer_alike(f, site[0], "SELECT nonce FROM seqb_incarnation"));
    mariadb_execute(site[0], "STOP SLAVE");
    must_take(f, 10, 10);
    must_open_at(f, &hosts);
    assert_status(take(f, ORDER, 1, &request), SEQB_FENCED);
    assert_string_not_equal(f->backend->origin, origin);
}

TEST_BEFORE_ALL(without_sigpipe);
