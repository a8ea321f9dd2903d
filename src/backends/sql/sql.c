/* SPDX-License-Identifier: Apache-2.0 */
/* What serves a SQL store's counters where one statement does not. */
#include "backends/sql/sql.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "platform/error.h"

/* --- the requests of a call --- */

static int request_compare(const void *a, const void *b)
{
    const struct seqb_request *const *left = a;
    const struct seqb_request *const *right = b;

    return strcmp((*left)->counter, (*right)->counter);
}

static void batch_begin(struct sql_batch *batch, struct seqb_request *requests,
                        size_t n)
{
    assert(n >= 1 && n <= SQL_REQUESTS_MAX);
    batch->count = n;
    for (size_t i = 0; i < n; i++) {
        requests[i].status = SEQB_AGAIN;
        requests[i].window = SEQB_NO_WINDOW;
        batch->requests[i] = &requests[i];
    }
    qsort(batch->requests, n, sizeof(struct seqb_request *), request_compare);
}

static void batch_keep(struct sql_batch *batch)
{
    size_t left = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->requests[i]->status == SEQB_AGAIN)
            batch->requests[left++] = batch->requests[i];
    }
    batch->count = left;
}

static enum seqb_status batch_fail(struct sql_batch *batch,
                                   const struct seqb_error *why,
                                   struct seqb_error *err)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->requests[i]->status =
            error_copy(&batch->requests[i]->error, why);
    batch->count = 0;
    return error_copy(err, why);
}

/* --- a transaction for `n` of them, `from` the first --- */

static void counters_name(struct sql_batch *batch, size_t from, size_t n)
{
    batch->counters[0] = (struct sql_counter){.name = SQL_BASE};
    for (size_t i = 0; i < n; i++)
        batch->counters[i + 1] =
            (struct sql_counter){.name = batch->requests[from + i]->counter};
}

/* Answers those that get nothing, and lists the rows of the others. */
static size_t writes_fill(struct sql_backend *sql, size_t from, size_t n)
{
    struct sql_batch *batch = &sql->batch;
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        struct seqb_request *request = batch->requests[from + i];
        const struct sql_grant grant = sql_counter_take(
            &batch->counters[0], &batch->counters[i + 1], request);

        if (grant.status != SEQB_OK) {
            request->status =
                error_set(&request->error, grant.status, "%s: counter %s: %s",
                          sql->where, request->counter, grant.why);
            continue;
        }
        request->block = grant.block;
        batch->writes[count++] =
            (struct sql_write){request->counter, grant.value};
    }
    return count;
}

static void requests_grant(struct sql_batch *batch, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++) {
        if (batch->requests[i]->status == SEQB_AGAIN)
            batch->requests[i]->status = SEQB_OK;
    }
}

static enum seqb_status part_serve(struct sql_backend *sql, size_t from,
                                   size_t n, struct seqb_error *err)
{
    struct sql_batch *batch = &sql->batch;
    size_t count;
    enum seqb_status status;

    counters_name(batch, from, n);
    status = sql->dialect->lock(&sql->base, batch->counters, n + 1, err);
    if (status != SEQB_OK)
        return status;
    count = writes_fill(sql, from, n);
    if (count == 0)
        return sql->dialect->abandon(&sql->base, err);
    status = sql->dialect->commit(&sql->base, batch->writes, count, err);
    if (status == SEQB_OK)
        requests_grant(batch, from, n);
    return status;
}

/* --- all of them --- */

/* Ends what failed; whether others may go well. */
static bool goes_on(struct sql_backend *sql, enum seqb_status status)
{
    const struct sql_dialect *dialect = sql->dialect;
    const bool is_of_row = status != SEQB_UNCERTAIN &&
                           dialect->blames_row != NULL &&
                           dialect->blames_row(&sql->base, status);

    return dialect->abandon(&sql->base, NULL) == SEQB_OK && is_of_row;
}

/* A statement that fails undoes its whole transaction: then each has one to
 * itself. */
static enum seqb_status batch_serve_each(struct sql_backend *sql,
                                         struct seqb_error *err)
{
    struct sql_batch *batch = &sql->batch;

    for (size_t i = 0; i < batch->count; i++) {
        struct seqb_request *request = batch->requests[i];
        struct seqb_error why;
        const enum seqb_status status = part_serve(sql, i, 1, &why);

        if (status == SEQB_OK)
            continue;
        if (!goes_on(sql, status))
            return error_copy(err, &why);
        request->status = error_set(&request->error, status, "counter %s: %s",
                                    request->counter, why.text);
    }
    return SEQB_OK;
}

static enum seqb_status batch_serve(struct sql_backend *sql,
                                    struct seqb_error *err)
{
    struct sql_batch *batch = &sql->batch;
    enum seqb_status status;

    batch_keep(batch);
    if (batch->count == 0)
        return SEQB_OK;
    status = part_serve(sql, 0, batch->count, err);
    if (status != SEQB_OK && goes_on(sql, status)) {
        batch_keep(batch);
        status = batch_serve_each(sql, err);
    }
    batch_keep(batch);
    return status;
}

static enum seqb_status call_begin(struct sql_backend *sql,
                                   struct seqb_error *err)
{
    return sql->dialect->begin != NULL ? sql->dialect->begin(&sql->base, err)
                                       : SEQB_OK;
}

enum seqb_status sql_reserve(struct seqb_backend *backend,
                             struct seqb_request *requests, size_t n,
                             struct seqb_error *err)
{
    struct sql_backend *sql = (struct sql_backend *)backend;
    struct seqb_error why;
    enum seqb_status status = call_begin(sql, &why);

    batch_begin(&sql->batch, requests, n);
    if (status == SEQB_OK && sql->dialect->take != NULL)
        status = sql->dialect->take(backend, &why);
    if (status == SEQB_OK)
        status = batch_serve(sql, &why);
    return status == SEQB_OK ? SEQB_OK : batch_fail(&sql->batch, &why, err);
}

/* --- raises --- */

enum seqb_status sql_lift_refused(const struct sql_lift *lift,
                                  const char *where, const char *counter,
                                  struct seqb_error *err)
{
    return error_set(err, lift->status, "%s: counter %s: %s", where, counter,
                     lift->why);
}

static enum seqb_status raise_locked(struct sql_backend *sql,
                                     const struct seqb_raise *raise,
                                     int64_t *value, struct seqb_error *err)
{
    struct sql_counter counters[] = {{.name = SQL_BASE},
                                     {.name = raise->counter}};
    struct sql_lift lift;
    const enum seqb_status status =
        sql->dialect->lock(&sql->base, counters, 2, err);

    if (status != SEQB_OK)
        return status;
    lift = sql_counter_raise(&counters[0], &counters[1], raise);
    if (lift.status != SEQB_OK)
        return sql_lift_refused(&lift, sql->where, raise->counter, err);
    *value = lift.value;
    return sql->dialect->commit(&sql->base, lift.writes, lift.count, err);
}

enum seqb_status sql_raise(struct seqb_backend *backend,
                           const struct seqb_raise *raise, int64_t *out,
                           struct seqb_error *err)
{
    struct sql_backend *sql = (struct sql_backend *)backend;
    enum seqb_status status = call_begin(sql, err);
    int64_t value = 0;

    if (status != SEQB_OK)
        return status;
    status = raise_locked(sql, raise, &value, err);
    if (status == SEQB_OK)
        *out = value;
    else
        (void)sql->dialect->abandon(backend, NULL);
    return status;
}

enum seqb_status sql_install(struct seqb_backend *backend,
                             const struct seqb_window *window,
                             int64_t *standing, struct seqb_error *err)
{
    (void)standing;
    return error_set(err, SEQB_INVALID, "%s: %s: has no windows",
                     ((struct sql_backend *)backend)->where, window->counter);
}
