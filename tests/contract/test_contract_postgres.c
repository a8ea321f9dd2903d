/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the postgres engine and a server of its own, which the
 * tests share; each has a database. */
#include "contract/contract_server.h"
#include "contract/postgres_fixture.h"

#include <stdlib.h>

#include "support/server_postgres_copies.h"

#define COPY "copy.sql"

struct postgres_store {
    struct server_store base;
    struct fixture *fixture; /* its backend is not opened */
    bool is_demoted;
};

static struct postgres_store *postgres_of(struct contract_store *store)
{
    return (struct postgres_store *)store;
}

static struct fixture *fixture_of(struct contract_store *store)
{
    return postgres_of(store)->fixture;
}

static struct contract_store *store_start(void)
{
    void *state = NULL;
    struct fixture *fixture = fixture_prepare(&state);
    struct postgres_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    store->fixture = fixture;
    store->base.server = store->fixture->server;
    store->base.base.options = store->fixture->options;
    return &store->base.base;
}

static void store_stop(struct contract_store *store)
{
    void *fixture = fixture_of(store);

    if (postgres_of(store)->is_demoted)
        postgres_alter(server_of(store), "default_transaction_read_only = off");
    (void)fixture_stop(&fixture);
    free(store);
}

static void store_restart(struct contract_store *store)
{
    postgres_kill(server_of(store));
    server_start(server_of(store));
}

static void store_forget(struct contract_store *store)
{
    TELL(fixture_of(store), "DELETE FROM seqb_counters");
}

static void store_save(struct contract_store *store)
{
    postgres_dump(server_of(store), fixture_of(store)->database, COPY);
}

static void store_restore(struct contract_store *store)
{
    postgres_restore(server_of(store), fixture_of(store)->database, COPY);
}

static void store_withhold(struct contract_store *store)
{
    TELL(fixture_of(store),
         "REVOKE EXECUTE ON FUNCTION pg_postmaster_start_time FROM PUBLIC");
}

/* As a server that nobody may write to any more: a standby would have ended
 * the sessions that are open. */
static void store_demote(struct contract_store *store)
{
    postgres_of(store)->is_demoted = true;
    postgres_alter(server_of(store), "default_transaction_read_only = on");
}

static const struct contract_subject subject = {
    .name = "postgres",
    .ops = &backend_postgres,
    .start = store_start,
    .stop = store_stop,
    .mislead = server_store_mislead,
    .restart = store_restart,
    .renew = store_restart,
    .forget = store_forget,
    .save = store_save,
    .restore = store_restore,
    .withhold = store_withhold,
    .advice = "sql/postgres.sql says which rights are needed",
    .demote = store_demote,
};

int main(void)
{
    return contract_run_on_server(&subject, postgres_is_installed(),
                                  postgres_require);
}
