/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing rows. */
#include "backends/sqlite/rows.h"

#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

/* --- one row --- */

/* The row of that name, to be reset by the caller; `*is_there` tells if there
 * is one. */
static enum seqb_status row_step(struct sqlite *sqlite, const char *name,
                                 sqlite3_stmt **out, bool *is_there,
                                 struct seqb_error *err)
{
    sqlite3_stmt *query =
        sqlite_link_query(&sqlite->link, SQLITE_QUERY_COUNTER_FIND, name);
    const int result = sqlite3_step(query);

    *out = query;
    *is_there = result == SQLITE_ROW;
    if (result == SQLITE_ROW || result == SQLITE_DONE)
        return SEQB_OK;
    return sqlite_link_fail(&sqlite->link, result, "read", err);
}

/* Negative if it is no number. */
static int64_t row_value(sqlite3_stmt *query)
{
    return sqlite3_column_type(query, 0) == SQLITE_INTEGER
               ? sqlite3_column_int64(query, 0)
               : -1;
}

static const char *row_origin(sqlite3_stmt *query)
{
    return (const char *)sqlite3_column_text(query, 1);
}

static enum seqb_status row_read(struct sqlite *sqlite,
                                 struct sql_counter *counter,
                                 struct seqb_error *err)
{
    sqlite3_stmt *query;
    bool is_there;
    const enum seqb_status status =
        row_step(sqlite, counter->name, &query, &is_there, err);

    if (is_there)
        sql_row_found(counter, row_value(query), row_origin(query),
                      sqlite->sql.base.origin);
    (void)sqlite3_reset(query);
    return status;
}

/* `counter` is one, with its "@STAMP" or without, or the base. */
static enum seqb_status mark_read(struct sqlite *sqlite,
                                  struct sql_counter *counter,
                                  struct seqb_error *err)
{
    char name[SEQB_COUNTER_SIZE];
    sqlite3_stmt *query;
    bool is_there;
    enum seqb_status status;

    (void)sql_mark_name(counter->name, name);
    status = row_step(sqlite, name, &query, &is_there, err);
    if (is_there)
        sql_mark_found(counter, row_value(query), row_origin(query));
    (void)sqlite3_reset(query);
    return status;
}

enum seqb_status sqlite_row_put(struct sqlite *sqlite, const char *counter,
                                int64_t value, struct seqb_error *err)
{
    sqlite3_stmt *query =
        sqlite_link_query(&sqlite->link, SQLITE_QUERY_COUNTER_PUT, counter);

    (void)sqlite3_bind_int64(query, 2, value);
    (void)sqlite3_bind_text(query, 3, sqlite->sql.base.origin, -1,
                            SQLITE_STATIC);
    return sqlite_link_run(&sqlite->link, SQLITE_QUERY_COUNTER_PUT, err);
}

/* --- the dialect --- */

/* Takes from the counters that are well, in a transaction of the caller's;
 * `*granted` tells if any was. The answers hold once it is committed. */
static enum seqb_status rows_take(struct sqlite *sqlite, bool *granted,
                                  struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < sqlite->sql.batch.count && status == SEQB_OK; i++) {
        struct seqb_request *request = sqlite->sql.batch.requests[i];
        struct sql_counter counter = {.name = request->counter};
        struct sql_grant grant;

        status = row_read(sqlite, &counter, err);
        if (status != SEQB_OK)
            return status;
        grant = sql_row_take(&counter.row, request);
        if (grant.status != SEQB_OK)
            continue; /* why is found out later */
        request->status = SEQB_OK;
        request->block = grant.block;
        status = sqlite_row_put(sqlite, counter.name, grant.value, err);
        *granted = true;
    }
    return status;
}

static enum seqb_status batch_take(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;
    bool granted = false;
    enum seqb_status status = sqlite_link_begin(&sqlite->link, err);

    if (status != SEQB_OK)
        return status;
    status = rows_take(sqlite, &granted, err);
    if (status == SEQB_OK && !granted) {
        sqlite_link_abandon(&sqlite->link);
        return SEQB_OK;
    }
    return sqlite_link_end(&sqlite->link, status, err);
}

/* The file is locked as a whole: who finds no base is alone with that. */
static enum seqb_status rows_lock(struct seqb_backend *backend,
                                  struct sql_counter *counters, size_t n,
                                  struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;
    enum seqb_status status = sqlite_link_begin(&sqlite->link, err);

    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        status = row_read(sqlite, &counters[i], err);
        if (status == SEQB_OK && sql_mark_counts(counters[i].name))
            status = mark_read(sqlite, &counters[i], err);
    }
    return status;
}

static enum seqb_status rows_commit(struct seqb_backend *backend,
                                    const struct sql_write *writes, size_t n,
                                    struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = sqlite_row_put(sqlite, writes[i].name, writes[i].value, err);
    return sqlite_link_end(&sqlite->link, status, err);
}

static enum seqb_status rows_abandon(struct seqb_backend *backend,
                                     struct seqb_error *err)
{
    (void)err;
    sqlite_link_abandon(&((struct sqlite *)backend)->link);
    return SEQB_OK;
}

const struct sql_dialect sqlite_dialect = {
    .take = batch_take,
    .lock = rows_lock,
    .commit = rows_commit,
    .abandon = rows_abandon,
};

/* --- purging --- */

/* The mark only grows, in both that it holds. */
static enum seqb_status purge_note(struct sqlite *sqlite,
                                   const struct seqb_purge *purge,
                                   struct seqb_error *err)
{
    struct sql_counter kept = {.name = purge->keep};
    char name[SEQB_COUNTER_SIZE];
    sqlite3_stmt *query;
    const enum seqb_status status = mark_read(sqlite, &kept, err);

    if (status != SEQB_OK)
        return status;
    if (kept.mark_ms == SQL_MARK_DAMAGED)
        return error_set(err, SEQB_CORRUPT,
                         "%s: what is kept of the periods of counter %s is "
                         "damaged",
                         sqlite->link.where, purge->counter);
    (void)sql_mark_name(purge->counter, name);
    query = sqlite_link_query(&sqlite->link, SQLITE_QUERY_MARK_PUT, name);
    (void)sqlite3_bind_int64(query, 2, purge->before_ms);
    (void)sqlite3_bind_text(query, 3, purge->keep, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(query, 4, kept.is_purged);
    return sqlite_link_run(&sqlite->link, SQLITE_QUERY_MARK_PUT, err);
}

/* The names between "COUNTER@" and the first that is kept all begin so. */
static enum seqb_status rows_delete(struct sqlite *sqlite,
                                    const struct seqb_purge *purge,
                                    int32_t *deleted, struct seqb_error *err)
{
    char from[SEQB_COUNTER_SIZE + 1];
    sqlite3_stmt *query;
    enum seqb_status status;

    (void)text_format(from, sizeof from, "%s@", purge->counter);
    query =
        sqlite_link_query(&sqlite->link, SQLITE_QUERY_COUNTERS_DELETE, from);
    (void)sqlite3_bind_text(query, 2, purge->keep, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(query, 3, purge->most);
    status = sqlite_link_run(&sqlite->link, SQLITE_QUERY_COUNTERS_DELETE, err);
    if (status == SEQB_OK)
        *deleted = sqlite3_changes(sqlite->link.db);
    return status;
}

enum seqb_status sqlite_rows_purge(struct sqlite *sqlite,
                                   const struct seqb_purge *purge,
                                   int32_t *deleted, struct seqb_error *err)
{
    enum seqb_status status;

    if (!sql_purge_is_sane(purge))
        return error_set(err, SEQB_INVALID,
                         "%s: counter %s: cannot be purged up to %s",
                         sqlite->link.where, purge->counter, purge->keep);
    status = purge_note(sqlite, purge, err);
    if (status == SEQB_OK && purge->most > 0)
        status = rows_delete(sqlite, purge, deleted, err);
    return status;
}
