/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memcached engine's reserve: one round trip reads the cells, a second one
 * increments those that have values left. So the increments that come too late
 * are bounded (cell.c says how).
 */
#include <assert.h>
#include <string.h>

#include "backends/memcached/item.h"
#include "backends/requests.h"
#include "platform/error.h"

enum stage { STAGE_LOOK, STAGE_COUNT };

/* False, with the request answered, if the request cannot be sent. */
static bool request_key(struct memcached *mc, struct seqb_request *request,
                        struct memcached_key *key)
{
    if (request->want < 1 || request->want > SEQB_GRANT_MAX ||
        request->limit < 1 || request->limit > MEMCACHED_SIZE_MAX ||
        !memcached_key_make(mc->prefix, "", request->counter, key)) {
        request->status =
            error_set(&request->error, SEQB_INVALID,
                      "%s: counter %.64s: its name, the number of values or "
                      "the window's size is out of range",
                      mc->link.where, request->counter);
        return false;
    }
    if (memcached_cell_is_guarded(request->limit, mc->session.connections))
        return true;
    request->status = memcached_unguarded(mc, request->counter, request->limit,
                                          &request->error);
    return false;
}

/* Interprets the cell found: answers the request, or sets by how much to
 * increment. */
static enum seqb_status poll_answer(struct memcached *mc,
                                    const struct memcached_reply *reply,
                                    struct seqb_request *request,
                                    struct memcached_count *count)
{
    const struct memcached_cell *cell = &count->cell;
    struct memcached_key key;
    enum seqb_status status;

    (void)memcached_key_make(mc->prefix, "", request->counter, &key);
    status =
        memcached_answer_cell(mc, &key, reply, &count->cell, &request->error);
    if (status != SEQB_OK)
        return status;
    request->window = cell->window;
    if (cell->size != request->limit)
        return memcached_resized(mc, &key, &request->error);
    if (cell->offset >= cell->size)
        return error_set(&request->error, SEQB_EXHAUSTED,
                         "%s: key %s has used up its window", mc->link.where,
                         key.name);
    count->step =
        memcached_cell_step(cell, request->want, mc->session.connections);
    return SEQB_UNCERTAIN;
}

static enum seqb_status count_answer(struct memcached *mc,
                                     const struct memcached_reply *reply,
                                     struct seqb_request *request,
                                     const struct memcached_count *count)
{
    struct memcached_key key;
    uint64_t after;
    enum seqb_status status;

    (void)memcached_key_make(mc->prefix, "", request->counter, &key);
    if (reply->code == MEMCACHED_ABSENT) {
        request->window = SEQB_NO_WINDOW;
        return error_set(&request->error, SEQB_FENCED, "%s: key %s is gone",
                         mc->link.where, key.name);
    }
    if (reply->code != MEMCACHED_VALUE || reply->text == NULL ||
        !memcached_number(reply->text, reply->length, &after))
        return memcached_unexpected(mc, &key, reply, &request->error);
    status =
        memcached_cell_grant(&count->cell, count->step, after, &request->block);
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(
        &request->error, status, "%s: key %s %s", mc->link.where, key.name,
        status == SEQB_EXHAUSTED ? "was used up by others meanwhile"
                                 : "was put into another window meanwhile");
}

static bool stage_add(struct memcached *mc, enum stage stage,
                      struct seqb_request *requests, size_t n)
{
    struct memcached_key key;

    for (size_t i = 0; i < n; i++) {
        const int64_t step = mc->counts[i].step;

        if (stage == STAGE_COUNT && step == 0)
            continue;
        if (!request_key(mc, &requests[i], &key))
            continue;
        if (stage == STAGE_LOOK ? !memcached_add_read(mc, &key)
                                : !memcached_add_count(mc, &key, step))
            return false;
    }
    return memcached_link_flush(&mc->link);
}

/* One round trip for all; false, with the reason, if the connection must not be
 * used again. */
static bool stage_run(struct memcached *mc, enum stage stage,
                      struct seqb_request *requests, size_t n,
                      struct seqb_error *why)
{
    struct memcached_reply reply;
    bool is_well = stage_add(mc, stage, requests, n);

    for (size_t i = 0; i < n && is_well; i++) {
        struct memcached_count *count = &mc->counts[i];

        if (requests[i].status != SEQB_UNCERTAIN)
            continue; /* answered, nothing was sent */
        is_well = memcached_link_read(&mc->link, &reply);
        if (!is_well)
            break;
        requests[i].status =
            stage == STAGE_LOOK ? poll_answer(mc, &reply, &requests[i], count)
                                : count_answer(mc, &reply, &requests[i], count);
        if (!memcached_link_is_open(
                &mc->link)) { /* its answer closed the connection */
            *why = requests[i].error;
            return false;
        }
    }
    if (!is_well)
        (void)memcached_link_lose(&mc->link, SEQB_UNCERTAIN, why);
    return is_well;
}

enum seqb_status memcached_reserve(struct seqb_backend *backend,
                                   struct seqb_request *requests, size_t n,
                                   struct seqb_error *err)
{
    struct memcached *mc = memcached_of(backend);
    struct seqb_error why;

    assert(n <= MEMCACHED_REQUESTS_MAX);
    memset(mc->counts, 0, n * sizeof mc->counts[0]);
    requests_begin(requests, n);
    if (memcached_link_begin(&mc->link, mc->timeout_ms, &why) != SEQB_OK)
        return requests_end(requests, n, why.status, &why, err);
    if (stage_run(mc, STAGE_LOOK, requests, n, &why) &&
        stage_run(mc, STAGE_COUNT, requests, n, &why))
        return SEQB_OK;
    return requests_end(requests, n, SEQB_UNCERTAIN, &why, err);
}
