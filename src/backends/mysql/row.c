/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mysql-row engine: direct counters, each a row that carries the origin of
 * the server in which its value holds. One statement serves a counter as a
 * rule; what it does not serve is found out with the rows locked. Always in
 * the order of their names, so that brokers never wait in a circle.
 *
 * Tested on MariaDB; of SQL only what MySQL has too is used.
 */
#include "backends/backends.h"

#include <inttypes.h>
#include <stdlib.h>

#include "backends/mysql/mysql.h"
#include "backends/mysql/server.h"
#include "platform/error.h"

/* --- reserve: the one statement a counter --- */

/* `now` is the SQL of the store's origin. All is checked where the value is
 * added to; no row is changed if any of it does not hold. */
static void grant_write(struct mysql *mysql, const struct seqb_request *request,
                        const char *now)
{
    struct mysql_link *link = &mysql->link;

    mysql_link_add(link,
                   "UPDATE seqb_counters "
                   "SET value = LAST_INSERT_ID(value + %" PRId64 ") "
                   "WHERE value BETWEEN 0 AND %" PRId64
                   " AND " MYSQL_PRIMARY_SQL " AND origin = %s "
                   "AND origin = ",
                   request->want, request->limit - request->want, now);
    mysql_link_quote(link, mysql->sql.base.origin);
    mysql_link_add(link, " AND name = ");
    mysql_link_quote(link, request->counter);
}

/* Many are one transaction; one is its own. From the SELECT on nobody can put
 * another table in the place of seqb_counters, so that the origin read after it
 * holds to the end. */
static void grants_write(struct mysql *mysql)
{
    const struct sql_batch *batch = &mysql->sql.batch;
    struct mysql_link *link = &mysql->link;

    if (batch->count == 1) {
        grant_write(mysql, batch->requests[0], MYSQL_STORE_SQL);
        return;
    }
    mysql_link_add(link, "BEGIN;SELECT 1 FROM seqb_counters LIMIT 0 FOR UPDATE;"
                         "SET @seqb_origin = " MYSQL_STORE_SQL ";");
    for (size_t i = 0; i < batch->count; i++) {
        grant_write(mysql, batch->requests[i], "@seqb_origin");
        mysql_link_add(link, ";");
    }
    mysql_link_add(link, "COMMIT");
}

/* The value is this very packet's, and only if this statement changed its
 * row: the session's LAST_INSERT_ID() outlives a statement that did not. */
static enum seqb_status grant_read(struct mysql_link *link,
                                   struct seqb_request *request,
                                   struct seqb_error *err)
{
    int64_t value;

    if (link->changed == 0)
        return SEQB_OK; /* why not is found out later */
    value = (int64_t)link->insert_id;
    if (link->changed != 1 || value < request->want || value > request->limit)
        return mysql_link_distrust(link, "UPDATE", err);
    request->status = SEQB_OK;
    request->block =
        (struct seqb_block){value - request->want + 1, request->want};
    return SEQB_OK;
}

static enum seqb_status grants_read(struct mysql *mysql, struct seqb_error *err)
{
    const struct sql_batch *batch = &mysql->sql.batch;
    struct mysql_link *link = &mysql->link;
    enum seqb_status status;

    if (batch->count == 1) {
        status = mysql_link_next_commit(link, err);
        return status == SEQB_OK ? grant_read(link, batch->requests[0], err)
                                 : status;
    }
    status = mysql_link_skip(link, 3, err);
    for (size_t i = 0; i < batch->count && status == SEQB_OK; i++) {
        status = mysql_link_next(link, err);
        if (status == SEQB_OK)
            status = grant_read(link, batch->requests[i], err);
    }
    return status == SEQB_OK ? mysql_link_next_commit(link, err) : status;
}

static enum seqb_status batch_take(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    struct mysql *mysql = (struct mysql *)backend;
    enum seqb_status status;

    grants_write(mysql);
    status = mysql_link_send(&mysql->link, SEQB_UNCERTAIN, err);
    if (status == SEQB_OK)
        status = grants_read(mysql, err);
    if (status != SEQB_OK)
        mysql_link_close(&mysql->link);
    return status;
}

static enum seqb_status call_begin(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    return mysql_link_begin(&((struct mysql *)backend)->link, err);
}

static const struct sql_dialect dialect = {
    .begin = call_begin,
    .take = batch_take,
    .lock = mysql_rows_lock,
    .commit = mysql_rows_commit,
    .abandon = mysql_rows_abandon,
    .blames_row = mysql_rows_blame,
};

/* --- open and close --- */

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
    mysql->sql.dialect = &dialect;
    status = mysql_store_connect(mysql, options, err);
    if (status == SEQB_OK)
        status = mysql_store_enter(mysql, options->create, err);
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
    .swap = mysql_swap,
    .purge = mysql_purge,
    .clock = mysql_clock,
    .close = mysql_row_close,
};
