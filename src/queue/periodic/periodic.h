/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence with a period. Callers hold its front, which has no numbers. The
 * numbers are in a few slots. Each slot is an inner sequence with its own ring
 * and counter, for one stamp. When the stamp of a slot is over, the slot is
 * reused for a later stamp. Private to the files of this source.
 *
 * From the bottom up: slot.c makes slots; current.c decides which slot is
 * current; take.c takes numbers; periodic.c is the source, and prepares slots
 * ahead of their stamps.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "platform/clock.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "queue/sequence_take.h"

/* The current slot, the next one, and two that may still have asks in
 * flight. */
#define PERIOD_SLOTS 4

struct period_slot {
    struct seqb_sequence *sequence; /* NULL: not made yet; then constant */
    /* The stamp of the numbers in the ring, as digits; 0: none, or it is
     * changing. A taker reads it before and after it takes a number. If a
     * change failed, a caller with an earlier time may give the slot the stamp
     * that it had: a number taken meanwhile is of that stamp all the same. The
     * release store of a new stamp comes after all numbers of the old stamp are
     * gone, and before the first number of the new one. */
    _Atomic int64_t stamp;
    _Atomic int64_t begin_ms; /* of that stamp */
    _Atomic int64_t end_ms;
    _Atomic int64_t first_id; /* the id with shard 0 and counter 0; -1: it does
                                 not fit */
};

struct periodic {
    struct seqb_sequence front;                     /* must be first */
    const struct ha_counter_attributes *attributes; /* of the slots' counters */

    /* The current slot; NULL: no number was ever asked for. */
    _Atomic(struct period_slot *) now;

    pthread_mutex_t lock; /* guards making and changing slots, and what follows
                             but `purged_ms` */
    struct period_slot slots[PERIOD_SLOTS];
    bool is_closed;
    int64_t taken;   /* numbers taken from slots before they changed their
                        stamp */
    int64_t dropped; /* numbers that were not taken before their stamp was
                        over */

    /* Only the refill thread uses it. */
    int64_t purged_ms;
};

/* A copy of a slot's fields. */
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
 * In slot.c, with the lock held: the slot of a span. If there was none, its
 * ring is empty. NULL if all slots are busy with earlier stamps, which passes,
 * or if memory is short.
 */
struct period_slot *periodic_slot(struct periodic *periodic,
                                  const struct period_span *span);

/* In slot.c, too: gives the slot the refill rates of the current slot, if that
 * is another one. */
void periodic_carry(struct periodic *periodic, struct period_slot *to,
                    int64_t now_ms);

/* In periodic.c, pure: how many ms until the slot of the next stamp is
 * prepared, given the begin and end of this stamp; 0: now; INT64_MAX: the next
 * stamp has begun. */
int64_t periodic_ahead_ms(int64_t begin_ms, int64_t end_ms, int64_t time_ms);

/*
 * In current.c: finds the slot that is current now. SEQB_AGAIN: it is not known
 * until the clock has caught up, or until the time to be issued was kept.
 * SEQB_TIMEOUT: no slot is free yet, or the sequence is not admitted yet.
 * SEQB_CLOCK, with the reason; SEQB_CLOSED. Waits for the time to be kept until
 * `until_ms`; a time in the past means not to wait.
 */
enum seqb_status periodic_find_current(struct periodic *periodic,
                                       int64_t until_ms,
                                       struct current_period *out,
                                       struct seqb_error *err);

/* Whether a later call of periodic_find_current may succeed. */
static inline bool current_may_come(enum seqb_status status)
{
    return status == SEQB_AGAIN || status == SEQB_TIMEOUT;
}

/* Reads a slot; false while its stamp changes. */
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

/* The slot that became current last. False if there is none, or if another slot
 * became current meanwhile. The second load of `now` detects a slot that was
 * given a later stamp after the first load, because such a stamp is issued only
 * after its slot became current. */
static inline bool periodic_last(struct periodic *periodic,
                                 struct current_period *out)
{
    struct period_slot *slot =
        atomic_load_explicit(&periodic->now, memory_order_acquire);

    return slot != NULL && current_read(slot, out) &&
           atomic_load_explicit(&periodic->now, memory_order_acquire) == slot;
}

/* The current slot, if the machine's clock is within its span. Nearly always
 * this is all that a caller needs. */
static inline bool periodic_current(struct periodic *periodic,
                                    struct current_period *out)
{
    return periodic_last(periodic, out) &&
           clock_wall_is_within(out->span.begin_ms, out->span.end_ms);
}

/* Whether a number that was taken from the slot after it was read has that
 * stamp. The fence keeps this load after the taking. */
static inline bool current_holds(const struct current_period *current)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&current->slot->stamp, memory_order_relaxed) ==
           current->span.stamp;
}

/* In take.c: `take` and `try_take` of the source. */
enum seqb_status periodic_take(struct seqb_sequence *front,
                               const struct queue_take *take,
                               struct seqb_error *err);
enum seqb_status periodic_try_take(struct seqb_sequence *front,
                                   const struct queue_take *take,
                                   struct seqb_error *err);
