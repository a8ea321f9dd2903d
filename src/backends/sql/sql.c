/* SPDX-License-Identifier: Apache-2.0 */
/* The general path of a reserve for what a single statement cannot do. The
 * calls for one counter are in single.c. */
#include "backends/sql/sql.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "backends/name.h"
#include "platform/error.h"
#include "platform/text.h"

/* --- the requests of a call --- */

static int request_compare(const void *a, const void *b)
{
    const struct seqb_request *const *left = a;
    const struct seqb_request *const *right = b;

    return strcmp((*left)->counter, (*right)->counter);
}

static void batch_sort(struct sql_batch *batch)
{
    qsort(batch->requests, batch->count, sizeof(struct seqb_request *),
          request_compare);
}

static void guarded_add(struct sql_backend *sql, struct seqb_request *request)
{
    struct sql_batch *batch = &sql->batch;

    request->guard->has_failed = false;
    if (sql->base.incarnation[0] == '\0')
        request->status = sql_guard_refuse(sql->where, request->counter,
                                           sql->unknown, &request->error);
    else
        batch->requests[batch->size - ++batch->guarded] = request;
}

enum seqb_status sql_name_check(const struct sql_backend *sql,
                                const char *counter, struct seqb_error *err)
{
    return strlen(counter) < SEQB_COUNTER_SIZE
               ? SEQB_OK
               : name_refuse(sql->where, counter, err);
}

static void batch_begin(struct sql_backend *sql, size_t n)
{
    struct sql_batch *batch = &sql->batch;

    assert(n >= 1 && n <= SQL_REQUESTS_MAX);
    batch->count = 0;
    batch->size = n;
    batch->guarded = 0;
}

static void batch_add(struct sql_backend *sql, struct seqb_request *request)
{
    struct sql_batch *batch = &sql->batch;

    if (!sql_name_is_cell(request->counter))
        request->window = SEQB_NO_WINDOW;
    request->status = sql_name_check(sql, request->counter, &request->error);
    if (request->status != SEQB_OK)
        return;
    request->status = SEQB_AGAIN;
    if (request->guard != NULL)
        guarded_add(sql, request);
    else
        batch->requests[batch->count++] = request;
}

/* Moves the requests with a guard to the others. */
static void batch_join(struct sql_batch *batch)
{
    if (batch->guarded == 0)
        return;
    memmove(&batch->requests[batch->count],
            &batch->requests[batch->size - batch->guarded],
            batch->guarded * sizeof(struct seqb_request *));
    batch->count += batch->guarded;
    batch_sort(batch);
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
    return error_copy(err, why);
}

/* --- one transaction, for `n` requests from `from` on --- */

/* Sets the counters and guards of `n` requests. */
static void counters_name(struct sql_backend *sql, size_t from, size_t n)
{
    struct sql_batch *batch = &sql->batch;

    sql->guards.count = 0;
    sql_counter_init(&batch->counters[0], SQL_BASE);
    for (size_t i = 0; i < n; i++) {
        sql_counter_init(&batch->counters[i + 1],
                         batch->requests[from + i]->counter);
        sql_guards_add(&sql->guards, batch->requests[from + i]->guard);
    }
}

/* Applies the counter's rule to the request. */
static struct sql_grant counter_take(const struct sql_batch *batch, size_t i,
                                     struct seqb_request *request)
{
    const struct sql_counter *counter = &batch->counters[i];
    struct sql_cell_answer answer;

    if (!sql_name_is_cell(counter->name))
        return sql_counter_take(&batch->counters[0], counter, request);
    answer = sql_cell_take(&counter->cell, request);
    request->window = answer.window;
    return (struct sql_grant){.status = answer.status,
                              .why = answer.why,
                              .block = answer.block,
                              .value = answer.cell.used};
}

/* Answers the requests that get nothing, and lists the rows to write for the
 * others. */
static size_t writes_fill(struct sql_backend *sql, size_t from, size_t n)
{
    struct sql_batch *batch = &sql->batch;
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        struct seqb_request *request = batch->requests[from + i];
        struct sql_grant grant;

        request->status =
            sql_guards_check(&sql->guards, request->guard, sql->where,
                             request->counter, &request->error);
        if (request->status != SEQB_OK)
            continue;
        request->status = SEQB_AGAIN; /* until the commit */
        grant = counter_take(batch, i + 1, request);
        if (grant.status != SEQB_OK) {
            request->status =
                error_set(&request->error, grant.status, "%s: counter %s: %s",
                          sql->where, request->counter, grant.why);
            continue;
        }
        request->block = grant.block;
        batch->writes[count++] =
            (struct sql_write){.name = request->counter,
                               .value = grant.value,
                               .window = batch->counters[i + 1].cell.window,
                               .size = batch->counters[i + 1].cell.size};
        if (grant.note > 0)
            batch->writes[count++] = (struct sql_write){
                .name = batch->counters[i + 1].kept, .value = grant.note};
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

enum seqb_status sql_base_check(const struct sql_counter *base,
                                const char *where, struct seqb_error *err)
{
    if (!base->row.is_rebound)
        return SEQB_OK;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: the store was bound again by another broker since it "
                     "was opened, open it again",
                     where);
}

enum seqb_status sql_locked_check(const struct sql_backend *sql,
                                  const struct sql_counter *base,
                                  struct seqb_error *err)
{
    const enum seqb_status status = sql_base_check(base, sql->where, err);

    if (status != SEQB_OK || sql->guards.count == 0)
        return status;
    return sql_incarnation_check(&sql->base, sql->guards.incarnation,
                                 sql->where, err);
}

static enum seqb_status part_serve(struct sql_backend *sql, size_t from,
                                   size_t n, struct seqb_error *err)
{
    struct sql_batch *batch = &sql->batch;
    size_t count;
    enum seqb_status status;

    counters_name(sql, from, n);
    status = sql->dialect->lock(&sql->base, batch->counters, n + 1, err);
    if (status == SEQB_OK)
        status = sql_locked_check(sql, &batch->counters[0], err);
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

/* --- all requests --- */

/* Rolls back after a failure. True if other requests may succeed. */
static bool goes_on(struct sql_backend *sql, enum seqb_status status)
{
    const struct sql_dialect *dialect = sql->dialect;
    const bool is_of_row = status != SEQB_UNCERTAIN &&
                           dialect->blames_row != NULL &&
                           dialect->blames_row(&sql->base, status);

    return dialect->abandon(&sql->base, NULL) == SEQB_OK && is_of_row;
}

bool sql_retries(struct sql_backend *sql)
{
    const struct sql_dialect *dialect = sql->dialect;

    return dialect->conflicts != NULL && dialect->conflicts(&sql->base) &&
           dialect->abandon(&sql->base, NULL) == SEQB_OK;
}

/* Another transaction was first: each request may be repeated. */
static void batch_yield(struct sql_batch *batch, const struct seqb_error *why)
{
    for (size_t i = 0; i < batch->count; i++)
        batch->requests[i]->status = error_set(
            &batch->requests[i]->error, SEQB_AGAIN,
            "counter %s: nothing was granted, since another node was faster: "
            "%s",
            batch->requests[i]->counter, why->text);
    batch->count = 0;
}

static enum seqb_status batch_take(struct sql_backend *sql,
                                   struct seqb_error *err)
{
    const enum seqb_status status = sql->dialect->take(&sql->base, err);

    if (status == SEQB_OK || !sql_retries(sql))
        return status;
    batch_yield(&sql->batch, err);
    return SEQB_OK;
}

/* A statement that fails undoes its whole transaction, so each request now gets
 * a transaction of its own. */
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
    if (status == SEQB_OK)
        return SEQB_OK;
    if (sql_retries(sql)) {
        batch_keep(batch);
        batch_yield(batch, err);
        return SEQB_OK;
    }
    if (goes_on(sql, status)) {
        batch_keep(batch);
        status = batch_serve_each(sql, err);
    }
    batch_keep(batch);
    return status;
}

enum seqb_status sql_call_begin(struct sql_backend *sql, struct seqb_error *err)
{
    return sql->dialect->begin != NULL ? sql->dialect->begin(&sql->base, err)
                                       : SEQB_OK;
}

enum seqb_status sql_serve(struct seqb_backend *backend,
                           struct seqb_request *const *requests, size_t n,
                           struct seqb_error *err)
{
    struct sql_backend *sql = (struct sql_backend *)backend;
    struct seqb_error why;
    enum seqb_status status = sql_call_begin(sql, &why);

    batch_begin(sql, n);
    for (size_t i = 0; i < n; i++)
        batch_add(sql, requests[i]);
    batch_sort(&sql->batch);
    if (status == SEQB_OK && sql->dialect->take != NULL && sql->batch.count > 0)
        status = batch_take(sql, &why);
    batch_join(&sql->batch);
    if (status == SEQB_OK)
        status = batch_serve(sql, &why);
    return status == SEQB_OK ? SEQB_OK : batch_fail(&sql->batch, &why, err);
}

enum seqb_status sql_reserve(struct seqb_backend *backend,
                             struct seqb_request *requests, size_t n,
                             struct seqb_error *err)
{
    struct seqb_request *all[SQL_REQUESTS_MAX];

    assert(n <= SQL_REQUESTS_MAX);
    for (size_t i = 0; i < n; i++)
        all[i] = &requests[i];
    return sql_serve(backend, all, n, err);
}

/* --- cells --- */

void sql_found(const struct sql_backend *sql, struct sql_counter *counter,
               int64_t value, const char *origin)
{
    if (sql_name_is_cell(counter->name))
        counter->cell = sql_cell_found(value, origin, sql->now);
    else
        sql_row_found(counter, value, origin, sql->base.origin);
}

bool sql_have_cells(const struct sql_counter *counters, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (sql_name_is_cell(counters[i].name))
            return true;
    }
    return false;
}

const char *sql_write_origin(const struct sql_backend *sql,
                             const struct sql_write *write,
                             char room[SQL_CELL_ORIGIN_SIZE])
{
    if (!sql_name_is_cell(write->name))
        return sql->base.origin;
    sql_cell_prefix(write->window, write->size, room);
    if (write->window > 0)
        (void)text_append(room, SQL_CELL_ORIGIN_SIZE, "%s", sql->now);
    return room;
}

int sql_claim_order(const void *a, const void *b)
{
    const struct seqb_claim *const *first = a;
    const struct seqb_claim *const *second = b;

    return strcmp((*first)->name, (*second)->name);
}
