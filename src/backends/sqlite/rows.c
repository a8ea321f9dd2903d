/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing rows. Two kinds of them are no counters: what is kept
 * beside the base, and the ends of purged periods. They only grow, and hold
 * whatever origin they were written in: to believe an old one is safe.
 */
#include "backends/sqlite/rows.h"

#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define STAMP_MARK '@' /* in no key */
#define BASE_MS    "@"
#define NAME_SIZE  (SEQB_COUNTER_SIZE + 1) /* of "@COUNTER" */

static void row_read(const struct sqlite *sqlite, sqlite3_stmt *query,
                     struct sqlite_row *out)
{
    const char *origin = (const char *)sqlite3_column_text(query, 1);

    out->value = sqlite3_column_int64(query, 0);
    if (sqlite3_column_type(query, 0) != SQLITE_INTEGER || out->value < 0 ||
        origin == NULL)
        out->state = ROW_DAMAGED;
    else if (strcmp(origin, sqlite->base.origin) == 0)
        out->state = ROW_BOUND;
    else
        out->state = ROW_FOREIGN;
}

enum seqb_status sqlite_row_find(struct sqlite *sqlite, const char *counter,
                                 struct sqlite_row *out, struct seqb_error *err)
{
    sqlite3_stmt *query =
        sqlite_link_query(&sqlite->link, SQLITE_QUERY_COUNTER_FIND, counter);
    const int result = sqlite3_step(query);
    enum seqb_status status = SEQB_OK;

    *out = (struct sqlite_row){ROW_ABSENT, 0};
    if (result == SQLITE_ROW)
        row_read(sqlite, query, out);
    else if (result != SQLITE_DONE)
        status = sqlite_link_fail(&sqlite->link, result, "read", err);
    (void)sqlite3_reset(query);
    return status;
}

enum seqb_status sqlite_row_put(struct sqlite *sqlite, const char *counter,
                                int64_t value, struct seqb_error *err)
{
    sqlite3_stmt *query =
        sqlite_link_query(&sqlite->link, SQLITE_QUERY_COUNTER_PUT, counter);

    (void)sqlite3_bind_int64(query, 2, value);
    (void)sqlite3_bind_text(query, 3, sqlite->base.origin, -1, SQLITE_STATIC);
    return sqlite_link_run(&sqlite->link, SQLITE_QUERY_COUNTER_PUT, err);
}

/* --- what is kept of times --- */

static enum seqb_status time_raise(struct sqlite *sqlite, const char *name,
                                   int64_t ms, struct seqb_error *err)
{
    struct sqlite_row row;
    const enum seqb_status status = sqlite_row_find(sqlite, name, &row, err);

    if (status == SEQB_OK && row.state == ROW_DAMAGED)
        return error_set(err, SEQB_CORRUPT,
                         "sqlite %s: the time at '%s' is damaged in %s",
                         sqlite->link.name, name, sqlite->link.path);
    if (status != SEQB_OK || row.value >= ms)
        return status;
    return sqlite_row_put(sqlite, name, ms, err);
}

enum seqb_status sqlite_base_note(struct sqlite *sqlite, int64_t base_ms,
                                  struct seqb_error *err)
{
    return time_raise(sqlite, BASE_MS, base_ms, err);
}

/* Where the end of the counter's purged periods is kept. */
static void end_name(char out[NAME_SIZE], const char *counter)
{
    const char *mark = strrchr(counter, STAMP_MARK);
    const size_t length =
        mark != NULL ? (size_t)(mark - counter) : strlen(counter);

    (void)text_format(out, NAME_SIZE, "%c%.*s", STAMP_MARK, (int)length,
                      counter);
}

/* --- counters of a period --- */

/* `row` is the base. Whether the period is over counts more than whether the
 * base is bound: a fenced counter would be raised, and so be made. */
static void row_begin(struct sqlite_row *row, int64_t begins_ms,
                      const struct sqlite_row *end,
                      const struct sqlite_row *base_ms)
{
    if (end->state == ROW_DAMAGED || base_ms->state == ROW_DAMAGED)
        row->state = ROW_DAMAGED;
    else if (begins_ms < end->value)
        row->state = ROW_OVER;
    else if (begins_ms > base_ms->value)
        row->value = 0;
}

enum seqb_status sqlite_row_begin(struct sqlite *sqlite,
                                  const struct seqb_request *request,
                                  struct sqlite_row *out,
                                  struct seqb_error *err)
{
    struct sqlite_row base_ms;
    struct sqlite_row end;
    char name[NAME_SIZE];
    enum seqb_status status = sqlite_row_find(sqlite, SQLITE_BASE, out, err);

    if (status != SEQB_OK || request->begins_ms == 0)
        return status;
    end_name(name, request->counter);
    status = sqlite_row_find(sqlite, name, &end, err);
    if (status == SEQB_OK)
        status = sqlite_row_find(sqlite, BASE_MS, &base_ms, err);
    if (status == SEQB_OK)
        row_begin(out, request->begins_ms, &end, &base_ms);
    return status;
}

/* The names between "COUNTER@" and the first that is kept all begin so. */
static enum seqb_status rows_delete(struct sqlite *sqlite,
                                    const struct seqb_purge *purge,
                                    int32_t *deleted, struct seqb_error *err)
{
    char from[NAME_SIZE];
    sqlite3_stmt *query;
    enum seqb_status status;

    (void)text_format(from, sizeof from, "%s%c", purge->counter, STAMP_MARK);
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
    char name[NAME_SIZE];
    enum seqb_status status;

    end_name(name, purge->counter);
    status = time_raise(sqlite, name, purge->before_ms, err);
    if (status == SEQB_OK && purge->most > 0)
        status = rows_delete(sqlite, purge, deleted, err);
    return status;
}
