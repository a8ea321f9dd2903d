/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Granting from the rows of seqb_counters: the one statement that usually
 * serves a counter or a cell, and the one that replaces the window of a cell.
 * rows.c, with the rows locked, serves what they cannot. Rows are always used
 * in the order of their names, so that brokers never deadlock.
 */
#include "backends/mysql/mysql.h"

#include <inttypes.h>
#include <string.h>

#include "backends/mysql/server.h"
#include "platform/error.h"

/* Whether no new note is needed (sql/row.h); written so that no term exceeds
 * the largest number. */
#define NOTED_SQL " AND (value %% %d + %d) %% %d < %" PRId64

/* SQL of the origins that rows and cells must have now. */
struct origins {
    const char *row;
    const char *cell;
};

static const struct origins set_origins = {"@seqb_origin", "@seqb_now"};

static void row_write(struct mysql *mysql, const struct seqb_request *request,
                      const char *now)
{
    struct mysql_link *link = &mysql->link;

    mysql_link_add(link, " AND %s = ", now);
    mysql_link_quote(link, link->store);
    if (!sql_mark_counts(request->counter))
        mysql_link_add(link, NOTED_SQL, SQL_NOTE_VALUES, SQL_NOTE_VALUES - 1,
                       SQL_NOTE_VALUES, SQL_NOTE_VALUES - request->want);
    mysql_link_add(link, " AND origin = ");
    mysql_link_quote(link, mysql->sql.base.origin);
}

static void cell_write(struct mysql *mysql, const struct seqb_request *request,
                       const char *now)
{
    char prefix[SQL_CELL_PREFIX_SIZE];

    sql_cell_prefix(request->window, request->limit, prefix);
    mysql_link_add(&mysql->link, " AND origin = CONCAT('%s', %s)", prefix, now);
}

/* The statement that adds to the value checks everything itself; it changes no
 * row if a condition is false. */
static void grant_write(struct mysql *mysql, const struct seqb_request *request,
                        const struct origins *origins)
{
    struct mysql_link *link = &mysql->link;

    mysql_link_add(link,
                   "UPDATE seqb_counters "
                   "SET value = LAST_INSERT_ID(value + %" PRId64 ") "
                   "WHERE value BETWEEN 0 AND %" PRId64 " AND %s",
                   request->want, request->limit - request->want, link->serves);
    if (sql_name_is_cell(request->counter))
        cell_write(mysql, request, origins->cell);
    else
        row_write(mysql, request, origins->row);
    mysql_link_add(link, " AND name = ");
    mysql_link_quote(link, request->counter);
}

static bool batch_has_cells(const struct sql_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (sql_name_is_cell(batch->requests[i]->counter))
            return true;
    }
    return false;
}

/* Several requests are one transaction; a single one commits by itself. After
 * the SELECT nobody can replace the table seqb_counters, so the origin that is
 * read later is valid until the transaction ends. */
static void grants_write(struct mysql *mysql)
{
    const struct sql_batch *batch = &mysql->sql.batch;
    struct mysql_link *link = &mysql->link;

    if (batch->count == 1) {
        const struct origins own = {link->sql->store, link->sql->now};

        grant_write(mysql, batch->requests[0], &own);
        return;
    }
    mysql_link_add(link,
                   "BEGIN;SELECT 1 FROM seqb_counters LIMIT 0 FOR UPDATE;"
                   "SET @seqb_origin = %s;",
                   link->sql->store);
    if (batch_has_cells(batch))
        mysql_link_add(link, "SET @seqb_now = %s;", link->sql->now_of_set);
    for (size_t i = 0; i < batch->count; i++) {
        grant_write(mysql, batch->requests[i], &set_origins);
        mysql_link_add(link, ";");
    }
    mysql_link_add(link, "COMMIT");
}

/* The value is that of this OK packet, and valid only if this statement changed
 * its row: the session's LAST_INSERT_ID() keeps the value of an earlier
 * statement. With a trigger the packet has none. */
static enum seqb_status grant_read(struct mysql_link *link,
                                   struct seqb_request *request,
                                   struct seqb_error *err)
{
    int64_t value;

    if (link->changed == 0)
        return SEQB_OK; /* rows.c finds the reason */
    value = (int64_t)link->insert_id;
    if (value == 0)
        return mysql_trigger_refuse(link,
                                    "the server does not say what it "
                                    "wrote",
                                    err);
    if (link->changed != 1 || value < request->want || value > request->limit)
        return mysql_link_distrust(link, "UPDATE", err);
    request->status = SEQB_OK;
    /* The value is the last one granted; for a cell, one more. */
    request->block.first =
        value - request->want + (sql_name_is_cell(request->counter) ? 0 : 1);
    request->block.count = request->want;
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
    status = mysql_link_skip(link, batch_has_cells(batch) ? 4 : 3, err);
    for (size_t i = 0; i < batch->count && status == SEQB_OK; i++) {
        status = mysql_link_next(link, err);
        if (status == SEQB_OK)
            status = grant_read(link, batch->requests[i], err);
    }
    return status == SEQB_OK ? mysql_link_next_commit(link, err) : status;
}

/* Answers the cells with that error, and removes them from the batch. */
static void cells_refuse(struct mysql *mysql, const struct seqb_error *why)
{
    struct sql_batch *batch = &mysql->sql.batch;
    size_t left = 0;

    for (size_t i = 0; i < batch->count; i++) {
        struct seqb_request *request = batch->requests[i];

        if (sql_name_is_cell(request->counter))
            request->status = error_copy(&request->error, why);
        else
            batch->requests[left++] = request;
    }
    batch->count = left;
}

enum seqb_status mysql_rows_take(struct seqb_backend *backend,
                                 struct seqb_error *err)
{
    struct mysql *mysql = (struct mysql *)backend;
    struct seqb_error why;
    enum seqb_status status = SEQB_OK;

    if (batch_has_cells(&mysql->sql.batch))
        status = mysql_incarnation_find(mysql, &why);
    if (mysql->link.handle == NULL)
        return error_copy(err, &why);
    if (status != SEQB_OK)
        cells_refuse(mysql, &why);
    if (mysql->sql.batch.count == 0)
        return SEQB_OK;
    grants_write(mysql);
    status = mysql_link_send(&mysql->link, SEQB_UNCERTAIN, &why);
    if (status == SEQB_OK)
        status = grants_read(mysql, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    if (!mysql_rows_conflict(backend))
        mysql_link_close(&mysql->link);
    return error_copy(err, &why);
}

/* --- a window that is given up --- */

/* The origin is computed once: behind what is compared with it, the cell has
 * the same. A trigger may write something else: the cell is read before the
 * commit. */
static void renew_write(struct mysql *mysql, const struct seqb_window *window)
{
    struct mysql_link *link = &mysql->link;
    char fresh[SQL_CELL_PREFIX_SIZE];
    char over[SQL_CELL_PREFIX_SIZE];

    sql_cell_prefix(window->window, window->size, fresh);
    sql_cell_prefix(window->over, window->size, over);
    mysql_link_add(link,
                   "BEGIN;UPDATE seqb_counters SET value = %" PRId64
                   ", origin = CONCAT('%s', SUBSTRING(origin, %zu))"
                   " WHERE value BETWEEN 0 AND %" PRId64
                   " AND %s AND origin = CONCAT('%s', %s)"
                   " AND name = ",
                   window->take, fresh, strlen(over) + 1, window->size,
                   link->serves, over, link->sql->now);
    mysql_link_quote(link, window->counter);
    mysql_link_add(link,
                   ";SELECT COUNT(*) FROM seqb_counters WHERE value = %" PRId64
                   " AND LEFT(origin, %zu) = '%s' AND name = ",
                   window->take, strlen(fresh), fresh);
    mysql_link_quote(link, window->counter);
    mysql_link_add(link, ";COMMIT");
}

static enum seqb_status renew_read(struct mysql_link *link, bool *is_done,
                                   struct seqb_error *err)
{
    enum seqb_status status = mysql_link_skip(link, 2, err);
    const bool is_changed = status == SEQB_OK && link->changed == 1;

    if (is_changed)
        status = mysql_rows_check(link, 1, err);
    else if (status == SEQB_OK)
        status = mysql_link_next(link, err);
    if (status == SEQB_OK)
        status = mysql_link_next_commit(link, err);
    *is_done = status == SEQB_OK && is_changed;
    return status;
}

/* In a cluster the shared way answers another node's conflict. */
enum seqb_status mysql_rows_renew(struct seqb_backend *backend,
                                  const struct seqb_window *window,
                                  bool *is_done, struct seqb_error *err)
{
    struct mysql *mysql = (struct mysql *)backend;
    enum seqb_status status = SEQB_OK;

    if (mysql->link.is_cluster)
        return SEQB_OK;
    status = mysql_incarnation_find(mysql, err);
    if (status != SEQB_OK)
        return status;
    renew_write(mysql, window);
    status = mysql_link_send(&mysql->link, SEQB_UNCERTAIN, err);
    return status == SEQB_OK ? renew_read(&mysql->link, is_done, err) : status;
}
