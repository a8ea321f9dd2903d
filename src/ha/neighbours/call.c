/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a sync, on the threads of the stores' workers. */
#include "ha/neighbours/call.h"

#include <stdlib.h>
#include <string.h>

#include "ha/worker_connection.h"
#include "ha/worker_pools.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "store/store.h"

static struct worker *worker_of(const struct call *call)
{
    return call->pool->workers[call->pool->lessors.lessor[call->lessor].member];
}

/* --- on the store's thread --- */

static void known_name(const struct call *call, int32_t lessor, char *out,
                       size_t size)
{
    (void)text_format(out, size, "known/%s/%d", call->pool->name, (int)lessor);
}

enum seqb_status call_read(struct worker *worker, struct call *call,
                           struct seqb_error *err)
{
    struct connection *connection = &worker->connection;
    struct seen *seen = &call->seen;
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < call->pool->lessors.count && status == SEQB_OK;
         i++) {
        char name[SEQB_COUNTER_SIZE];

        if (i == call->lessor)
            continue;
        known_name(call, i, name, sizeof name);
        status = connection_claim(connection, name, NULL, seen->marks[i],
                                  sizeof seen->marks[i], err);
        ask_step(&call->ask);
    }
    if (status == SEQB_OK)
        status = connection_claim(connection, call->pool->synced, NULL,
                                  seen->synced, sizeof seen->synced, err);
    (void)text_copy(seen->incarnation, sizeof seen->incarnation,
                    connection->incarnation);
    return status;
}

enum seqb_status call_swap(struct worker *worker, struct call *call,
                           struct seqb_error *err)
{
    const struct seqb_swap swap = {.name = call->name,
                                   .expected = call->expected,
                                   .text = call->text,
                                   .incarnation = call->incarnation};
    const enum seqb_status status = connection_swap(
        &worker->connection, &swap, call->standing, sizeof call->standing, err);

    /* The connection's information about the store is outdated. */
    if (status == SEQB_FENCED)
        connection_close(&worker->connection);
    return status;
}

enum seqb_status call_list(struct worker *worker, struct call *call,
                           struct seqb_error *err)
{
    struct seqb_page page = {.prefix = call->prefix,
                             .after = call->after,
                             .listed = call->listed,
                             .most = CALL_LISTED};
    const enum seqb_status status =
        connection_list(&worker->connection, &page, err);

    call->count = page.count;
    return status;
}

/* "@COUNTER" holds the time before which no stamp of the counter is made
 * again. */
static enum seqb_status raise_time(struct connection *connection,
                                   const struct seqb_listed *listed,
                                   struct seqb_error *err)
{
    char keep[SEQB_COUNTER_SIZE + 2];
    const struct seqb_purge purge = {.counter = listed->counter + 1,
                                     .keep = keep,
                                     .before_ms = listed->value,
                                     .most = 0};
    int32_t deleted;

    (void)text_format(keep, sizeof keep, "%s@0", purge.counter);
    return connection_purge(connection, &purge, &deleted, err);
}

/* It compares nothing: a late raise only skips leases. The lessor may have
 * deleted a stamp that another store still has. It does not make that stamp
 * again, and leases nothing of it. */
static enum seqb_status raise_one(struct worker *worker,
                                  const struct seqb_listed *listed,
                                  struct seqb_error *err)
{
    struct connection *connection = &worker->connection;
    const struct seqb_raise raise = {
        .counter = listed->counter,
        .floor = listed->value,
        .limit = INT64_MAX,
        .base_gap = worker_base_gap(worker),
        .base_ms = worker_base_ms(worker),
    };
    int64_t value;
    enum seqb_status status;

    if (listed->counter[0] == '@')
        return raise_time(connection, listed, err);
    status = connection_raise(connection, &raise, &value, err);
    return status == SEQB_EXHAUSTED && strchr(listed->counter, '@') != NULL
               ? SEQB_OK
               : status;
}

enum seqb_status call_raise(struct worker *worker, struct call *call,
                            struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < call->count && status == SEQB_OK; i++) {
        status = raise_one(worker, &call->listed[i], err);
        ask_step(&call->ask);
    }
    return status;
}

enum seqb_status call_claims_read(struct worker *worker, struct call *call,
                                  struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < call->claim_count && status == SEQB_OK; i++) {
        struct call_claim *claim = &call->claims[i];

        status = connection_claim(&worker->connection, claim->name, NULL,
                                  claim->text, sizeof claim->text, err);
        ask_step(&call->ask);
    }
    return status;
}

enum seqb_status call_claims_put(struct worker *worker, struct call *call,
                                 struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int32_t i = 0; i < call->claim_count && status == SEQB_OK; i++) {
        const struct call_claim *claim = &call->claims[i];
        char standing[CLAIM_SEQUENCE_SIZE];

        if (claim->text[0] != '\0')
            status =
                connection_claim(&worker->connection, claim->name, claim->text,
                                 standing, sizeof standing, err);
        ask_step(&call->ask);
    }
    return status;
}

/* If the server may have been restarted without closing the connection,
 * reconnects: the incarnation is only read when connecting. */
static enum seqb_status call_enter(struct worker *worker,
                                   const struct call *call,
                                   struct seqb_error *err)
{
    if (!worker_may_work(worker, call->pool, err))
        return err->status;
    if (call->is_fresh)
        connection_close(&worker->connection);
    if (!worker_may_connect(worker, err))
        return err->status;
    return worker_connect(worker, err);
}

static enum seqb_status call_run(struct worker *worker, struct ask *ask,
                                 struct seqb_error *err)
{
    struct call *call = (struct call *)ask;
    const int64_t start_us = clock_now_us();
    enum seqb_status status = call_enter(worker, call, err);

    if (status != SEQB_OK)
        return status;
    status = call->run(worker, call, err);
    if (!connection_was_refused(status))
        worker_fail(worker, err, clock_now_us() - start_us);
    return status;
}

/* --- asking --- */

struct call *call_new(struct ha_pool *pool, int32_t lessor)
{
    struct call *call = calloc(1, sizeof *call);

    if (call == NULL)
        return NULL;
    ask_init(&call->ask, call_run, ask_free);
    call->pool = pool;
    call->lessor = lessor;
    return call;
}

bool call_post(struct call *call)
{
    if (ask_post(worker_of(call), &call->ask))
        return true;
    ask_free(&call->ask);
    return false;
}

/* Twice the usual time, because the worker may just have begun another
 * batch. */
bool call_wait(struct call *call)
{
    const struct seqb_backend_options *options =
        &worker_of(call)->connection.options->options;
    const int64_t patience_ms =
        2 * ((int64_t)options->connect_timeout_ms + options->timeout_ms);

    if (ask_wait_steps(&call->ask, patience_ms))
        return true;
    ask_release(&call->ask);
    return false;
}

bool call_ask(struct call *call, struct seqb_error *err)
{
    const char *name = worker_name(worker_of(call));

    if (!call_post(call)) {
        (void)error_set(err, SEQB_CLOSED, "the broker is closing");
        return false;
    }
    if (!call_wait(call)) {
        (void)error_set(err, SEQB_UNAVAILABLE, "backend %s: no answer in time",
                        name);
        return false;
    }
    if (call->ask.error.status == SEQB_OK)
        return true;
    (void)error_copy(err, &call->ask.error);
    ask_release(&call->ask);
    return false;
}
