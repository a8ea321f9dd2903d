/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of seqb_counters inside a transaction: locked, read, written. What
 * they mean is sql/row.h's. */
#include <string.h>

#include "backends/postgres/transaction.h"
#include "platform/error.h"

/* A base that is not there belongs to no store. */
static const char base_sql[] =
    "INSERT INTO seqb_counters (name, value, origin) VALUES ('', 0, '')"
    " ON CONFLICT (name) DO NOTHING";

static const char row_sql[] =
    "SELECT value, origin FROM seqb_counters WHERE name = $1 FOR UPDATE";

/* In a statement of its own, which sees all that was noted before the row was
 * found to be gone. */
static const char mark_sql[] =
    "SELECT value, origin FROM seqb_counters WHERE name = $1 FOR SHARE";

static const char put_sql[] =
    "INSERT INTO seqb_counters (name, value, origin)"
    " VALUES ($1, $2::bigint, $3) ON CONFLICT (name) DO UPDATE"
    " SET value = excluded.value, origin = excluded.origin";

enum row_column { ROW_VALUE, ROW_ORIGIN, ROW_COLUMNS };

/* --- locking and reading --- */

static void counter_ask(struct postgres *postgres, const char *name)
{
    char mark[SEQB_COUNTER_SIZE] = "";
    const char *const arguments[] = {name};
    const char *const mark_arguments[] = {mark};

    postgres_link_add(&postgres->link, row_sql, 1, arguments);
    if (!sql_mark_counts(name))
        return;
    (void)sql_mark_name(name, mark);
    postgres_link_add(&postgres->link, mark_sql, 1, mark_arguments);
}

/* Negative if it is no number. */
static int64_t value_read(const PGresult *result)
{
    int64_t value;

    return postgres_number_read(result, ROW_VALUE, &value) ? value : -1;
}

static const char *origin_read(const PGresult *result)
{
    return PQgetisnull(result, 0, ROW_ORIGIN) != 0
               ? NULL
               : PQgetvalue(result, 0, ROW_ORIGIN);
}

/* A row or none; `*is_there` tells which. The result is the caller's. */
static enum seqb_status row_hear(struct postgres *postgres, PGresult **out,
                                 bool *is_there, struct seqb_error *err)
{
    const enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, out, err);

    if (status != SEQB_OK)
        return status;
    *is_there = PQntuples(*out) == 1;
    if (PQntuples(*out) > 1 || PQnfields(*out) != ROW_COLUMNS)
        return postgres_link_distrust(&postgres->link, "a row", err);
    return SEQB_OK;
}

static enum seqb_status counter_hear(struct postgres *postgres,
                                     struct sql_counter *counter,
                                     struct seqb_error *err)
{
    PGresult *row = NULL;
    PGresult *mark = NULL;
    bool is_there;
    enum seqb_status status = row_hear(postgres, &row, &is_there, err);

    if (status == SEQB_OK && is_there)
        sql_row_found(counter, value_read(row), origin_read(row),
                      postgres->sql.base.origin);
    if (status == SEQB_OK && sql_mark_counts(counter->name)) {
        status = row_hear(postgres, &mark, &is_there, err);
        if (status == SEQB_OK && is_there)
            sql_mark_found(counter, value_read(mark), origin_read(mark));
    }
    PQclear(row);
    PQclear(mark);
    return status;
}

static enum seqb_status rows_lock(struct seqb_backend *backend,
                                  struct sql_counter *counters, size_t n,
                                  struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    struct postgres_link *link = &postgres->link;
    enum seqb_status status;

    link->state[0] = '\0'; /* blames this transaction's rows alone */
    postgres_transaction_begin(postgres);
    postgres_link_add(link, base_sql, 0, NULL);
    for (size_t i = 0; i < n; i++)
        counter_ask(postgres, counters[i].name);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = postgres_transaction_check(postgres, err);
    if (status == SEQB_OK)
        status = postgres_done_read(postgres, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = counter_hear(postgres, &counters[i], err);
    return status;
}

/* --- writing --- */

static enum seqb_status rows_commit(struct seqb_backend *backend,
                                    const struct sql_write *writes, size_t n,
                                    struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    struct postgres_link *link = &postgres->link;
    enum seqb_status status = postgres_link_finish(link, err);

    if (status != SEQB_OK)
        return status;
    for (size_t i = 0; i < n; i++) {
        char value[POSTGRES_NUMBER_SIZE];
        const char *const arguments[] = {writes[i].name, value,
                                         backend->origin};

        postgres_number_make(writes[i].value, value);
        postgres_link_add(link, put_sql, 3, arguments);
    }
    postgres_link_add_commit(link);
    status = postgres_link_send(link, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = postgres_done_read(postgres, err);
    return status == SEQB_OK ? postgres_transaction_end(postgres, err) : status;
}

static enum seqb_status rows_abandon(struct seqb_backend *backend,
                                     struct seqb_error *err)
{
    struct postgres_link *link = &((struct postgres *)backend)->link;

    if (postgres_link_abandon(link))
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE, "%s: the connection was lost",
                     link->where);
}

/* Counters that are known need fewer rights than new ones. */
static bool rows_blame(const struct seqb_backend *backend,
                       enum seqb_status status)
{
    const struct postgres_link *link =
        &((const struct postgres *)backend)->link;

    (void)status;
    return postgres_link_blames_row(link) ||
           strcmp(link->state, POSTGRES_NO_RIGHT) == 0;
}

static enum seqb_status call_begin(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;

    return postgres_link_begin(&postgres->link, postgres->timeout_ms, err);
}

const struct sql_dialect postgres_dialect = {
    .begin = call_begin,
    .take = postgres_take,
    .lock = rows_lock,
    .commit = rows_commit,
    .abandon = rows_abandon,
    .blames_row = rows_blame,
};
