/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence with a period. What callers have is its front, which holds no
 * numbers; they are in a few slots, each an inner sequence with a ring and a
 * counter of its own, for one stamp. A slot whose stamp is over is made that
 * of a later one. Private to the files of this source.
 *
 * From the bottom up: slot.c makes slots; current.c
 * decides which one is current; take.c takes; periodic.c is the
 * source, and makes slots ready ahead of their stamps.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "platform/clock.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "queue/sequence_take.h"

/* The one that is current, the next one, and two whose answers may still be
 * under way. */
#define PERIOD_SLOTS 4

struct period_slot {
    struct seqb_sequence *sequence; /* NULL: not made yet; then constant */
    /* Whose numbers the ring holds, as digits; 0: none's, or it is changing.
     * Never the same twice. Who takes a number looks before and after: the
     * release of a new stamp comes after all of the old one's numbers are
     * gone, and before the first one of its own. */
    _Atomic int64_t stamp;
    _Atomic int64_t begin_ms; /* of that stamp */
    _Atomic int64_t end_ms;
    _Atomic int64_t first_id; /* that of shard 0 and counter 0; -1: none fits */
};

struct periodic {
    struct seqb_sequence front;                     /* first */
    const struct ha_counter_attributes *attributes; /* of its counters */

    /* NULL: no number was ever asked for. */
    _Atomic(struct period_slot *) now;

    pthread_mutex_t lock; /* guards the making and changing of slots */
    struct period_slot slots[PERIOD_SLOTS];
    bool is_closed;
    int64_t taken;   /* numbers of slots that have changed since */
    int64_t dropped; /* numbers that were not taken while their stamp lasted */

    /* The refill thread's own. */
    int64_t purged_ms;
};

/* A slot at one moment: what was read of it. */
struct current_period {
    struct period_slot *slot;
    struct period_span span;
    int64_t first_id;
};

static inline struct periodic *periodic_of(struct seqb_sequence *front)
{
    return (struct periodic *)front;
}

static inline struct guarded_clock *
periodic_clock(const struct periodic *periodic)
{
    return periodic->front.context->clock;
}

/*
 * Of slot.c, with the lock held: the slot of that span, with nothing
 * in its ring if it was none before; NULL if all are busy with earlier ones,
 * which passes, or memory is short.
 */
struct period_slot *periodic_slot(struct periodic *periodic,
                                  const struct period_span *span);

/* Of it too: has the slot's refill reckon with what the current one's callers
 * use, if that is another one. */
void periodic_carry(struct periodic *periodic, struct period_slot *to,
                    int64_t now_ms);

/* Of periodic.c, pure: how long until the stamp after that one is made ready;
 * 0: now; INT64_MAX: it has begun. */
int64_t periodic_ahead_ms(int64_t begin_ms, int64_t end_ms, int64_t time_ms);

/*
 * Of current.c: which slot is current now. SEQB_OK; SEQB_AGAIN: not
 * yet known, until a clock has caught up or something is kept; SEQB_TIMEOUT:
 * not yet either, no slot is free; SEQB_CLOCK, with the reason. Waits for what
 * is to be kept until `until_ms`; a moment that is past: does not wait.
 */
enum seqb_status periodic_find_current(struct periodic *periodic,
                                       int64_t until_ms,
                                       struct current_period *out,
                                       struct seqb_error *err);

/* Whether a later call of that one may go otherwise. */
static inline bool current_may_come(enum seqb_status status)
{
    return status == SEQB_AGAIN || status == SEQB_TIMEOUT;
}

/* Reads a slot; false while it changes. */
static inline bool current_read(struct period_slot *slot,
                                struct current_period *out)
{
    /* Pairs with the release in slot_renew. */
    out->span.stamp = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    out->span.begin_ms =
        atomic_load_explicit(&slot->begin_ms, memory_order_relaxed);
    out->span.end_ms =
        atomic_load_explicit(&slot->end_ms, memory_order_relaxed);
    out->first_id = atomic_load_explicit(&slot->first_id, memory_order_relaxed);
    out->slot = slot;
    return out->span.stamp != 0;
}

/* The slot that was current last; false if there is none, or another one is by
 * now. The second look finds a slot that was made that of a later stamp after
 * the first: such a stamp is not issued before the slot is current. */
static inline bool periodic_last(struct periodic *periodic,
                                 struct current_period *out)
{
    struct period_slot *slot =
        atomic_load_explicit(&periodic->now, memory_order_acquire);

    return slot != NULL && current_read(slot, out) &&
           atomic_load_explicit(&periodic->now, memory_order_acquire) == slot;
}

/* The current slot if the machine's clock is within its span, which is all
 * there is to it, nearly always. */
static inline bool periodic_current(struct periodic *periodic,
                                    struct current_period *out)
{
    return periodic_last(periodic, out) &&
           clock_wall_is_within(out->span.begin_ms, out->span.end_ms);
}

/* Whether what was taken of the slot since is of the current stamp. The fence
 * keeps this look behind the taking. */
static inline bool current_holds(const struct current_period *current)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&current->slot->stamp, memory_order_relaxed) ==
           current->span.stamp;
}

/* Of take.c: as those of the source. */
enum seqb_status periodic_take(struct seqb_sequence *front,
                               const struct queue_take *take,
                               struct seqb_error *err);
enum seqb_status periodic_try_take(struct seqb_sequence *front,
                                   const struct queue_take *take,
                                   struct seqb_error *err);
