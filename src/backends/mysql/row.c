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

struct mysql_row {
    struct mysql mysql;
    struct sql_batch batch; /* of the reserve call under way */
};

/* --- reserve: the one statement a counter --- */

/* `now` is the SQL of the store's origin. All is checked where the value is
 * added to; no row is changed if any of it does not hold. */
static void grant_write(struct mysql_row *row,
                        const struct seqb_request *request, const char *now)
{
    struct mysql_link *link = &row->mysql.link;

    mysql_link_add(link,
                   "UPDATE seqb_counters "
                   "SET value = LAST_INSERT_ID(value + %" PRId64 ") "
                   "WHERE value BETWEEN 0 AND %" PRId64
                   " AND " MYSQL_PRIMARY_SQL " AND origin = %s "
                   "AND origin = ",
                   request->want, request->limit - request->want, now);
    mysql_link_quote(link, row->mysql.base.origin);
    mysql_link_add(link, " AND name = ");
    mysql_link_quote(link, request->counter);
}

/* Many are one transaction; one is its own. From the SELECT on nobody can put
 * another table in the place of seqb_counters, so that the origin read after it
 * holds to the end. */
static void grants_write(struct mysql_row *row)
{
    const struct sql_batch *batch = &row->batch;
    struct mysql_link *link = &row->mysql.link;

    if (batch->count == 1) {
        grant_write(row, batch->requests[0], MYSQL_STORE_SQL);
        return;
    }
    mysql_link_add(link, "BEGIN;SELECT 1 FROM seqb_counters LIMIT 0 FOR UPDATE;"
                         "SET @seqb_origin = " MYSQL_STORE_SQL ";");
    for (size_t i = 0; i < batch->count; i++) {
        grant_write(row, batch->requests[i], "@seqb_origin");
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

static enum seqb_status grants_read(struct mysql_row *row,
                                    struct seqb_error *err)
{
    const struct sql_batch *batch = &row->batch;
    struct mysql_link *link = &row->mysql.link;
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

static enum seqb_status batch_grant(struct mysql_row *row,
                                    struct seqb_error *err)
{
    enum seqb_status status;

    grants_write(row);
    status = mysql_link_send(&row->mysql.link, SEQB_UNCERTAIN, err);
    return status == SEQB_OK ? grants_read(row, err) : status;
}

/* --- reserve and raise --- */

static struct sql_store store_of(struct mysql *mysql)
{
    return (struct sql_store){&mysql_dialect, &mysql->base, mysql->link.where};
}

static enum seqb_status mysql_row_reserve(struct seqb_backend *backend,
                                          struct seqb_request *requests,
                                          size_t n, struct seqb_error *err)
{
    struct mysql_row *row = (struct mysql_row *)backend;
    const struct sql_store store = store_of(&row->mysql);
    struct seqb_error why;
    enum seqb_status status = mysql_link_begin(&row->mysql.link, &why);

    sql_batch_begin(&row->batch, requests, n);
    if (status == SEQB_OK)
        status = batch_grant(row, &why);
    if (status == SEQB_OK) {
        sql_batch_keep(&row->batch);
        status = sql_batch_serve(&row->batch, &store, &why);
    }
    if (status == SEQB_OK)
        return SEQB_OK;
    mysql_link_close(&row->mysql.link);
    return sql_batch_fail(&row->batch, &why, err);
}

static enum seqb_status mysql_row_raise(struct seqb_backend *backend,
                                        const struct seqb_raise *raise,
                                        int64_t *out, struct seqb_error *err)
{
    struct mysql *mysql = (struct mysql *)backend;
    const struct sql_store store = store_of(mysql);
    const enum seqb_status status = mysql_link_begin(&mysql->link, err);

    return status == SEQB_OK ? sql_raise(&store, raise, out, err) : status;
}

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
    struct mysql_row *row = calloc(1, sizeof *row);
    enum seqb_status status;

    if (row == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s (mysql): out of memory",
                         options->name);
    row->mysql.base.ops = &backend_mysql_row;
    status = mysql_store_connect(&row->mysql, options, err);
    if (status == SEQB_OK)
        status = mysql_store_enter(&row->mysql, options->create, err);
    if (status != SEQB_OK) {
        mysql_row_close(&row->mysql.base);
        return status;
    }
    *out = &row->mysql.base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_mysql_row = {
    .engine = "mysql-row",
    .guarantee = SEQB_DIRECT,
    .library = mysql_link_library,
    .open = mysql_row_open,
    .reserve = mysql_row_reserve,
    .raise = mysql_row_raise,
    .install = sql_install,
    .claim = mysql_claim,
    .swap = mysql_swap,
    .purge = mysql_purge,
    .clock = mysql_clock,
    .close = mysql_row_close,
};
