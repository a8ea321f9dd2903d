/* SPDX-License-Identifier: Apache-2.0 */
/* The contract suite on the mysql-row engine and a MariaDB server, which the
 * tests share; each has a database. */
#include "contract/contract_mysql.h"

static struct contract_store *store_start(void)
{
    return mysql_store_new(&backend_mysql_row);
}

static void store_forget(struct contract_store *store)
{
    TELL(fixture_of(store), "DELETE FROM seqb_counters");
}

static void store_save(struct contract_store *store)
{
    TELL(fixture_of(store), "CREATE OR REPLACE TABLE saved AS "
                            "SELECT * FROM seqb_counters");
}

/* As on another server, where the copy was put. */
static void store_restore(struct contract_store *store)
{
    TELL(fixture_of(store), "DELETE FROM seqb_counters;"
                            "INSERT INTO seqb_counters SELECT * FROM saved;"
                            "SET GLOBAL server_id = @@GLOBAL.server_id + 1");
}

int main(void)
{
    return contract_run_on_mysql((struct contract_subject){
        .name = "mysql-row",
        .ops = &backend_mysql_row,
        .start = store_start,
        .forget = store_forget,
        .save = store_save,
        .restore = store_restore,
    });
}
