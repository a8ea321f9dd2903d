/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mysql-row engine: direct counters, each a row that has the origin of the
 * server in which its value is valid.
 *
 * Tested on MariaDB; it uses only SQL that MySQL has, too.
 */
#include "backends/backends.h"

#include <stdlib.h>

#include "backends/mysql/connect/connect.h"
#include "backends/mysql/mysql.h"
#include "platform/error.h"

static void mysql_row_close(struct seqb_backend *backend)
{
    if (backend == NULL)
        return;
    mysql_link_close(&((struct mysql *)backend)->link);
    free(backend);
}

static enum seqb_status
mysql_row_open(const struct seqb_backend_options *options,
               struct seqb_backend **out, struct seqb_error *err)
{
    struct mysql *mysql = calloc(1, sizeof *mysql);
    enum seqb_status status;

    if (mysql == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s (mysql): out of memory",
                         options->name);
    mysql->sql.base.ops = &backend_mysql_row;
    status = mysql_store_connect(mysql, options, err);
    if (status == SEQB_OK)
        status = mysql_store_enter(mysql, options, err);
    if (status != SEQB_OK) {
        mysql_row_close(&mysql->sql.base);
        return status;
    }
    *out = &mysql->sql.base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_mysql_row = {
    .engine = "mysql-row",
    .guarantee = SEQB_DIRECT,
    .library = mysql_link_library,
    .open = mysql_row_open,
    .reserve = sql_reserve,
    .raise = sql_raise,
    .install = sql_install,
    .claim = mysql_claim,
    .claim_many = mysql_claim_many,
    .describe = mysql_describe,
    .swap = mysql_swap,
    .purge = mysql_purge,
    .list = mysql_list,
    .clock = mysql_clock,
    .close = mysql_row_close,
    .permits = mysql_permits,
};
