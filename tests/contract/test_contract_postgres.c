/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the postgres engine and a server of its own, which the
 * tests share; each has a database. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backends/backends.h"
#include "contract/contract.h"
#include "platform/text.h"
#include "support/server_postgres.h"

#define COPY "copy.sql"

struct postgres_store {
    struct contract_store base;
    char database[16];
};

static struct server *server;

static const char *database_of(const struct contract_store *store)
{
    return ((const struct postgres_store *)store)->database;
}

static struct contract_store *store_start(void)
{
    static int number;
    struct postgres_store *store = calloc(1, sizeof *store);

    assert_non_null(store);
    if (server == NULL) {
        server = server_postgres(NULL);
        postgres_tell(server, "postgres", "CREATE ROLE seq LOGIN");
    }
    (void)text_format(store->database, sizeof store->database, "d%d", number++);
    postgres_tell(server, "postgres", "CREATE DATABASE %s OWNER seq",
                  store->database);
    store->base.options = (struct seqb_backend_options){
        .name = "pg-a",
        .host = "127.0.0.1",
        .port = server_port(server),
        .user = "seq",
        .database = store->database,
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
        .create = true,
    };
    return &store->base;
}

static void store_stop(struct contract_store *store)
{
    postgres_alter(server, "default_transaction_read_only = off");
    postgres_tell(server, "postgres", "DROP DATABASE %s WITH (FORCE)",
                  database_of(store));
    free(store);
}

static void store_mislead(struct contract_store *store,
                          struct seqb_backend_options *out)
{
    (void)store;
    out->port = free_port();
}

static void store_restart(struct contract_store *store)
{
    (void)store;
    postgres_kill(server);
    server_start(server);
}

static void store_forget(struct contract_store *store)
{
    postgres_tell(server, database_of(store), "DELETE FROM seqb_counters");
}

static void store_save(struct contract_store *store)
{
    postgres_dump(server, database_of(store), COPY);
}

static void store_restore(struct contract_store *store)
{
    postgres_restore(server, database_of(store), COPY);
}

/* As a server that nobody may write to any more: a standby would have ended
 * the sessions that are open. */
static void store_demote(struct contract_store *store)
{
    (void)store;
    postgres_alter(server, "default_transaction_read_only = on");
}

static const struct contract_subject subject = {
    .name = "postgres",
    .ops = &backend_postgres,
    .start = store_start,
    .stop = store_stop,
    .mislead = store_mislead,
    .restart = store_restart,
    .forget = store_forget,
    .save = store_save,
    .restore = store_restore,
    .demote = store_demote,
};

static void postgres_server_is_installed(void **state)
{
    (void)state;
    postgres_require();
}

int main(void)
{
    /* The suite starts its stores where a test cannot be skipped any more. */
    const struct CMUnitTest required[] = {
        cmocka_unit_test(postgres_server_is_installed),
    };

    if (!postgres_is_installed())
        return cmocka_run_group_tests_name("postgres", required, NULL, NULL);
    return contract_run(&subject);
}
