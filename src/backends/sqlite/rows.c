/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing rows. */
#include "backends/sqlite/rows.h"

#include <string.h>

#include "backends/sqlite/claims.h"
#include "backends/sqlite/link.h"
#include "platform/error.h"
#include "platform/text.h"

/* --- one row --- */

/* Steps to the row of that name; the caller resets the query. `*is_there` says
 * whether the row exists. */
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

/* Negative if the column is not a number. */
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
        sql_found(&sqlite->sql, counter, row_value(query), row_origin(query));
    (void)sqlite3_reset(query);
    return status;
}

/* Reads the counter's mark or note. */
static enum seqb_status kept_read(struct sqlite *sqlite,
                                  struct sql_counter *counter,
                                  struct seqb_error *err)
{
    sqlite3_stmt *query;
    bool is_there;
    const enum seqb_status status =
        row_step(sqlite, counter->kept, &query, &is_there, err);

    if (is_there)
        sql_kept_found(counter, row_value(query), row_origin(query),
                       sqlite->sql.base.origin);
    (void)sqlite3_reset(query);
    return status;
}

/* A trigger may keep the row as it is, or change what was written, and SQLite
 * reports no error. */
static enum seqb_status row_check(struct sqlite *sqlite, const char *counter,
                                  int64_t value, const char *origin,
                                  struct seqb_error *err)
{
    sqlite3_stmt *query;
    bool is_there;
    const enum seqb_status status =
        row_step(sqlite, counter, &query, &is_there, err);
    const char *stored = is_there ? row_origin(query) : NULL;
    const bool is_written = stored != NULL && row_value(query) == value &&
                            strcmp(stored, origin) == 0;

    (void)sqlite3_reset(query);
    if (status != SEQB_OK || is_written)
        return status;
    return error_set(err, SEQB_CORRUPT,
                     "%s: the row of %s is not as it was written: has "
                     "seqb_counters a trigger that ignores or changes it?",
                     sqlite->link.where, counter);
}

static enum seqb_status row_put(struct sqlite *sqlite, const char *counter,
                                int64_t value, const char *origin,
                                struct seqb_error *err)
{
    struct sqlite_link *link = &sqlite->link;
    sqlite3_stmt *query =
        sqlite_link_query(link, SQLITE_QUERY_COUNTER_PUT, counter);
    enum seqb_status status;

    (void)sqlite3_bind_int64(query, 2, value);
    (void)sqlite3_bind_text(query, 3, origin, -1, SQLITE_STATIC);
    status = sqlite_link_run(link, SQLITE_QUERY_COUNTER_PUT, err);
    return status == SEQB_OK ? row_check(sqlite, counter, value, origin, err)
                             : status;
}

enum seqb_status sqlite_row_put(struct sqlite *sqlite,
                                const struct sql_write *write,
                                struct seqb_error *err)
{
    char room[SQL_CELL_ORIGIN_SIZE];

    return row_put(sqlite, write->name, write->value,
                   sql_write_origin(&sqlite->sql, write, room), err);
}

/* --- binding --- */

/* The base's value, and what it is bound to: "" if there is none. */
static enum seqb_status base_read(struct sqlite *sqlite, int64_t *value,
                                  char out[static SQL_EPOCH_DUE_SIZE],
                                  struct seqb_error *err)
{
    sqlite3_stmt *query;
    bool is_there;
    const char *origin = NULL;
    const enum seqb_status status =
        row_step(sqlite, SQL_BASE, &query, &is_there, err);

    if (is_there) {
        *value = row_value(query);
        origin = row_origin(query);
    }
    (void)text_copy(out, SQL_EPOCH_DUE_SIZE, origin != NULL ? origin : "");
    (void)sqlite3_reset(query);
    return status;
}

/* A missing base is created and bound by the first raise. */
static enum seqb_status base_is_there(struct sqlite *sqlite, const char *store,
                                      bool *is_of_other, struct seqb_error *err)
{
    char base[SQL_EPOCH_DUE_SIZE];
    int64_t value = -1;
    const enum seqb_status status = base_read(sqlite, &value, base, err);

    *is_of_other = false;
    if (status != SEQB_OK ||
        sql_epoch_read(base, store, sqlite->sql.base.origin))
        return status;
    *is_of_other = base[0] != '\0' && value >= 0;
    return sql_epoch_make(sqlite->link.where, base, store,
                          sqlite->sql.base.origin, err);
}

/* With the file locked: of several brokers that open the file at the same time,
 * one binds the base. */
static enum seqb_status base_write(struct sqlite *sqlite, const char *store,
                                   struct seqb_error *err)
{
    char due[SQL_EPOCH_DUE_SIZE];
    int64_t value = -1;
    bool is_of_other;
    enum seqb_status status = base_is_there(sqlite, store, &is_of_other, err);

    if (status != SEQB_OK || !is_of_other)
        return status;
    status = base_read(sqlite, &value, due, err);
    sql_epoch_due(sqlite->sql.base.origin, due);
    return status == SEQB_OK ? row_put(sqlite, SQL_BASE, value, due, err)
                             : status;
}

enum seqb_status sqlite_base_bind(struct sqlite *sqlite, const char *store,
                                  struct seqb_error *err)
{
    bool is_of_other;
    enum seqb_status status = base_is_there(sqlite, store, &is_of_other, err);

    if (status != SEQB_OK || !is_of_other)
        return status;
    status = sqlite_link_begin(&sqlite->link, err);
    if (status != SEQB_OK)
        return status;
    status = base_write(sqlite, store, err);
    return sqlite_link_end(&sqlite->link, status, err);
}

/* --- the dialect --- */

/* Begins a transaction, and sets what cells and guards are bound to: the file
 * and its incarnation. */
static enum seqb_status incarnation_enter(struct sqlite *sqlite,
                                          struct seqb_error *err)
{
    struct sqlite_link *link = &sqlite->link;
    struct sql_guards *guards = &sqlite->sql.guards;
    const enum seqb_status status = sqlite_link_begin_incarnated(link, err);

    (void)text_format(sqlite->sql.now, sizeof sqlite->sql.now, "%s/%s",
                      sqlite->sql.base.origin, link->nonce);
    (void)text_copy(guards->incarnation, sizeof guards->incarnation,
                    link->nonce);
    return status == SEQB_OK ? sqlite_claims_read(sqlite, guards, err) : status;
}

/* Takes from the counters that can be granted, in the caller's transaction;
 * `*granted` says whether any was. The answers are valid once it is committed.
 * Cells are left to the general path, so that this path needs no other file. */
static enum seqb_status rows_take(struct sqlite *sqlite, bool *granted,
                                  struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < sqlite->sql.batch.count && status == SEQB_OK; i++) {
        struct seqb_request *request = sqlite->sql.batch.requests[i];
        struct sql_counter counter = {.name = request->counter};
        struct sql_grant grant;

        if (sql_name_is_cell(request->counter))
            continue;
        status = row_read(sqlite, &counter, err);
        if (status != SEQB_OK)
            return status;
        grant = sql_row_take(&counter.row, request);
        if (grant.status != SEQB_OK ||
            !sql_row_is_noted(counter.name, counter.row.value,
                              grant.block.count))
            continue; /* left to the general path */
        request->status = SEQB_OK;
        request->block = grant.block;
        status = sqlite_row_put(
            sqlite,
            &(struct sql_write){.name = counter.name, .value = grant.value},
            err);
        *granted = true;
    }
    return status;
}

static bool batch_has_rows(const struct sql_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (!sql_name_is_cell(batch->requests[i]->counter))
            return true;
    }
    return false;
}

static enum seqb_status batch_take(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;
    bool granted = false;
    enum seqb_status status;

    if (!batch_has_rows(&sqlite->sql.batch))
        return SEQB_OK;
    status = sqlite_link_begin(&sqlite->link, err);
    if (status != SEQB_OK)
        return status;
    status = rows_take(sqlite, &granted, err);
    if (status == SEQB_OK && !granted) {
        sqlite_link_abandon(&sqlite->link);
        return SEQB_OK;
    }
    return sqlite_link_end(&sqlite->link, status, err);
}

/* The file is locked as a whole, so no other broker can find the base missing
 * at the same time. */
static enum seqb_status rows_lock(struct seqb_backend *backend,
                                  struct sql_counter *counters, size_t n,
                                  struct seqb_error *err)
{
    struct sqlite *sqlite = (struct sqlite *)backend;
    const bool is_bound =
        sqlite->sql.guards.count > 0 || sql_have_cells(counters, n);
    enum seqb_status status = is_bound ? incarnation_enter(sqlite, err)
                                       : sqlite_link_begin(&sqlite->link, err);

    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        status = row_read(sqlite, &counters[i], err);
        if (status == SEQB_OK)
            status = kept_read(sqlite, &counters[i], err);
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
        status = sqlite_row_put(sqlite, &writes[i], err);
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

/* --- listing --- */

static enum seqb_status page_fill(struct sqlite *sqlite, struct seqb_page *page,
                                  const struct sql_range *range,
                                  struct seqb_error *err)
{
    const char *where = sqlite->link.where;
    sqlite3_stmt *query =
        sqlite_link_query(&sqlite->link,
                          page->is_of_claims ? SQLITE_QUERY_CLAIMS_LIST
                                             : SQLITE_QUERY_COUNTERS_LIST,
                          range->from);
    enum seqb_status status = SEQB_OK;
    int result = SQLITE_DONE;

    (void)sqlite3_bind_text(query, 2, range->to, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int(query, 3, page->most);
    while (status == SEQB_OK && (result = sqlite3_step(query)) == SQLITE_ROW) {
        const bool is_number = sqlite3_column_type(query, 1) == SQLITE_INTEGER;

        status = sql_page_add(page, (const char *)sqlite3_column_text(query, 0),
                              is_number ? sqlite3_column_int64(query, 1) : -1,
                              where, err);
    }
    if (status == SEQB_OK && result != SQLITE_DONE)
        status = sqlite_link_fail(&sqlite->link, result, "list", err);
    (void)sqlite3_reset(query);
    return status;
}

enum seqb_status sqlite_rows_list(struct sqlite *sqlite, struct seqb_page *page,
                                  struct seqb_error *err)
{
    struct sql_range range;
    enum seqb_status status =
        sql_page_begin(page, &range, sqlite->link.where, err);

    if (status == SEQB_OK)
        status =
            sqlite_link_begin_unchanged(&sqlite->link, &sqlite->sql.base, err);
    if (status != SEQB_OK)
        return status;
    status = page_fill(sqlite, page, &range, err);
    sqlite_link_abandon(&sqlite->link);
    return status;
}

/* --- purging --- */

/* Both values of the mark only grow. */
static enum seqb_status purge_note(struct sqlite *sqlite,
                                   const struct seqb_purge *purge,
                                   struct seqb_error *err)
{
    struct sql_counter kept;
    char name[SEQB_COUNTER_SIZE];
    sqlite3_stmt *query;
    enum seqb_status status;

    sql_counter_init(&kept, purge->keep);
    status = kept_read(sqlite, &kept, err);
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

/* All names between "COUNTER@" and the first one to keep begin with
 * "COUNTER@". */
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
