/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets: values of a counter that belongs to no sequence. They are leased
 * like windows, by an ordinary reservation of the store's worker, and in a pool
 * with neighbours noted at a witness. Also the origins, which show whether a
 * store is still the same.
 */
#include <stddef.h>
#include <stdlib.h>

#include "ha/ask.h"
#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "platform/thread.h"

/* In place of an origin: leases of neighbours do not depend on origins. */
#define OF_NEIGHBOURS "neighbours"

/* The rest between two rounds in which no neighbour noted a ticket. */
#define NOTE_AGAIN_US 20000

struct ticket {
    struct ask ask; /* first: the answer is `out` */
    struct ticket_slot slot;
    char key[SEQB_KEY_MAX + 1]; /* of the counter */
    struct worker *worker;
    struct ha_ticket out;
    char nonce[TERM_NONCE_SIZE]; /* of the lessor's term, when it was asked */
    char term[TERM_SIZE];        /* the term of the lease */
};

/* A ticket of neighbours on its way to a witness. */
struct ticket_note {
    struct ask ask; /* first */
    struct noted noted;
    char counter[SEQB_COUNTER_SIZE];
    char term[TERM_SIZE];
};

static bool is_of_neighbours(const struct ticket *ticket)
{
    return ticket->slot.pool->lessors.count > 0;
}

/* --- the lease --- */

/* On the worker's thread. The connection is still the one of the lease, unless
 * another slot of the same batch lost it. */
static enum seqb_status ticket_read(struct ticket *ticket,
                                    struct seqb_error *err)
{
    const struct seqb_backend *backend = ticket->worker->connection.backend;
    const struct slot *slot = &ticket->slot.slot;

    if (slot->why != NULL)
        return error_copy(err, slot->why);
    ticket->out.value = slot->block.first;
    ticket->out.count = slot->block.count;
    if (backend == NULL ||
        !text_copy(ticket->out.origin, sizeof ticket->out.origin,
                   is_of_neighbours(ticket) ? OF_NEIGHBOURS : backend->origin))
        return error_set(err, SEQB_UNAVAILABLE, "the connection was lost");
    (void)text_format(ticket->term, sizeof ticket->term, "%s%s", ticket->nonce,
                      ticket->worker->connection.incarnation);
    return SEQB_OK;
}

/* The lessor refused, because it is not level. */
static void ticket_doubt(const struct ticket *ticket)
{
    struct ha_pool *pool = ticket->slot.pool;

    pthread_mutex_lock(pool->lock);
    lessors_doubt(&pool->lessors,
                  lessors_find(&pool->lessors, ticket->slot.slot.partition),
                  false, clock_now_ms());
    pthread_cond_signal(pool->lessors_changed);
    pthread_mutex_unlock(pool->lock);
}

static void ticket_done(struct slot *slot)
{
    struct ticket *ticket =
        (struct ticket *)((char *)slot - offsetof(struct ticket, slot));
    struct seqb_error err;

    if (slot->why != NULL && slot->is_unlevel)
        ticket_doubt(ticket);
    ask_answer(&ticket->ask,
               ticket_read(ticket, &err) == SEQB_OK ? NULL : &err);
}

/* Copies the nonce of the lessor's present term. */
static void ticket_enter(struct ticket *ticket)
{
    const struct ha_pool *pool = ticket->slot.pool;
    const int32_t i = lessors_find(&pool->lessors, ticket->slot.slot.partition);

    pthread_mutex_lock(pool->lock);
    if (i >= 0)
        (void)text_copy(ticket->nonce, sizeof ticket->nonce,
                        pool->lessors.lessor[i].nonce);
    pthread_mutex_unlock(pool->lock);
}

static struct ticket *ticket_new(struct ha *ha, const struct ha_span *span)
{
    const struct ha_place place = span->place;
    struct ha_pool *pool = &ha->pools[place.pool];
    struct ticket *ticket = calloc(1, sizeof *ticket);

    if (ticket == NULL)
        return NULL;
    ask_init(&ticket->ask, NULL, ask_free);
    ticket->ask.posted = &ticket->slot.slot.job;
    (void)text_copy(ticket->key, sizeof ticket->key, span->name);
    ticket->worker = pool->workers[place.member];
    ticket->slot =
        (struct ticket_slot){.slot = {.partition = (int8_t)place.member,
                                      .is_lease = true,
                                      .want = span->want,
                                      .floor = span->above,
                                      .done = ticket_done,
                                      .mark = FENCE_NOTHING},
                             .pool = pool,
                             .key = ticket->key,
                             .nonce = ticket->nonce};
    if (is_of_neighbours(ticket))
        ticket_enter(ticket);
    return ticket;
}

/* --- the note --- */

static enum seqb_status note_run(struct worker *worker, struct ask *ask,
                                 struct seqb_error *err)
{
    int64_t known;

    return witness_note(worker, &((struct ticket_note *)ask)->noted, &known,
                        err);
}

static struct ticket_note *note_new(const struct ticket *ticket)
{
    const struct slot *slot = &ticket->slot.slot;
    struct ha_pool *pool = ticket->slot.pool;
    struct ticket_note *note = calloc(1, sizeof *note);

    if (note == NULL)
        return NULL;
    ask_init(&note->ask, note_run, ask_free);
    grant_name(ticket->worker, slot, note->counter, sizeof note->counter);
    (void)text_copy(note->term, sizeof note->term, ticket->term);
    note->noted =
        (struct noted){.pool = pool,
                       .lessor = lessors_find(&pool->lessors, slot->partition),
                       .term = note->term,
                       .counter = note->counter,
                       .first = ticket->out.value,
                       .lease = ticket->out.value + ticket->out.count - 1,
                       .limit = slot_lease_max(slot)};
    return note;
}

/* The worker of the next witness that was not tried; NULL if there is none. */
static struct worker *witness_of(struct ha_pool *pool, int32_t member,
                                 uint64_t *tried)
{
    struct worker *worker = NULL;
    int32_t i;

    pthread_mutex_lock(pool->lock);
    i = witness_pick(pool, lessors_find(&pool->lessors, member), *tried);
    if (i >= 0) {
        worker = pool->workers[pool->lessors.lessor[i].member];
        *tried |= (uint64_t)1 << i;
    }
    pthread_mutex_unlock(pool->lock);
    return worker;
}

static enum seqb_status note_take(const struct ticket *ticket,
                                  struct worker *witness, int64_t until_ms,
                                  struct seqb_error *err)
{
    struct ticket_note *note = note_new(ticket);
    enum seqb_status status;

    if (note == NULL)
        return error_set(err, SEQB_NO_MEMORY, "out of memory");
    if (!worker_ask(witness, &note->ask, until_ms, err))
        return err->status;
    status = note->ask.error.status;
    if (status != SEQB_OK)
        (void)error_copy(err, &note->ask.error);
    ask_release(&note->ask);
    return status;
}

/* Has the first neighbour note it that can. */
static enum seqb_status note_by_one(const struct ticket *ticket,
                                    int64_t until_ms, struct seqb_error *err)
{
    enum seqb_status status = error_set(err, SEQB_UNAVAILABLE,
                                        "no neighbour may be asked to note it");
    struct worker *witness;
    uint64_t tried = 0;

    while (status != SEQB_OK && status != SEQB_CLOSED &&
           status != SEQB_POISONED &&
           (witness = witness_of(ticket->slot.pool, ticket->slot.slot.partition,
                                 &tried)) != NULL)
        status = note_take(ticket, witness, until_ms, err);
    return status == SEQB_LAYOUT ? SEQB_UNAVAILABLE : status; /* a witness's */
}

/* Also when the broker closes: no neighbour is waited for then. */
static bool is_over(const struct ticket *ticket, int64_t until_ms)
{
    const int64_t limit_ms =
        atomic_load_explicit(ticket->worker->limit_ms, memory_order_relaxed);

    return clock_now_ms() >= min_of(until_ms, limit_ms);
}

/* Tries again as long as the neighbours fail. A ticket that no neighbour
 * notes is discarded: its lessor may go back and grant it again. A ticket
 * whose note is refused is discarded, too: the lessor may have been made
 * level without it. So is one that is noted already: the lessor's counter was
 * deleted. */
static enum seqb_status ticket_note(const struct ticket *ticket,
                                    int64_t until_ms, struct seqb_error *err)
{
    enum seqb_status status;

    if (!is_of_neighbours(ticket))
        return SEQB_OK;
    status = note_by_one(ticket, until_ms, err);
    while (status != SEQB_OK && status != SEQB_CLOSED &&
           status != SEQB_FENCED && status != SEQB_POISONED &&
           !is_over(ticket, until_ms)) {
        thread_rest_us(NOTE_AGAIN_US);
        status = note_by_one(ticket, until_ms, err);
    }
    return status;
}

/* --- one ticket --- */

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
    status = ticket->ask.error.status == SEQB_OK
                 ? ticket_note(ticket, until_ms, &why)
                 : error_copy(&why, &ticket->ask.error);
    if (status != SEQB_OK && status != SEQB_LAYOUT && status != SEQB_CLOSED)
        status = SEQB_UNAVAILABLE;
    if (status == SEQB_OK)
        *out = ticket->out;
    else
        (void)error_set(err, status, "no ticket: backend %s: %s", backend,
                        why.text);
    ask_release(&ticket->ask);
    return status;
}

/* Checks before the ask that the store and a witness may be asked, and that
 * time is left. A ticket that was taken and could not be noted in time would be
 * skipped. */
static enum seqb_status ticket_check(struct ha_pool *pool, int32_t member,
                                     int64_t until_ms, struct seqb_error *err)
{
    const char *backend = worker_name(pool->workers[member]);
    uint64_t tried = 0;
    bool is_usable;

    pthread_mutex_lock(pool->lock);
    is_usable = pool_is_usable(&pool->pool, member);
    pthread_mutex_unlock(pool->lock);
    if (!is_usable)
        return error_set(err, SEQB_UNAVAILABLE,
                         "no ticket: backend %s is not usable", backend);
    if (pool->lessors.count > 0 && witness_of(pool, member, &tried) == NULL)
        return error_set(err, SEQB_UNAVAILABLE,
                         "no ticket: no neighbour of backend %s is usable",
                         backend);
    if (clock_now_ms() >= until_ms)
        return error_set(err, SEQB_UNAVAILABLE,
                         "no ticket: no time is left to ask backend %s",
                         backend);
    return SEQB_OK;
}

/* Whether the place is a direct store, or one that leases to its neighbours. */
static bool place_is_good(const struct ha *ha, struct ha_place place)
{
    const struct ha_pool *pool;

    if (place.pool >= ha->options->pool_count)
        return false;
    pool = &ha->pools[place.pool];
    if (place.member < 0 || place.member >= pool->members)
        return false;
    if (pool->lessors.count > 0)
        return lessors_find(&pool->lessors, place.member) >= 0;
    return worker_guarantee(pool->workers[place.member]) == SEQB_DIRECT &&
           !pool_is_windowed(pool, place.member);
}

enum seqb_status ha_ticket_span(struct ha *ha, const struct ha_span *span,
                                int64_t until_ms, struct ha_ticket *out,
                                struct seqb_error *err)
{
    const struct ha_place place = span->place;
    struct ticket *ticket;
    enum seqb_status status;

    if (!place_is_good(ha, place))
        return error_set(err, SEQB_LAYOUT,
                         "no ticket: pool %zu has no direct store %d",
                         place.pool, (int)place.member);
    status = ticket_check(&ha->pools[place.pool], place.member, until_ms, err);
    if (status != SEQB_OK)
        return status;
    ticket = ticket_new(ha, span);
    if (ticket == NULL)
        return error_set(err, SEQB_NO_MEMORY, "no ticket: out of memory");
    return ticket_take(ticket, until_ms, out, err);
}

enum seqb_status ha_ticket(struct ha *ha, struct ha_place place,
                           const char *name, int64_t until_ms,
                           struct ha_ticket *out, struct seqb_error *err)
{
    const struct ha_span span = {.place = place, .name = name, .want = 1};

    return ha_ticket_span(ha, &span, until_ms, out, err);
}

/* Finds the `i`-th direct place of a pool, among the authority or among the
 * others. Each place that is passed lowers `i`. */
static bool place_find(const struct ha *ha, bool is_authority, size_t *i,
                       struct ha_place *place)
{
    const struct ha_pool *pool = &ha->pools[place->pool];

    for (place->member = 0; place->member < pool->members; place->member++) {
        if (!place_is_good(ha, *place) ||
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

bool ha_pool_had_layout(const struct ha_pool *pool, const char *text)
{
    return layout_is_earlier(&pool->options->layout, text);
}

enum ha_origin ha_pool_origin(struct ha_pool *pool, int32_t partition,
                              char *out)
{
    const struct pool_member *member = &pool->pool.member[partition];
    enum ha_origin origin = HA_ORIGIN_PAST;

    pthread_mutex_lock(pool->lock);
    (void)text_copy(out, SEQB_ORIGIN_SIZE, member->origin);
    if (out[0] == '\0' || member->state == SEQB_PARTITION_REFUSED ||
        member->state == SEQB_PARTITION_POISONED)
        origin = HA_ORIGIN_NONE;
    else if (pool_is_usable(&pool->pool, partition))
        origin = HA_ORIGIN_NOW;
    pthread_mutex_unlock(pool->lock);
    return origin;
}
