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

void sql_batch_begin(struct sql_batch *batch, struct seqb_request *requests,
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

void sql_batch_keep(struct sql_batch *batch)
{
    size_t left = 0;

    for (size_t i = 0; i < batch->count; i++) {
        if (batch->requests[i]->status == SEQB_AGAIN)
            batch->requests[left++] = batch->requests[i];
    }
    batch->count = left;
}

enum seqb_status sql_batch_fail(struct sql_batch *batch,
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
static size_t writes_fill(struct sql_batch *batch,
                          const struct sql_store *store, size_t from, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        struct seqb_request *request = batch->requests[from + i];
        const struct sql_grant grant = sql_counter_take(
            &batch->counters[0], &batch->counters[i + 1], request);

        if (grant.status != SEQB_OK) {
            request->status =
                error_set(&request->error, grant.status, "%s: counter %s: %s",
                          store->where, request->counter, grant.why);
            continue;
        }
        request->block = grant.block;
        batch->writes[count++] = (struct sql_write){
            request->counter, grant.block.first + grant.block.count - 1};
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

static enum seqb_status part_serve(struct sql_batch *batch,
                                   const struct sql_store *store, size_t from,
                                   size_t n, struct seqb_error *err)
{
    size_t count;
    enum seqb_status status;

    counters_name(batch, from, n);
    status = store->dialect->lock(store->backend, batch->counters, n + 1, err);
    if (status != SEQB_OK)
        return status;
    count = writes_fill(batch, store, from, n);
    if (count == 0)
        return store->dialect->abandon(store->backend, err);
    status = store->dialect->commit(store->backend, batch->writes, count, err);
    if (status == SEQB_OK)
        requests_grant(batch, from, n);
    return status;
}

/* --- all of them --- */

/* Ends what failed; whether others may go well. */
static bool store_goes_on(const struct sql_store *store,
                          enum seqb_status status)
{
    const struct sql_dialect *dialect = store->dialect;
    const bool is_of_row = status != SEQB_UNCERTAIN &&
                           dialect->blames_row != NULL &&
                           dialect->blames_row(store->backend, status);

    return dialect->abandon(store->backend, NULL) == SEQB_OK && is_of_row;
}

/* A statement that fails undoes its whole transaction: then each has one to
 * itself. */
static enum seqb_status batch_serve_each(struct sql_batch *batch,
                                         const struct sql_store *store,
                                         struct seqb_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct seqb_request *request = batch->requests[i];
        struct seqb_error why;
        const enum seqb_status status = part_serve(batch, store, i, 1, &why);

        if (status == SEQB_OK)
            continue;
        if (!store_goes_on(store, status))
            return error_copy(err, &why);
        request->status = error_set(&request->error, status, "counter %s: %s",
                                    request->counter, why.text);
    }
    return SEQB_OK;
}

enum seqb_status sql_batch_serve(struct sql_batch *batch,
                                 const struct sql_store *store,
                                 struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (batch->count > 0)
        status = part_serve(batch, store, 0, batch->count, err);
    if (status != SEQB_OK && store_goes_on(store, status)) {
        sql_batch_keep(batch);
        status = batch_serve_each(batch, store, err);
    }
    sql_batch_keep(batch);
    return status;
}

/* --- raises --- */

enum seqb_status sql_lift_refused(const struct sql_lift *lift,
                                  const char *where, const char *counter,
                                  struct seqb_error *err)
{
    return error_set(err, lift->status, "%s: counter %s: %s", where, counter,
                     lift->why);
}

static enum seqb_status raise_locked(const struct sql_store *store,
                                     const struct seqb_raise *raise,
                                     int64_t *value, struct seqb_error *err)
{
    struct sql_counter counters[] = {{.name = SQL_BASE},
                                     {.name = raise->counter}};
    struct sql_lift lift;
    const enum seqb_status status =
        store->dialect->lock(store->backend, counters, 2, err);

    if (status != SEQB_OK)
        return status;
    lift = sql_counter_raise(&counters[0], &counters[1], raise);
    if (lift.status != SEQB_OK)
        return sql_lift_refused(&lift, store->where, raise->counter, err);
    *value = lift.value;
    return store->dialect->commit(store->backend, lift.writes, lift.count, err);
}

enum seqb_status sql_raise(const struct sql_store *store,
                           const struct seqb_raise *raise, int64_t *out,
                           struct seqb_error *err)
{
    int64_t value;
    const enum seqb_status status = raise_locked(store, raise, &value, err);

    if (status == SEQB_OK)
        *out = value;
    else
        (void)store->dialect->abandon(store->backend, NULL);
    return status;
}

enum seqb_status sql_install(struct seqb_backend *backend,
                             const struct seqb_window *window,
                             int64_t *standing, struct seqb_error *err)
{
    (void)standing;
    return error_set(err, SEQB_INVALID, "%s: %s: has no windows",
                     backend->ops->engine, window->counter);
}
