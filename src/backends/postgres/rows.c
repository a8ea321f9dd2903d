/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of seqb_counters inside a transaction: locked, read, written.
 * sql/row.h defines their meaning. */
#include <string.h>

#include "backends/postgres/session.h"
#include "backends/postgres/transaction.h"
#include "platform/error.h"
#include "platform/text.h"

/* A missing base is inserted unbound. */
static const char base_sql[] =
    "INSERT INTO seqb_counters (name, value, origin) VALUES ('', 0, '')"
    " ON CONFLICT (name) DO NOTHING";

/* FOR SHARE makes a broker that replaces the claim wait until the transaction
 * ends. */
static const char guard_sql[] =
    "SELECT (SELECT text FROM seqb_claims WHERE name = $1 FOR SHARE),"
    " " POSTGRES_RUN;

static const char row_sql[] =
    "SELECT value, origin FROM seqb_counters WHERE name = $1 FOR UPDATE";

/* A separate statement, so that it sees every mark that was stored before the
 * row was found missing. */
static const char kept_sql[] =
    "SELECT value, origin FROM seqb_counters WHERE name = $1 FOR SHARE";

static const char put_sql[] =
    "INSERT INTO seqb_counters (name, value, origin)"
    " VALUES ($1, $2::bigint, $3) ON CONFLICT (name) DO UPDATE"
    " SET value = excluded.value, origin = excluded.origin";

enum guard_column { GUARD_TEXT, GUARD_RUN, GUARD_COLUMNS };
enum row_column { ROW_VALUE, ROW_ORIGIN, ROW_COLUMNS };

/* --- guards --- */

static void guards_ask(struct postgres *postgres)
{
    const struct sql_guards *guards = &postgres->sql.guards;

    for (size_t i = 0; i < guards->count; i++)
        postgres_link_add(&postgres->link, guard_sql, 1,
                          &guards->claims[i].name);
}

static enum seqb_status guard_receive(struct postgres *postgres, size_t i,
                                      struct seqb_error *err)
{
    struct sql_guards *guards = &postgres->sql.guards;
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &result, err);

    if (status != SEQB_OK)
        return status;
    if (PQntuples(result) != 1 || PQnfields(result) != GUARD_COLUMNS) {
        PQclear(result);
        return postgres_link_distrust(&postgres->link, "a guard", err);
    }
    (void)text_copy(guards->incarnation, sizeof guards->incarnation,
                    PQgetvalue(result, 0, GUARD_RUN));
    sql_guards_found(guards, i,
                     PQgetisnull(result, 0, GUARD_TEXT) != 0
                         ? NULL
                         : PQgetvalue(result, 0, GUARD_TEXT));
    PQclear(result);
    return SEQB_OK;
}

/* --- locking and reading --- */

static void counter_ask(struct postgres *postgres,
                        const struct sql_counter *counter)
{
    const char *const name[] = {counter->name};
    const char *const kept[] = {counter->kept};

    postgres_link_add(&postgres->link, row_sql, 1, name);
    postgres_link_add(&postgres->link, kept_sql, 1, kept);
}

/* Negative if the value is not a number. */
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

/* Reads a row or none; `*is_there` says which. The caller frees the result. */
static enum seqb_status row_receive(struct postgres *postgres, PGresult **out,
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

static enum seqb_status counter_receive(struct postgres *postgres,
                                        struct sql_counter *counter,
                                        struct seqb_error *err)
{
    PGresult *row = NULL;
    PGresult *kept = NULL;
    bool is_there;
    enum seqb_status status = row_receive(postgres, &row, &is_there, err);

    if (status == SEQB_OK && is_there)
        sql_found(&postgres->sql, counter, value_read(row), origin_read(row));
    if (status == SEQB_OK)
        status = row_receive(postgres, &kept, &is_there, err);
    if (status == SEQB_OK && is_there)
        sql_kept_found(counter, value_read(kept), origin_read(kept),
                       postgres->sql.base.origin);
    PQclear(row);
    PQclear(kept);
    return status;
}

static enum seqb_status rows_lock(struct seqb_backend *backend,
                                  struct sql_counter *counters, size_t n,
                                  struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    struct postgres_link *link = &postgres->link;
    enum seqb_status status;

    link->state[0] = '\0'; /* only errors of this transaction count */
    postgres_transaction_begin(postgres);
    guards_ask(postgres);
    postgres_link_add(link, base_sql, 0, NULL);
    for (size_t i = 0; i < n; i++)
        counter_ask(postgres, &counters[i]);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = postgres_transaction_check(postgres, err);
    for (size_t i = 0; i < postgres->sql.guards.count && status == SEQB_OK; i++)
        status = guard_receive(postgres, i, err);
    if (status == SEQB_OK)
        status = postgres_done_read(postgres, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = counter_receive(postgres, &counters[i], err);
    return status;
}

/* --- writing --- */

/* A trigger may keep a row as it is, and the server reports no error. */
static enum seqb_status write_receive(struct postgres *postgres,
                                      struct seqb_error *err)
{
    PGresult *result = NULL;
    const enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_COMMAND_OK, &result, err);
    const bool is_written =
        status == SEQB_OK && strcmp(PQcmdTuples(result), "1") == 0;

    PQclear(result);
    if (status != SEQB_OK || is_written)
        return status;
    postgres_link_close(&postgres->link);
    return error_set(err, SEQB_PROTOCOL,
                     "%s: a row of seqb_counters was not written: has the "
                     "table a trigger that returns NULL?",
                     postgres->link.where);
}

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
        char room[SQL_CELL_ORIGIN_SIZE];
        const char *const arguments[] = {
            writes[i].name, value,
            sql_write_origin(&postgres->sql, &writes[i], room)};

        postgres_number_make(writes[i].value, value);
        postgres_link_add(link, put_sql, 3, arguments);
    }
    postgres_link_add_commit(link);
    status = postgres_link_send(link, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = write_receive(postgres, err);
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

/* Existing counters need fewer rights than new ones. */
static bool rows_blame(const struct seqb_backend *backend,
                       enum seqb_status status)
{
    const struct postgres_link *link =
        &((const struct postgres *)backend)->link;

    (void)status;
    if (link->state[0] == '\0')
        return false; /* the server refused nothing: it is another store */
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
    .renew = postgres_renew,
    .lock = rows_lock,
    .commit = rows_commit,
    .abandon = rows_abandon,
    .blames_row = rows_blame,
};
