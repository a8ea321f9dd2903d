/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserving from PostgreSQL: one transaction and one round trip serves all
 * requests whose counters are bound and sound; sql/ serves the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/postgres/session.h"
#include "backends/postgres/transaction.h"
#include "backends/sql/sql.h"
#include "platform/error.h"

#define TAKE_SQL                                                               \
    "UPDATE seqb_counters SET value = value + $2::bigint"                      \
    " WHERE name = $1 AND origin = $4"                                         \
    " AND value BETWEEN 0 AND $3::bigint - $2::bigint"                         \
    " AND current_setting('seqbroker.origin') = $5"
#define ANSWER_SQL " RETURNING value - $2::bigint, value"

static const char take_sql[] = TAKE_SQL ANSWER_SQL;

/* The same, if no new note is needed (sql/row.h); written so that no term
 * exceeds the largest number. */
static const char take_noted_sql[] =
    TAKE_SQL " AND (value % $6::bigint + $6::bigint - 1) % $6::bigint"
             " < $6::bigint - $2::bigint" ANSWER_SQL;

/* For a cell, $4 is the text before the origin. Behind a pooler the server may
 * have been restarted since the connection was made, so the statement itself
 * asks for the server's incarnation. */
static const char take_cell_sql[] =
    "UPDATE seqb_counters SET value = value + $2::bigint"
    " WHERE name = $1"
    " AND value BETWEEN 0 AND $3::bigint - $2::bigint"
    " AND origin = $4 || current_setting('seqbroker.origin') || '/' ||"
    " " POSTGRES_INCARNATION " RETURNING value - $2::bigint, value";

static void cell_ask(struct postgres *postgres,
                     const struct seqb_request *request)
{
    char want[POSTGRES_NUMBER_SIZE];
    char size[POSTGRES_NUMBER_SIZE];
    char prefix[SQL_CELL_PREFIX_SIZE];
    const char *const arguments[] = {request->counter, want, size, prefix};

    sql_cell_prefix(request->window, request->limit, prefix);
    postgres_number_make(request->want, want);
    postgres_number_make(request->limit, size);
    postgres_link_add(&postgres->link, take_cell_sql, 4, arguments);
}

static void row_ask(struct postgres *postgres,
                    const struct seqb_request *request)
{
    char want[POSTGRES_NUMBER_SIZE];
    char limit[POSTGRES_NUMBER_SIZE];
    char noted[POSTGRES_NUMBER_SIZE];
    const bool is_noted = !sql_mark_counts(request->counter);
    const char *const arguments[] = {
        request->counter,     want, limit, postgres->sql.base.origin,
        postgres->link.store, noted};

    postgres_number_make(request->want, want);
    postgres_number_make(request->limit, limit);
    postgres_number_make(SQL_NOTE_VALUES, noted);
    postgres_link_add(&postgres->link, is_noted ? take_noted_sql : take_sql,
                      is_noted ? 6 : 5, arguments);
}

static void take_ask(struct postgres *postgres,
                     const struct seqb_request *request)
{
    if (sql_name_is_cell(request->counter))
        cell_ask(postgres, request);
    else
        row_ask(postgres, request);
}

/* Checks the values of a row before and after the grant. SEQB_AGAIN if there
 * was no row. A counter's value is the last one granted, a cell's value is the
 * first offset not granted. */
static enum seqb_status take_check(const PGresult *result,
                                   struct seqb_request *request)
{
    int64_t before;
    int64_t after;

    if (PQntuples(result) == 0)
        return SEQB_AGAIN;
    if (PQntuples(result) != 1 || PQnfields(result) != 2 ||
        !postgres_number_read(result, 0, &before) ||
        !postgres_number_read(result, 1, &after) || before < 0 ||
        after <= before || after > request->limit ||
        after - before > request->want)
        return SEQB_PROTOCOL;
    request->block.first =
        sql_name_is_cell(request->counter) ? before : before + 1;
    request->block.count = after - before;
    return SEQB_OK;
}

static enum seqb_status take_receive(struct postgres *postgres,
                                     struct seqb_request *request,
                                     struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &result, err);

    if (status != SEQB_OK)
        return status;
    request->status = take_check(result, request);
    PQclear(result);
    if (request->status == SEQB_PROTOCOL)
        return postgres_link_distrust(&postgres->link, "a reservation", err);
    return SEQB_OK;
}

/* --- reserve --- */

/* One transaction for the batch; `*failed` is the index of the request that
 * failed, batch->count if none did. The answers are valid once it is
 * committed. */
static enum seqb_status trip_once(struct postgres *postgres, size_t *failed,
                                  struct seqb_error *err)
{
    const struct sql_batch *batch = &postgres->sql.batch;
    enum seqb_status status;

    *failed = batch->count;
    postgres_transaction_begin(postgres);
    for (size_t i = 0; i < batch->count; i++)
        take_ask(postgres, batch->requests[i]);
    postgres_link_add_commit(&postgres->link);
    status = postgres_link_send(&postgres->link, err);
    if (status == SEQB_OK)
        status = postgres_transaction_check(postgres, err);
    for (size_t i = 0; i < batch->count && status == SEQB_OK; i++) {
        status = take_receive(postgres, batch->requests[i], err);
        if (status != SEQB_OK)
            *failed = i;
    }
    return status == SEQB_OK ? postgres_transaction_end(postgres, err) : status;
}

static void batch_drop(struct sql_batch *batch, size_t i)
{
    batch->count--;
    for (; i < batch->count; i++)
        batch->requests[i] = batch->requests[i + 1];
}

/* Whether a commit of this user waits for a standby at the moment. */
static bool commits_wait(struct postgres_link *link)
{
    PGresult *result = NULL;
    bool is_waiting = false;

    postgres_link_add(link,
                      "SELECT 1 FROM pg_stat_activity"
                      " WHERE wait_event = 'SyncRep' LIMIT 1",
                      0, NULL);
    if (postgres_link_send(link, NULL) == SEQB_OK &&
        postgres_link_read(link, PGRES_TUPLES_OK, &result, NULL) == SEQB_OK)
        is_waiting = PQntuples(result) > 0;
    PQclear(result);
    return is_waiting;
}

/* Whether the other requests of a batch may be tried after the row of one
 * failed. A primary without its synchronous standby keeps the row of a commit
 * locked, even when the client of that commit is gone: all later calls would
 * wait for the row, and the next open may find a later primary. */
static bool link_goes_on(struct postgres_link *link)
{
    if (!postgres_link_abandon(link))
        return false;
    return strcmp(link->state, POSTGRES_LOCK_TIMEOUT) != 0 ||
           (!commits_wait(link) && postgres_link_abandon(link));
}

/* A statement that fails undoes its whole transaction, so the other requests
 * are sent again without it. */
enum seqb_status postgres_take(struct seqb_backend *backend,
                               struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    struct sql_batch *batch = &postgres->sql.batch;

    while (batch->count > 0) {
        struct seqb_error why;
        struct seqb_request *request;
        size_t failed;
        const enum seqb_status status = trip_once(postgres, &failed, &why);

        if (status == SEQB_OK)
            return SEQB_OK;
        if (failed == batch->count ||
            !postgres_link_blames_row(&postgres->link))
            return error_copy(err, &why);
        if (!link_goes_on(&postgres->link))
            return error_set(err, SEQB_UNREACHABLE, "%s%s", why.text,
                             postgres->link.conn != NULL
                                 ? ", and commits wait for a standby"
                                 : "");
        request = batch->requests[failed];
        request->status =
            error_set(&request->error, why.status, "counter %s: %s",
                      request->counter, why.text);
        batch_drop(batch, failed);
    }
    return SEQB_OK;
}
