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

#include "backends/mysql/claim.h"
#include "backends/mysql/link.h"
#include "backends/mysql/purge.h"
#include "backends/mysql/rows.h"
#include "backends/mysql/server.h"
#include "platform/error.h"
#include "platform/text.h"

#define ORIGIN_SQL MYSQL_ORIGIN_SQL("'seqb_counters'")

struct mysql_row {
    struct seqb_backend base;
    struct mysql_link link;
    struct sql_batch batch; /* of the reserve call under way */
};

/* --- reserve: the one statement a counter --- */

/* `now` is the SQL of the store's origin. All is checked where the value is
 * added to; no row is changed if any of it does not hold. */
static void grant_write(struct mysql_row *mysql,
                        const struct seqb_request *request, const char *now)
{
    struct mysql_link *link = &mysql->link;

    mysql_link_add(link,
                   "UPDATE seqb_counters "
                   "SET value = LAST_INSERT_ID(value + %" PRId64 ") "
                   "WHERE value BETWEEN 0 AND %" PRId64
                   " AND " MYSQL_PRIMARY_SQL " AND origin = %s "
                   "AND origin = ",
                   request->want, request->limit - request->want, now);
    mysql_link_quote(link, mysql->base.origin);
    mysql_link_add(link, " AND name = ");
    mysql_link_quote(link, request->counter);
}

/* Many are one transaction; one is its own. From the SELECT on nobody can put
 * another table in the place of seqb_counters, so that the origin read after it
 * holds to the end. */
static void grants_write(struct mysql_row *mysql)
{
    const struct sql_batch *batch = &mysql->batch;
    struct mysql_link *link = &mysql->link;

    if (batch->count == 1) {
        grant_write(mysql, batch->requests[0], ORIGIN_SQL);
        return;
    }
    mysql_link_add(link, "BEGIN;SELECT 1 FROM seqb_counters LIMIT 0 FOR UPDATE;"
                         "SET @seqb_origin = " ORIGIN_SQL ";");
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

static enum seqb_status grants_read(struct mysql_row *mysql,
                                    struct seqb_error *err)
{
    const struct sql_batch *batch = &mysql->batch;
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

static enum seqb_status batch_grant(struct mysql_row *mysql,
                                    struct seqb_error *err)
{
    enum seqb_status status;

    grants_write(mysql);
    status = mysql_link_send(&mysql->link, SEQB_UNCERTAIN, err);
    return status == SEQB_OK ? grants_read(mysql, err) : status;
}

/* --- what the one statement could not serve --- */

static enum seqb_status rows_lock(struct seqb_backend *backend,
                                  struct sql_counter *counters, size_t n,
                                  struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    return mysql_rows_lock(&mysql->link, backend->origin, counters, n, err);
}

static enum seqb_status rows_commit(struct seqb_backend *backend,
                                    const struct sql_write *writes, size_t n,
                                    struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    return mysql_rows_commit(&mysql->link, backend->origin, writes, n, 0, err);
}

static enum seqb_status rows_abandon(struct seqb_backend *backend,
                                     struct seqb_error *err)
{
    return mysql_rows_abandon(&((struct mysql_row *)backend)->link, err);
}

/* Counters that are known need fewer rights than new ones. */
static bool rows_blame(const struct seqb_backend *backend,
                       enum seqb_status status)
{
    const struct mysql_row *mysql = (const struct mysql_row *)backend;

    return mysql->link.handle != NULL &&
           (status == SEQB_REFUSED || status == SEQB_CORRUPT);
}

static const struct sql_dialect dialect = {
    .lock = rows_lock,
    .commit = rows_commit,
    .abandon = rows_abandon,
    .blames_row = rows_blame,
};

static struct sql_store store_of(struct mysql_row *mysql)
{
    return (struct sql_store){&dialect, &mysql->base, mysql->link.where};
}

/* --- reserve and raise --- */

static enum seqb_status mysql_row_reserve(struct seqb_backend *backend,
                                          struct seqb_request *requests,
                                          size_t n, struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;
    const struct sql_store store = store_of(mysql);
    struct sql_batch *batch = &mysql->batch;
    struct seqb_error why;
    enum seqb_status status = mysql_link_begin(&mysql->link, &why);

    sql_batch_begin(batch, requests, n);
    if (status == SEQB_OK)
        status = batch_grant(mysql, &why);
    if (status == SEQB_OK) {
        sql_batch_keep(batch);
        status = sql_batch_serve(batch, &store, &why);
    }
    if (status == SEQB_OK)
        return SEQB_OK;
    mysql_link_close(&mysql->link);
    return sql_batch_fail(batch, &why, err);
}

static enum seqb_status mysql_row_raise(struct seqb_backend *backend,
                                        const struct seqb_raise *raise,
                                        int64_t *out, struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;
    const struct sql_store store = store_of(mysql);
    const enum seqb_status status = mysql_link_begin(&mysql->link, err);

    return status == SEQB_OK ? sql_raise(&store, raise, out, err) : status;
}

/* --- the rest --- */

static enum seqb_status mysql_row_install(struct seqb_backend *backend,
                                          const struct seqb_window *window,
                                          int64_t *standing,
                                          struct seqb_error *err)
{
    const struct mysql_row *mysql = (const struct mysql_row *)backend;

    (void)standing;
    return error_set(err, SEQB_INVALID, "%s: %s: has no windows",
                     mysql->link.where, window->counter);
}

static enum seqb_status mysql_row_claim(struct seqb_backend *backend,
                                        const char *name, const char *text,
                                        char *standing, size_t size,
                                        struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;
    enum seqb_status status = mysql_link_begin(&mysql->link, err);

    if (status != SEQB_OK)
        return status;
    return mysql_claim(&mysql->link, name, text, standing, size, err);
}

static enum seqb_status mysql_row_swap(struct seqb_backend *backend,
                                       const struct seqb_swap *swap,
                                       char *standing, size_t size,
                                       struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    return mysql_swap(&mysql->link, swap, standing, size, err);
}

static enum seqb_status mysql_row_purge(struct seqb_backend *backend,
                                        const struct seqb_purge *purge,
                                        int32_t *deleted,
                                        struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    return mysql_purge(&mysql->link, purge, deleted, err);
}

static enum seqb_status mysql_row_clock(struct seqb_backend *backend,
                                        int64_t *out_ms, struct seqb_error *err)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    return mysql_server_clock(&mysql->link, out_ms, err);
}

static void mysql_row_close(struct seqb_backend *backend)
{
    struct mysql_row *mysql = (struct mysql_row *)backend;

    if (mysql == NULL)
        return;
    mysql_link_close(&mysql->link);
    free(mysql);
}

static enum seqb_status origin_read(struct mysql_row *mysql,
                                    struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    const char *origin = NULL;
    enum seqb_status status;

    mysql_link_add(link, "SELECT " ORIGIN_SQL);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (mysql_link_row(link))
        origin = mysql_link_text(link, 0);
    if (origin == NULL ||
        !text_copy(mysql->base.origin, sizeof mysql->base.origin, origin))
        return mysql_link_distrust(link, "the origin", err);
    return SEQB_OK;
}

static enum seqb_status
mysql_row_open(const struct seqb_backend_options *options,
               struct seqb_backend **out, struct seqb_error *err)
{
    struct mysql_row *mysql = calloc(1, sizeof *mysql);
    enum seqb_status status;

    if (mysql == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s (mysql): out of memory",
                         options->name);
    mysql->base.ops = &backend_mysql_row;
    mysql->base.fd = -1;
    status = mysql_link_open(&mysql->link, options, err);
    if (status == SEQB_OK)
        status = mysql_server_check(&mysql->link, options, &mysql->base, err);
    if (status == SEQB_OK)
        status = mysql_claim_open(&mysql->link, options->create, err);
    if (status == SEQB_OK)
        status = origin_read(mysql, err);
    if (status != SEQB_OK) {
        mysql_row_close(&mysql->base);
        return status;
    }
    *out = &mysql->base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_mysql_row = {
    .engine = "mysql-row",
    .guarantee = SEQB_DIRECT,
    .library = mysql_link_library,
    .open = mysql_row_open,
    .reserve = mysql_row_reserve,
    .raise = mysql_row_raise,
    .install = mysql_row_install,
    .claim = mysql_row_claim,
    .swap = mysql_row_swap,
    .purge = mysql_row_purge,
    .clock = mysql_row_clock,
    .close = mysql_row_close,
};
