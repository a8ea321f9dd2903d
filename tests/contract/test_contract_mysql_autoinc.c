/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the mysql-autoinc engine and a MariaDB server, which
 * the tests share; each has a database. */
#include "contract/contract_mysql.h"

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

static struct contract_store *store_start(void)
{
    return mysql_store_new(&backend_mysql_autoinc);
}

static void store_forget(struct contract_store *store)
{
    const struct fixture *f = fixture_of(store);

    mariadb_execute(f->server,
                    EACH_TABLE("IF r.t NOT IN ('seqb_counters', 'seqb_claims', "
                               "'seqb_incarnation') THEN " DROP_TABLE
                               " END IF;") "DELETE FROM %s.seqb_counters",
                    f->database, f->database, f->database);
}

static void tables_copy(const struct fixture *f, const char *from,
                        const char *to)
{
    mariadb_execute(f->server, EACH_TABLE(COPY_TABLE), from, to, from, to,
                    from);
}

static void store_save(struct contract_store *store)
{
    const struct fixture *f = fixture_of(store);

    mariadb_execute(f->server, "CREATE OR REPLACE DATABASE saved");
    tables_copy(f, f->database, "saved");
}

/* As on another server, where the copy was put. */
static void store_restore(struct contract_store *store)
{
    const struct fixture *f = fixture_of(store);

    mariadb_execute(f->server, EACH_TABLE(DROP_TABLE), f->database,
                    f->database);
    tables_copy(f, "saved", f->database);
    mariadb_execute(f->server, "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
}

int main(void)
{
    return contract_run_on_mysql((struct contract_subject){
        .name = "mysql-autoinc",
        .ops = &backend_mysql_autoinc,
        .writes_each_value = true,
        .start = store_start,
        .forget = store_forget,
        .save = store_save,
        .restore = store_restore,
    });
}
