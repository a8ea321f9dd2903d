/* SPDX-License-Identifier: Apache-2.0 */
/* Subjects of the contract suite that are engines on a MariaDB server. */
#include "contract/contract_mysql.h"

#include <stdlib.h>

struct mysql_store {
    struct server_store base;
    struct fixture *fixture;
};

struct fixture *fixture_of(struct contract_store *store)
{
    return ((struct mysql_store *)store)->fixture;
}

struct contract_store *mysql_store_new(const struct seqb_backend_ops *ops)
{
    void *state = NULL;
    struct fixture *fixture = fixture_prepare(&state, ops);
    struct mysql_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    store->fixture = fixture;
    store->base.server = store->fixture->server;
    store->base.base.options = store->fixture->options;
    return &store->base.base;
}

static void store_stop(struct contract_store *store)
{
    void *fixture = fixture_of(store);

    (void)fixture_stop(&fixture);
    free(store);
}

static void store_withhold(struct contract_store *store)
{
    const char *database = fixture_of(store)->database;

    mariadb_execute(server_of(store),
                    "DELETE FROM %s.seqb_incarnation;"
                    "REVOKE INSERT ON %s.* FROM seq;"
                    "GRANT INSERT ON %s.seqb_counters TO seq;"
                    "GRANT INSERT ON %s.seqb_claims TO seq",
                    database, database, database, database);
}

static void store_demote(struct contract_store *store)
{
    mariadb_execute(server_of(store), "SET GLOBAL read_only = 1");
}

int contract_run_on_mysql(struct contract_subject subject)
{
    subject.stop = store_stop;
    subject.mislead = server_store_mislead;
    subject.restart = server_store_restart;
    subject.renew = server_store_restart;
    subject.withhold = store_withhold;
    subject.advice = "sql/mysql.sql lists the rights";
    subject.demote = store_demote;
    block_sigpipe();
    return contract_run_on_server(&subject, mariadb_is_installed(),
                                  mariadb_require);
}
