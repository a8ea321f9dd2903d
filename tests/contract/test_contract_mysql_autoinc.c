/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the mysql-autoinc engine and a MariaDB server, which
 * the tests share; each has a database. */
#include "contract/contract.h"
#include "contract/mysql_fixture.h"

#include <stdlib.h>

/* Does `sql`, in which r.t is the table's name, for each table of a database
 * whose name is the next argument. */
#define EACH_TABLE(sql)                                                        \
    "BEGIN NOT ATOMIC FOR r IN (SELECT TABLE_NAME AS t "                       \
    "FROM information_schema.TABLES WHERE TABLE_SCHEMA = '%s') DO " sql        \
    " END FOR; END;"
#define COPY_TABLE                                                             \
    "EXECUTE IMMEDIATE CONCAT('CREATE TABLE %s.`', r.t, '` LIKE %s.`', r.t, "  \
    "'`');"                                                                    \
    "EXECUTE IMMEDIATE CONCAT('INSERT INTO %s.`', r.t, '` SELECT * FROM "      \
    "%s.`', r.t, '`');"
#define DROP_TABLE "EXECUTE IMMEDIATE CONCAT('DROP TABLE %s.`', r.t, '`');"

struct mysql_store {
    struct contract_store base;
    struct fixture *fixture; /* its backend is not opened */
};

static struct fixture *fixture_of(struct contract_store *store)
{
    return ((struct mysql_store *)store)->fixture;
}

static struct contract_store *store_start(void)
{
    struct mysql_store *store = calloc(1, sizeof *store);
    void *fixture = NULL;

    assert_non_null(store);
    store->fixture = fixture_prepare(&fixture, &backend_mysql_autoinc);
    store->base.options = store->fixture->options;
    return &store->base;
}

static void store_stop(struct contract_store *store)
{
    void *fixture = fixture_of(store);

    (void)fixture_stop(&fixture);
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
    server_kill(fixture_of(store)->server);
    server_start(fixture_of(store)->server);
}

static void store_forget(struct contract_store *store)
{
    const struct fixture *f = fixture_of(store);

    mariadb_tell(f->server,
                 EACH_TABLE("IF r.t NOT LIKE 'seqb_c%%' THEN " DROP_TABLE
                            " END IF;") "DELETE FROM %s.seqb_counters",
                 f->database, f->database, f->database);
}

static void tables_copy(const struct fixture *f, const char *from,
                        const char *to)
{
    mariadb_tell(f->server, EACH_TABLE(COPY_TABLE), from, to, from, to, from);
}

static void store_save(struct contract_store *store)
{
    const struct fixture *f = fixture_of(store);

    mariadb_tell(f->server, "CREATE OR REPLACE DATABASE saved");
    tables_copy(f, f->database, "saved");
}

/* As on another server, where the copy was put. */
static void store_restore(struct contract_store *store)
{
    const struct fixture *f = fixture_of(store);

    mariadb_tell(f->server, EACH_TABLE(DROP_TABLE), f->database, f->database);
    tables_copy(f, "saved", f->database);
    mariadb_tell(f->server, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
}

static void store_demote(struct contract_store *store)
{
    TELL(fixture_of(store), "SET GLOBAL read_only = 1");
}

static const struct contract_subject subject = {
    .name = "mysql-autoinc",
    .ops = &backend_mysql_autoinc,
    .start = store_start,
    .stop = store_stop,
    .mislead = store_mislead,
    .restart = store_restart,
    .forget = store_forget,
    .save = store_save,
    .restore = store_restore,
    .demote = store_demote,
};

static void mariadb_server_is_installed(void **state)
{
    (void)state;
    mariadb_require();
}

int main(void)
{
    /* The suite starts its stores where a test cannot be skipped any more. */
    const struct CMUnitTest required[] = {
        cmocka_unit_test(mariadb_server_is_installed),
    };

    block_sigpipe();
    if (!mariadb_is_installed())
        return cmocka_run_group_tests_name("mysql-autoinc", required, NULL,
                                           NULL);
    return contract_run(&subject);
}
