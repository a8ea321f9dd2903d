/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets: values of a counter that belongs to no sequence, leased like
 * windows by an ordinary reservation of the store's worker; and the origins
 * that tell whether the store is still the one it was.
 */
#include <stdlib.h>

#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "platform/thread.h"

struct ticket {
    struct slot slot; /* first: it is posted to the worker */
    struct ha_counter *counter;
    char key[SEQB_KEY_MAX + 1]; /* the counter's */
    struct worker *worker;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t answered;
    bool is_answered;
    bool is_abandoned; /* nobody waits: whoever answers frees it */
    struct ha_ticket out;
    struct seqb_error error; /* status OK: `out` is valid */
};

static void ticket_free(struct ticket *ticket)
{
    if (ticket == NULL)
        return;
    pthread_cond_destroy(&ticket->answered);
    pthread_mutex_destroy(&ticket->lock);
    free(ticket->counter);
    free(ticket);
}

/* On the worker's thread, whose connection it still is unless another slot of
 * the same batch has cost it. */
static void ticket_note(struct ticket *ticket)
{
    const struct seqb_backend *backend = ticket->worker->connection.backend;

    if (ticket->slot.why != NULL) {
        ticket->error = *ticket->slot.why;
        return;
    }
    ticket->out.value = ticket->slot.block.first;
    ticket->error.status = SEQB_OK;
    if (backend == NULL ||
        !text_copy(ticket->out.origin, sizeof ticket->out.origin,
                   backend->origin))
        (void)error_set(&ticket->error, SEQB_UNAVAILABLE,
                        "the connection was lost");
}

static void ticket_done(struct slot *slot)
{
    struct ticket *ticket = (struct ticket *)slot;
    bool is_abandoned;

    pthread_mutex_lock(&ticket->lock);
    ticket_note(ticket);
    ticket->is_answered = true;
    is_abandoned = ticket->is_abandoned;
    pthread_cond_signal(&ticket->answered);
    pthread_mutex_unlock(&ticket->lock);
    if (is_abandoned)
        ticket_free(ticket);
}

static struct ticket *ticket_new(struct ha *ha, struct ha_place place,
                                 const char *name)
{
    struct ha_pool *pool = &ha->pools[place.pool];
    struct ticket *ticket = calloc(1, sizeof *ticket);

    if (ticket == NULL)
        return NULL;
    pthread_mutex_init(&ticket->lock, NULL);
    condition_init(&ticket->answered);
    /* Of a counter, a lease needs its name alone. */
    ticket->counter = calloc(1, sizeof *ticket->counter);
    if (ticket->counter == NULL) {
        ticket_free(ticket);
        return NULL;
    }
    ticket->counter->pool = pool;
    (void)text_copy(ticket->key, sizeof ticket->key, name);
    ticket->counter->key = ticket->key;
    ticket->worker = pool->workers[place.member];
    ticket->slot = (struct slot){.counter = ticket->counter,
                                 .partition = (int16_t)place.member,
                                 .is_lease = true,
                                 .is_ticket = true,
                                 .want = 1,
                                 .done = ticket_done,
                                 .mark = FENCE_NOTHING};
    return ticket;
}

/* False, and the ticket is the worker's to free, if no answer came in time. */
static bool ticket_wait(struct ticket *ticket, int64_t until_ms)
{
    bool in_time = true;

    pthread_mutex_lock(&ticket->lock);
    while (!ticket->is_answered && in_time)
        in_time = condition_wait(&ticket->answered, &ticket->lock, until_ms);
    in_time = ticket->is_answered;
    ticket->is_abandoned = !in_time;
    pthread_mutex_unlock(&ticket->lock);
    return in_time;
}

static enum seqb_status ticket_take(struct ticket *ticket, int64_t until_ms,
                                    struct ha_ticket *out,
                                    struct seqb_error *err)
{
    const char *backend = worker_name(ticket->worker);
    enum seqb_status status;

    if (!worker_post(ticket->worker, &ticket->slot.job)) {
        ticket_free(ticket);
        return error_set(err, SEQB_CLOSED, "the broker is closing");
    }
    if (!ticket_wait(ticket, until_ms))
        return error_set(err, SEQB_UNAVAILABLE,
                         "no ticket: backend %s: no answer in time", backend);
    status = ticket->error.status;
    if (status != SEQB_OK && status != SEQB_LAYOUT && status != SEQB_CLOSED)
        status = SEQB_UNAVAILABLE;
    if (status == SEQB_OK)
        *out = ticket->out;
    else
        (void)error_set(err, status, "no ticket: backend %s: %s", backend,
                        ticket->error.text);
    ticket_free(ticket);
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
