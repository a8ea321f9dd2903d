/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leases windows from neighbours. A lease of a level lessor is used once a
 * witness has noted it. See docs/decisions/0024-neighbours.md.
 *
 * No worker waits for another one. A lease moves from thread to thread as
 * posted jobs, and a slot that needs its window is put aside until the window
 * is there. So two stores may lease from each other at any time.
 */
#include <stdlib.h>

#include "ha/counter/source.h"
#include "ha/counter/window.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"
#include "store/store.h"

/* After so many refused notes, each lessor is asked only once more. */
#define REFUSALS_MOST 8

/* A slot that waited without success, to be answered without the lock. */
struct failed {
    struct slot *slot; /* NULL: none */
    struct seqb_error why;
};

static struct ha_pool *pool_of(const struct lease *lease)
{
    return slot_pool(&lease->source->lease);
}

static struct worker *lease_worker(const struct lease *lease, int32_t lessor)
{
    const struct ha_pool *pool = pool_of(lease);

    return pool->workers[pool->lessors.lessor[lessor].member];
}

/* --- the end of a lease, with the lock held --- */

/* Resumes the waiting slot, with the window or without one. */
static void lease_end(struct lease *lease, struct failed *failed)
{
    struct window_source *source = lease->source;
    struct slot *slot = lease->waiting;

    source->is_asked = false;
    lease->waiting = NULL;
    if (slot == NULL)
        return;
    if (source->status == SEQB_OK) {
        if (worker_push(pool_of(lease)->workers[slot->partition], &slot->job))
            return;
        (void)error_set(&failed->why, SEQB_CLOSED, "the broker is closing");
    } else {
        (void)error_set(&failed->why, source->status, "%s",
                        source->why != NULL ? source->why : "no window");
    }
    failed->slot = slot;
    slot->is_refused = source->is_refused;
}

/* Releases the lock that the caller holds, then answers the slot that
 * failed. */
static void lease_leave(struct lease *lease, struct failed *failed)
{
    pthread_mutex_unlock(lease->source->lock);
    if (failed->slot == NULL)
        return;
    failed->slot->why = &failed->why;
    failed->slot->done(failed->slot);
}

/* --- choosing a lessor, with the lock held --- */

static int32_t lessor_pick(const struct lease *lease)
{
    struct ha_pool *pool = pool_of(lease);
    struct lessors_lock_out locked_out;

    witness_lock_out(pool, lease->asked, &locked_out);
    locked_out.own =
        lessors_find(&pool->lessors, lease->source->lease.partition);
    if (lease->leased.count > 0)
        locked_out.level =
            lease->witness != locked_out.own ? lease->witness : lease->lessor;
    locked_out.level =
        lessors_level(&pool->lessors, locked_out.level, lease->refusals);
    return lessors_pick(&pool->lessors, &locked_out);
}

/* One lessor failed. Keeps the text of the last failure. Only this counter
 * counts as refused if each lessor refuses it with the same status. */
static void lease_failed(struct lease *lease, bool is_refused,
                         const struct seqb_error *why)
{
    struct window_source *source = lease->source;
    const bool is_first = source->status == SEQB_OK;
    struct seqb_error copy;

    if (is_refused && (is_first || source->status == why->status)) {
        source_result(source, is_first || source->is_refused, why);
        return;
    }
    (void)error_set(&copy, SEQB_UNAVAILABLE, "%s", why->text);
    source_result(source, false, &copy);
}

/* No lessor is left to ask: fails with the text of the last failure. */
static void lease_give_up(struct lease *lease, struct failed *failed)
{
    struct window_source *source = lease->source;
    const uint64_t all =
        UINT64_MAX >> (LESSORS_MAX - pool_of(lease)->lessors.count);
    struct seqb_error why;

    if (source->status == SEQB_OK || lease->asked != all ||
        !source->is_refused) {
        (void)error_set(&why, SEQB_UNAVAILABLE, "no window: %s",
                        source->why != NULL
                            ? source->why
                            : "no neighbour that may be asked is level");
        source_result(source, false, &why);
    }
    lease_end(lease, failed);
}

/* Each lessor compares the claim of the sequence on its own connection: their
 * serial numbers are no different. */
static void lease_turn_to(struct lease *lease, int32_t lessor)
{
    struct slot *slot = &lease->source->lease;

    lease->marks[lease->lessor].admitted_on = slot->admitted_on;
    slot->admitted_on = lease->marks[lessor].admitted_on;
    lease->lessor = lessor;
}

/* Asks the next lessor. If there is none, gives up. */
static void lease_go_on(struct lease *lease, struct failed *failed)
{
    struct ha_pool *pool = pool_of(lease);
    struct window_source *source = lease->source;
    int32_t i = lessor_pick(lease);

    while (i >= 0) {
        struct worker *worker = lease_worker(lease, i);

        lease_turn_to(lease, i);
        lease->asked |= (uint64_t)1 << i;
        lease->noted = 0;
        (void)text_copy(lease->nonce, sizeof lease->nonce,
                        pool->lessors.lessor[i].nonce);
        source->lease.floor = lease->floor;
        source->resumed = pool->resumed;
        if (worker_push(worker, &source->lease.job))
            return;
        i = lessor_pick(lease);
    }
    lease_give_up(lease, failed);
}

/* Has the next witness note the lease. A lease that no witness notes is
 * discarded. */
static void lease_note(struct lease *lease, struct failed *failed)
{
    struct ha_pool *pool = pool_of(lease);
    struct seqb_error why;
    int32_t i = witness_pick(pool, lease->lessor, lease->noted);

    while (i >= 0) {
        lease->witness = i;
        lease->noted |= (uint64_t)1 << i;
        if (worker_push(lease_worker(lease, i), &lease->note))
            return;
        i = witness_pick(pool, lease->lessor, lease->noted);
    }
    (void)error_set(&why, SEQB_UNAVAILABLE, "no neighbour notes a lease of %s",
                    worker_name(lease_worker(lease, lease->lessor)));
    lease_failed(lease, false, &why);
    lease_go_on(lease, failed);
}

void lease_begin(struct window_source *source, int64_t floor)
{
    struct lease *lease = source->neighbours;
    struct failed failed = {.slot = NULL};

    source->is_asked = true;
    lease->asked = 0;
    lease->refusals = 0;
    lease->floor = lessors_lease(&pool_of(lease)->lessors, floor);
    lease_go_on(lease, &failed); /* no slot waits yet */
}

/* --- on the lessor's thread --- */

/* A value that the lessor granted in an earlier run is no mark for this run:
 * its store may have gone back since then although it is level. */
void window_lease_begins(struct slot *slot, const char *counter)
{
    struct lease *lease = source_of(slot)->neighbours;
    const struct lessor *lessor;

    if (lease == NULL)
        return;
    (void)text_copy(lease->counter, sizeof lease->counter, counter);
    pthread_mutex_lock(lease->source->lock);
    lessor = &pool_of(lease)->lessors.lessor[lease->lessor];
    slot->mark = FENCE_NOTHING;
    if (lease->marks[lease->lessor].run == lessor->run)
        slot->mark = (struct fence_mark){0, lease->marks[lease->lessor].value};
    pthread_mutex_unlock(lease->source->lock);
}

const char *window_lease_nonce(const struct slot *slot)
{
    return source_of((struct slot *)slot)->neighbours->nonce;
}

/* The last lease of the run: a store that knows it leases none of the run
 * again. */
static int64_t lease_last(const struct lease *lease)
{
    return lease->leased.first + (lease->leased.count - 1);
}

/* With the lock held: keeps what was leased. The incarnation is that of the
 * connection on which the lease was asked, or an earlier one, but never a later
 * one. If it is earlier, the witness refuses the note. */
static void lease_keep(struct lease *lease)
{
    const struct slot *slot = &lease->source->lease;
    struct lessors *lessors = &pool_of(lease)->lessors;
    const struct worker *worker = lease_worker(lease, lease->lessor);

    lease->leased = slot->block;
    lease->marks[lease->lessor].value = lease_last(lease);
    lease->marks[lease->lessor].run = lessors->lessor[lease->lessor].run;
    (void)text_format(lease->term, sizeof lease->term, "%s%s", lease->nonce,
                      worker->connection.incarnation);
    lessors_leased(lessors, lease->lessor, clock_now_ms());
}

void lease_answered(struct slot *slot)
{
    struct lease *lease = source_of(slot)->neighbours;
    struct ha_pool *pool = slot_pool(slot);
    struct failed failed = {.slot = NULL};

    pthread_mutex_lock(pool->lock);
    if (slot->why == NULL) {
        lease_keep(lease);
        lease_note(lease, &failed);
        lease_leave(lease, &failed);
        return;
    }
    if (slot->is_unlevel) {
        lessors_doubt(&pool->lessors, lease->lessor, false, clock_now_ms());
        pthread_cond_signal(pool->lessors_changed);
    }
    lease_failed(lease, slot->is_refused && !slot->is_unlevel, slot->why);
    lease_go_on(lease, &failed);
    lease_leave(lease, &failed);
}

/* --- on the witness's thread --- */

/* The witness knows a part of the run. A lessor whose counters were deleted
 * while its server kept running leases from 1 again, and another broker may
 * still hold what was leased before. Or another broker noted a later lease
 * meanwhile. The lease is discarded, and any lessor is asked for a higher one,
 * also than this lease, which that one's witness may know. */
static void lease_again(struct lease *lease, int64_t known,
                        struct failed *failed)
{
    struct seqb_error why;

    (void)error_set(&why, SEQB_UNAVAILABLE,
                    "%s leases what may have been leased before",
                    worker_name(lease_worker(lease, lease->lessor)));
    lease_failed(lease, false, &why);
    lease->floor = max_of(known, lease_last(lease));
    if (lease->refusals < REFUSALS_MOST)
        lease->asked = 0;
    lease->refusals++;
    lease_go_on(lease, failed);
}

/* With the lock held: the lease was noted. */
static void lease_use(struct lease *lease)
{
    const struct lessors *lessors = &pool_of(lease)->lessors;

    source_leased(lease->source,
                  lessors_window(lessors, lease->leased.first, lease->lessor),
                  (int64_t)1 << lessors->bits, lease->leased.count);
}

static void note_run(struct worker *worker, struct worker_job *job)
{
    struct lease *lease = (struct lease *)job;
    struct window_source *source = lease->source;
    struct ha_pool *pool = pool_of(lease);
    struct failed failed = {.slot = NULL};
    const struct noted noted = {.pool = pool,
                                .lessor = lease->lessor,
                                .term = lease->term,
                                .counter = lease->counter,
                                .first = lease->leased.first,
                                .lease = lease_last(lease),
                                .limit = slot_lease_max(&source->lease)};
    int64_t known;
    struct seqb_error err;
    const enum seqb_status status = witness_note(worker, &noted, &known, &err);

    pthread_mutex_lock(source->lock);
    if (status == SEQB_POISONED) {
        lease_again(lease, known, &failed);
    } else if (status != SEQB_OK) {
        lease_note(lease, &failed);
    } else {
        lease_use(lease);
        source_result(source, false, NULL);
        lease_end(lease, &failed);
    }
    lease_leave(lease, &failed);
}

static void note_abandon(struct worker_job *job)
{
    struct lease *lease = (struct lease *)job;
    struct failed failed = {.slot = NULL};
    struct seqb_error why;

    pthread_mutex_lock(lease->source->lock);
    (void)error_set(&why, SEQB_CLOSED, "the broker is closing");
    source_result(lease->source, false, &why);
    lease_end(lease, &failed);
    lease_leave(lease, &failed);
}

struct lease *lease_new(struct window_source *source)
{
    const size_t count = (size_t)slot_pool(&source->lease)->lessors.count;
    struct lease *lease =
        calloc(1, sizeof *lease + count * sizeof lease->marks[0]);

    if (lease == NULL)
        return NULL;
    lease->note =
        (struct worker_job){.call = note_run, .abandon = note_abandon};
    lease->source = source;
    return lease;
}
