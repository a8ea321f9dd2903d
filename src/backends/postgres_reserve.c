/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserving from PostgreSQL: one transaction and one round trip serves all
 * requests whose counters are well, a second the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/period_marks.h"
#include "backends/postgres_transaction.h"
#include "platform/error.h"

#define REQUESTS_MAX 1024

#define INSUFFICIENT_PRIVILEGE "42501"

/* The requests that a transaction serves, in the order of their names: so
 * that brokers who lock many rows never wait for each other in a ring. */
struct batch {
    struct seqb_request *requests[REQUESTS_MAX];
    size_t count;
};

/* What a transaction asks for each request, and what it makes of the answers
 * (provisional until the commit is acknowledged). */
struct trip {
    void (*ask)(struct postgres *postgres, const struct seqb_request *request);
    enum seqb_status (*hear)(struct postgres *postgres,
                             struct seqb_request *request,
                             struct seqb_error *err);
};

/* --- the first trip: whole grants from counters that are well --- */

static const char take_sql[] =
    "UPDATE seqb_counters SET value = value + $2::bigint"
    " WHERE name = $1 AND origin = $4"
    " AND value BETWEEN 0 AND $3::bigint - $2::bigint"
    " AND current_setting('seqbroker.origin') = $4"
    " RETURNING value - $2::bigint, value";

static void request_add(struct postgres *postgres, const char *sql,
                        const struct seqb_request *request)
{
    char want[POSTGRES_NUMBER_SIZE];
    char limit[POSTGRES_NUMBER_SIZE];
    const char *const arguments[] = {request->counter, want, limit,
                                     postgres->base.origin};

    postgres_number_make(request->want, want);
    postgres_number_make(request->limit, limit);
    postgres_link_add(&postgres->link, sql, 4, arguments);
}

static void take_ask(struct postgres *postgres,
                     const struct seqb_request *request)
{
    request_add(postgres, take_sql, request);
}

/* Before and after of a row that was taken from. SEQB_AGAIN if there was
 * none. */
static enum seqb_status take_judge(const PGresult *result,
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
    request->block = (struct seqb_block){before + 1, after - before};
    return SEQB_OK;
}

static enum seqb_status take_hear(struct postgres *postgres,
                                  struct seqb_request *request,
                                  struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &result, err);

    if (status != SEQB_OK)
        return status;
    request->status = take_judge(result, request);
    PQclear(result);
    if (request->status == SEQB_PROTOCOL)
        return postgres_link_distrust(&postgres->link, "a reservation", err);
    return SEQB_OK;
}

static const struct trip take_trip = {take_ask, take_hear};

/* --- the second trip: new counters, ends of counters, and why not --- */

/* The mark as it is once no purge can raise it until this commits: the row may
 * be gone by then that this statement still sees, but not yet unnoted. What a
 * store said of the base and beside it was said in one transaction. */
static const char found_sql[] =
    "WITH mark AS (SELECT value FROM seqb_counters"
    " WHERE name = $5 FOR SHARE)"
    " INSERT INTO seqb_counters (name, value, origin)"
    " SELECT $1, begin.value, $3 FROM (SELECT CASE WHEN $4::bigint >"
    " coalesce((SELECT value FROM seqb_counters"
    " WHERE name = '" PERIOD_MARK_BASE "'), 0)"
    " THEN 0 ELSE value END AS value FROM seqb_counters WHERE name = ''"
    " AND origin = $3 AND value >= 0) AS begin"
    " WHERE begin.value < $2::bigint"
    " AND NOT EXISTS (SELECT FROM mark WHERE value > $4::bigint)"
    " AND current_setting('seqbroker.origin') = $3"
    " ON CONFLICT (name) DO NOTHING";

/* What is left, less than wanted perhaps: how much it is must be known, so
 * that the row is held first. */
static const char take_rest_sql[] =
    "WITH held AS (SELECT value FROM seqb_counters"
    " WHERE name = $1 AND origin = $4 AND value >= 0 AND value < $3::bigint"
    " AND current_setting('seqbroker.origin') = $4 FOR UPDATE)"
    " UPDATE seqb_counters AS c"
    " SET value = held.value + least($2::bigint, $3::bigint - held.value)"
    " FROM held WHERE c.name = $1 RETURNING held.value, c.value";

static const char look_sql[] =
    "SELECT c.value, c.origin = $2, b.value, b.origin = $2,"
    " m.value > $4::bigint FROM (SELECT 1) AS one"
    " LEFT JOIN seqb_counters AS c ON c.name = $1"
    " LEFT JOIN seqb_counters AS b ON b.name = ''"
    " LEFT JOIN seqb_counters AS m ON m.name = $3";

enum look_column {
    LOOK_VALUE,
    LOOK_BOUND,
    LOOK_BASE_VALUE,
    LOOK_BASE_BOUND,
    LOOK_OVER, /* "t": what is not there may have been purged */
    LOOK_COLUMNS
};

static void rest_ask(struct postgres *postgres,
                     const struct seqb_request *request)
{
    char limit[POSTGRES_NUMBER_SIZE];
    char begins[POSTGRES_NUMBER_SIZE];
    char name[SEQB_COUNTER_SIZE];
    const char *const mark = period_is_stamped(request->counter) ? name : NULL;
    const char *const origin = postgres->base.origin;
    const char *const found[] = {request->counter, limit, origin, begins, mark};
    const char *const look[] = {request->counter, origin, mark, begins};

    (void)period_mark_name(request->counter, name);
    postgres_number_make(request->limit, limit);
    postgres_number_make(request->begins_ms, begins);
    postgres_link_add(&postgres->link, found_sql, 5, found);
    request_add(postgres, take_rest_sql, request);
    postgres_link_add(&postgres->link, look_sql, 4, look);
}

/* Whether the counter is not there since it was purged, perhaps. */
static bool look_is_over(const PGresult *result)
{
    return PQntuples(result) == 1 && PQnfields(result) == LOOK_COLUMNS &&
           PQgetisnull(result, 0, LOOK_VALUE) != 0 &&
           strcmp(PQgetvalue(result, 0, LOOK_OVER), "t") == 0;
}

/* Why nothing could be taken, from the row or else the base. */
static enum seqb_status look_judge(const PGresult *result, int64_t limit)
{
    int column = LOOK_VALUE;
    int64_t value;

    if (PQntuples(result) != 1 || PQnfields(result) != LOOK_COLUMNS)
        return SEQB_PROTOCOL;
    if (PQgetisnull(result, 0, column) != 0)
        column = LOOK_BASE_VALUE;
    if (PQgetisnull(result, 0, column) != 0)
        return SEQB_FENCED;
    if (!postgres_number_read(result, column, &value))
        return SEQB_PROTOCOL;
    if (value < 0)
        return SEQB_CORRUPT;
    if (strcmp(PQgetvalue(result, 0, column + 1), "t") != 0)
        return SEQB_FENCED;
    /* If it has values left, another broker has mended it just now. */
    return value >= limit ? SEQB_EXHAUSTED : SEQB_FENCED;
}

static enum seqb_status look_hear(struct postgres *postgres,
                                  struct seqb_request *request,
                                  struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &result, err);

    if (status != SEQB_OK)
        return status;
    if (request->status != SEQB_OK && look_is_over(result)) {
        request->status = error_set(
            &request->error, SEQB_EXHAUSTED,
            "%s: counter %s: its period is over and was purged: is this "
            "machine's clock behind?",
            postgres->link.where, request->counter);
    } else if (request->status != SEQB_OK) {
        request->status = look_judge(result, request->limit);
        (void)error_set(&request->error, request->status, "%s: counter %s: %s",
                        postgres->link.where, request->counter,
                        seqb_status_text(request->status));
    }
    PQclear(result);
    return SEQB_OK;
}

static enum seqb_status rest_hear(struct postgres *postgres,
                                  struct seqb_request *request,
                                  struct seqb_error *err)
{
    enum seqb_status status = postgres_done_read(postgres, err);

    if (status == SEQB_OK)
        status = take_hear(postgres, request, err);
    if (status == SEQB_OK)
        status = look_hear(postgres, request, err);
    return status;
}

static const struct trip rest_trip = {rest_ask, rest_hear};

/* --- reserve --- */

/* One transaction for the batch; `*failed` is the request that it failed at,
 * batch->count if it was none of them. */
static enum seqb_status trip_once(struct postgres *postgres,
                                  const struct trip *trip,
                                  const struct batch *batch, size_t *failed,
                                  struct seqb_error *err)
{
    enum seqb_status status;

    *failed = batch->count;
    postgres_transaction_begin(postgres);
    for (size_t i = 0; i < batch->count; i++)
        trip->ask(postgres, batch->requests[i]);
    postgres_link_add_commit(&postgres->link);
    status = postgres_link_send(&postgres->link, err);
    if (status == SEQB_OK)
        status = postgres_transaction_check(postgres, err);
    for (size_t i = 0; i < batch->count && status == SEQB_OK; i++) {
        status = trip->hear(postgres, batch->requests[i], err);
        if (status != SEQB_OK)
            *failed = i;
    }
    return status == SEQB_OK ? postgres_transaction_end(postgres, err) : status;
}

static void batch_drop(struct batch *batch, size_t i)
{
    batch->count--;
    for (; i < batch->count; i++)
        batch->requests[i] = batch->requests[i + 1];
}

/* Whether a right is missing that counters which are known do not need. */
static bool trip_is_denied(const struct postgres *postgres,
                           const struct trip *trip)
{
    return trip == &rest_trip &&
           strcmp(postgres->link.state, INSUFFICIENT_PRIVILEGE) == 0;
}

/* A statement that fails undoes its whole transaction: then the others have
 * one without it. */
static enum seqb_status trip_run(struct postgres *postgres,
                                 const struct trip *trip, struct batch *batch,
                                 struct seqb_error *err)
{
    while (batch->count > 0) {
        struct seqb_error why;
        struct seqb_request *request;
        size_t failed;
        const enum seqb_status status =
            trip_once(postgres, trip, batch, &failed, &why);

        if (status == SEQB_OK)
            return SEQB_OK;
        if (failed == batch->count ||
            (!postgres_link_blames_row(&postgres->link) &&
             !trip_is_denied(postgres, trip)))
            return error_copy(err, &why);
        if (!postgres_link_abandon(&postgres->link))
            return error_set(err, SEQB_UNREACHABLE, "%s", why.text);
        request = batch->requests[failed];
        request->status =
            error_set(&request->error, why.status, "counter %s: %s",
                      request->counter, why.text);
        batch_drop(batch, failed);
    }
    return SEQB_OK;
}

static int request_compare(const void *a, const void *b)
{
    const struct seqb_request *const *left = a;
    const struct seqb_request *const *right = b;

    return strcmp((*left)->counter, (*right)->counter);
}

static void batch_fill(struct batch *batch, struct seqb_request *requests,
                       size_t n)
{
    batch->count = n;
    for (size_t i = 0; i < n; i++) {
        batch->requests[i] = &requests[i];
        requests[i].window = SEQB_NO_WINDOW;
    }
    qsort(batch->requests, n, sizeof(struct seqb_request *), request_compare);
}

/* Leaves those that the first trip could not serve. */
static void batch_keep_rest(struct batch *batch)
{
    size_t left = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->requests[i]->status == SEQB_AGAIN)
            batch->requests[left++] = batch->requests[i];
    }
    batch->count = left;
}

enum seqb_status postgres_reserve(struct seqb_backend *backend,
                                  struct seqb_request *requests, size_t n,
                                  struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    struct seqb_error why;
    struct batch batch;
    enum seqb_status status;

    batch_fill(&batch, requests, n);
    status = postgres_link_begin(&postgres->link, postgres->timeout_ms, &why);
    if (status == SEQB_OK)
        status = trip_run(postgres, &take_trip, &batch, &why);
    if (status == SEQB_OK) {
        batch_keep_rest(&batch);
        status = trip_run(postgres, &rest_trip, &batch, &why);
    }
    if (status == SEQB_OK)
        return SEQB_OK;
    for (size_t i = 0; i < batch.count; i++)
        batch.requests[i]->status = error_copy(&batch.requests[i]->error, &why);
    return error_copy(err, &why);
}
