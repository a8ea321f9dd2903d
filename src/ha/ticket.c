/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets: values of a counter that belongs to no sequence, leased like
 * windows by an ordinary reservation of the store's worker; and the origins
 * that tell whether the store is still the one it was.
 */
#include <stddef.h>
#include <stdlib.h>

#include "ha/ask.h"
#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

struct ticket {
    struct ask ask; /* first: the answer is `out` */
    struct ticket_slot slot;
    char key[SEQB_KEY_MAX + 1]; /* the counter's */
    struct worker *worker;
    struct ha_ticket out;
};

static void ticket_free(struct ask *ask)
{
    ask_fini(ask);
    free(ask);
}

/* On the worker's thread, whose connection it still is unless another slot of
 * the same batch has cost it. */
static enum seqb_status ticket_read(struct ticket *ticket,
                                    struct seqb_error *err)
{
    const struct seqb_backend *backend = ticket->worker->connection.backend;
    const struct slot *slot = &ticket->slot.slot;

    if (slot->why != NULL)
        return error_copy(err, slot->why);
    ticket->out.value = slot->block.first;
    if (backend == NULL ||
        !text_copy(ticket->out.origin, sizeof ticket->out.origin,
                   backend->origin))
        return error_set(err, SEQB_UNAVAILABLE, "the connection was lost");
    return SEQB_OK;
}

static void ticket_done(struct slot *slot)
{
    struct ticket *ticket =
        (struct ticket *)((char *)slot - offsetof(struct ticket, slot));
    struct seqb_error err;

    ask_answer(&ticket->ask,
               ticket_read(ticket, &err) == SEQB_OK ? NULL : &err);
}

static struct ticket *ticket_new(struct ha *ha, struct ha_place place,
                                 const char *name)
{
    struct ha_pool *pool = &ha->pools[place.pool];
    struct ticket *ticket = calloc(1, sizeof *ticket);

    if (ticket == NULL)
        return NULL;
    ask_init(&ticket->ask, NULL, ticket_free);
    ticket->ask.posted = &ticket->slot.slot.job;
    (void)text_copy(ticket->key, sizeof ticket->key, name);
    ticket->worker = pool->workers[place.member];
    ticket->slot =
        (struct ticket_slot){.slot = {.partition = (int16_t)place.member,
                                      .is_lease = true,
                                      .want = 1,
                                      .done = ticket_done,
                                      .mark = FENCE_NOTHING},
                             .pool = pool,
                             .key = ticket->key};
    return ticket;
}

static enum seqb_status ticket_take(struct ticket *ticket, int64_t until_ms,
                                    struct ha_ticket *out,
                                    struct seqb_error *err)
{
    const char *backend = worker_name(ticket->worker);
    struct seqb_error why;
    enum seqb_status status;

    if (!worker_ask(ticket->worker, &ticket->ask, until_ms, &why)) {
        if (why.status == SEQB_CLOSED)
            return error_copy(err, &why);
        return error_set(err, SEQB_UNAVAILABLE, "no ticket: backend %s: %s",
                         backend, why.text);
    }
    status = ticket->ask.error.status;
    if (status != SEQB_OK && status != SEQB_LAYOUT && status != SEQB_CLOSED)
        status = SEQB_UNAVAILABLE;
    if (status == SEQB_OK)
        *out = ticket->out;
    else
        (void)error_set(err, status, "no ticket: backend %s: %s", backend,
                        ticket->ask.error.text);
    ask_release(&ticket->ask);
    return status;
}

/* One that would not be asked, or no more be waited for, must not be taken
 * either: that would be one that is skipped. */
static enum seqb_status ticket_check(struct ha_pool *pool, int32_t member,
                                     int64_t until_ms, struct seqb_error *err)
{
    const char *backend = worker_name(pool->workers[member]);
    bool is_usable;

    pthread_mutex_lock(&pool->lock);
    is_usable = pool_is_usable(&pool->pool, member);
    pthread_mutex_unlock(&pool->lock);
    if (!is_usable)
        return error_set(err, SEQB_UNAVAILABLE,
                         "no ticket: backend %s is not usable", backend);
    if (clock_now_ms() >= until_ms)
        return error_set(err, SEQB_UNAVAILABLE,
                         "no ticket: no time is left to ask backend %s",
                         backend);
    return SEQB_OK;
}

static bool place_is_direct(const struct ha *ha, struct ha_place place)
{
    const struct ha_pool *pool;

    if (place.pool >= ha->options->pool_count)
        return false;
    pool = &ha->pools[place.pool];
    return place.member >= 0 && place.member < pool->members &&
           worker_guarantee(pool->workers[place.member]) == SEQB_DIRECT;
}

enum seqb_status ha_ticket(struct ha *ha, struct ha_place place,
                           const char *name, int64_t until_ms,
                           struct ha_ticket *out, struct seqb_error *err)
{
    struct ticket *ticket;
    enum seqb_status status;

    if (!place_is_direct(ha, place))
        return error_set(err, SEQB_LAYOUT,
                         "no ticket: pool %zu has no direct store %d",
                         place.pool, (int)place.member);
    status = ticket_check(&ha->pools[place.pool], place.member, until_ms, err);
    if (status != SEQB_OK)
        return status;
    ticket = ticket_new(ha, place, name);
    if (ticket == NULL)
        return error_set(err, SEQB_NO_MEMORY, "no ticket: out of memory");
    return ticket_take(ticket, until_ms, out, err);
}

/* The `i`-th direct place of a pool, its authority's or the others'; `i` is
 * lowered by those that are passed. */
static bool place_find(const struct ha *ha, bool is_authority, size_t *i,
                       struct ha_place *place)
{
    const struct ha_pool *pool = &ha->pools[place->pool];

    for (place->member = 0; place->member < pool->members; place->member++) {
        if (!place_is_direct(ha, *place) ||
            (pool->workers[place->member] == pool->authority) != is_authority)
            continue;
        if ((*i)-- == 0)
            return true;
    }
    return false;
}

bool ha_place_at(const struct ha *ha, size_t i, struct ha_place *out)
{
    const size_t pools = ha->options->pool_count;

    for (size_t j = 0; j < 2 * pools; j++) {
        out->pool = j < pools ? j : j - pools;
        if (place_find(ha, j < pools, &i, out))
            return true;
    }
    return false;
}

size_t ha_pool_count(const struct ha *ha)
{
    return ha->options->pool_count;
}

const char *ha_pool_layout(const struct ha_pool *pool)
{
    return pool->claim.text;
}

enum ha_origin ha_pool_origin(struct ha_pool *pool, int32_t partition,
                              char *out)
{
    const struct pool_member *member = &pool->pool.member[partition];
    enum ha_origin origin = HA_ORIGIN_PAST;

    pthread_mutex_lock(&pool->lock);
    (void)text_copy(out, SEQB_ORIGIN_SIZE, member->origin);
    if (out[0] == '\0' || member->state == SEQB_PARTITION_REFUSED ||
        member->state == SEQB_PARTITION_POISONED)
        origin = HA_ORIGIN_NONE;
    else if (pool_is_usable(&pool->pool, partition))
        origin = HA_ORIGIN_NOW;
    pthread_mutex_unlock(&pool->lock);
    return origin;
}
