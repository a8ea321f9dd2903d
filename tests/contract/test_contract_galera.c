/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the mysql-row engine and a Galera cluster. The tests
 * share both the cluster and a database, which each of them finds empty. */
#include "contract/contract_server.h"
#include "contract/mysql_fixture.h"

#include <stdlib.h>

#include "platform/text.h"
#include "support/attempt.h"
#include "support/server_galera.h"

#define ADDRESS_SIZE 32

static struct server *nodes[GALERA_NODES];
static char addresses[GALERA_NODES][ADDRESS_SIZE];
static const char *hosts[GALERA_NODES + 1];
static struct fixture *fixture; /* NULL: the cluster is not there yet */

static void nodes_execute(const char *sql)
{
    for (int i = 0; i < GALERA_NODES; i++)
        mariadb_execute(nodes[i], "%s", sql);
}

static void nodes_await(const char *name, const char *value)
{
    for (int i = 0; i < GALERA_NODES; i++)
        galera_await(nodes[i], name, value);
}

static void cluster_start(void)
{
    static struct attempt attempt = {.what = "the cluster with its tables"};
    void *state;

    attempt_begin(&attempt);
    server_galera_cluster(NULL, nodes);
    for (int i = 0; i < GALERA_NODES; i++) {
        (void)text_format(addresses[i], ADDRESS_SIZE, "127.0.0.1:%d",
                          (int)server_port(nodes[i]));
        hosts[i] = addresses[i];
    }
    fixture_share(nodes[0]);
    fixture = fixture_prepare(&state, &backend_mysql_row);
    attempt_end(&attempt);
}

/* As if no server of the cluster had lived on. */
static void store_renew(struct contract_store *store)
{
    char sql[64];

    (void)store;
    (void)text_format(sql, sizeof sql, "DELETE FROM %s.seqb_incarnation",
                      fixture->database);
    nodes_execute(sql);
}

static struct contract_store *store_start(void)
{
    struct server_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    if (fixture == NULL)
        cluster_start();
    nodes_await("wsrep_ready", "ON"); /* a busy machine splits a cluster */
    TELL(fixture, "DELETE FROM seqb_counters; DELETE FROM seqb_claims");
    store_renew(&store->base);
    store->server = nodes[0];
    store->base.options = fixture->options;
    store->base.options.name = "galera-a";
    store->base.options.host = NULL;
    store->base.options.port = 0;
    store->base.options.endpoints = hosts;
    return &store->base;
}

static void store_stop(struct contract_store *store)
{
    nodes_execute("SET GLOBAL read_only = 0");
    free(store);
}

static void store_restart(struct contract_store *store)
{
    server_store_restart(store);
    nodes_await("wsrep_local_state", "4");
}

static void store_mislead(struct contract_store *store,
                          struct seqb_backend_options *out)
{
    static char address[ADDRESS_SIZE];
    static const char *const nowhere[] = {address, NULL};

    (void)store;
    (void)text_format(address, sizeof address, "127.0.0.1:%d",
                      (int)free_port());
    out->endpoints = nowhere;
}

static void store_forget(struct contract_store *store)
{
    (void)store;
    TELL(fixture, "DELETE FROM seqb_counters");
}

static void store_save(struct contract_store *store)
{
    (void)store;
    TELL(fixture, "CREATE OR REPLACE TABLE saved AS "
                  "SELECT * FROM seqb_counters");
}

static void store_restore(struct contract_store *store)
{
    TELL(fixture, "DELETE FROM seqb_counters;"
                  "INSERT INTO seqb_counters SELECT * FROM saved");
    store_renew(store);
}

/* The statement desyncs a node, which open passes over: it returns before the
 * node is synced again. */
static void store_demote(struct contract_store *store)
{
    (void)store;
    nodes_execute("SET GLOBAL read_only = 1");
    nodes_await("wsrep_local_state", "4");
}

static const struct contract_subject subject = {
    .name = "galera",
    .ops = &backend_mysql_row,
    .start = store_start,
    .stop = store_stop,
    .mislead = store_mislead,
    .restart = store_restart,
    .forget = store_forget,
    .save = store_save,
    .restore = store_restore,
    .renew = store_renew,
    .demote = store_demote,
};

int main(void)
{
    int failed;

    block_sigpipe();
    failed =
        contract_run_on_server(&subject, galera_is_installed(), galera_require);
    for (int i = 0; i < GALERA_NODES; i++)
        server_free(nodes[i]);
    free(fixture);
    return failed;
}
