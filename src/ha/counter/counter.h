/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence's counter in every partition of its pool, as the files of this
 * folder see it. The comment at each field says which thread or lock owns it.
 * There may be very many, so it is kept small.
 */
#pragma once

#include "ha/counter/slot.h"
#include "ha/members.h"
#include "period/period.h"

#define CLASSES 2 /* of enum seqb_guarantee */

/* What a counter's forecast is computed from: see sample.h. */
struct sample;

/* The deletion of its old stamps: see purge.c. */
struct purge;

/* The counter waits until a store of its own pool notes the sequence. */
#define AWAITS_OWN_POOL UINT16_MAX

struct ha_counter {
    struct ha_pool *pool;
    struct ha_sink *sink;
    const char *key;                                /* stored after the slots */
    const struct ha_counter_attributes *attributes; /* NULL: the usual ones */
    struct ha_stamp stamp; /* digits 0: none. It changes only while no ask of
                              the counter is under way */
    struct purge *purge;   /* NULL: nothing was purged yet */
    /* By class: the highest value, or window, that any partition granted.
     * Guarded by the pool's lock. */
    int64_t level[CLASSES];
    /* By class: no value, or window, up to this one is used any more, by an
     * operator's order. Guarded by the pool's lock. */
    int64_t floor[CLASSES];
    /* Bit i: partition i's store compared its claims of the sequence, or
     * failed. Before all usable stores have, none is asked for numbers. */
    uint64_t claims_read;
    /* The next counter of the same sequence, in a ring of them; itself, if it
     * is the only one. Guarded by the pool's lock. */
    struct ha_counter *next;
    int8_t memory_bits;
    bool is_void : 1;     /* a store claims it with other bits: see ha_grant.
                             All of the ring are. Guarded by the pool's lock, as
                             the next one */
    bool is_unlisted : 1; /* see ha_counter_set_listed. All of the ring are */
    int16_t partitions;   /* number of slots, for ha_counter_free, when the pool
                             is gone */
    /* The backend, counted from 1, of another pool's store that did not say
     * whether it knows the sequence, which is new in this pool; or
     * AWAITS_OWN_POOL; 0: none. Guarded by the pool's lock. */
    uint16_t awaited;
    uint16_t advancing;    /* threads that wait for the pool's `answered` */
    struct sample *sample; /* NULL: no answer yet */
    /* The end that the last forecast found, and when it was made, both in
     * minutes: see sample.c. Written with the pool's lock held, read without.
     * Relaxed: a statistic. */
    _Atomic uint64_t runs_out;
    struct slot slots[]; /* one for each partition */
};

static inline struct ha_pool *slot_pool(const struct slot *slot)
{
    return slot->counter == NULL ? ((const struct ticket_slot *)slot)->pool
                                 : slot->counter->pool;
}

static inline const char *slot_key(const struct slot *slot)
{
    return slot->counter == NULL ? ((const struct ticket_slot *)slot)->key
                                 : slot->counter->key;
}

/* Bits of a number that do not belong to the counter: those of the partition,
 * and those that the sequence does not use. */
static inline int32_t counter_spent_bits(const struct ha_counter *counter)
{
    const int32_t value_bits = counter->attributes == NULL
                                   ? BITS_ALL
                                   : counter->attributes->value_bits;

    return counter->pool->options->layout.bits + BITS_ALL - value_bits;
}

/* The counter's windows hold 2^bits values. */
static inline int32_t counter_window_bits(const struct ha_counter *counter)
{
    return layout_window_bits(
        &counter->pool->options->layout,
        counter->attributes == NULL ? 0 : counter->attributes->window_bits);
}

/* A grant may contain several windows only if they hold at most 2^this numbers.
 * Each grant skips the ring positions of the rest of its last window, and
 * positions must last. Larger windows hold more than one ask wants anyway. */
#define GRANT_WINDOW_BITS 20

/* Whether a grant may contain several windows of one lease. */
static inline bool counter_grants_windows(const struct ha_counter *counter)
{
    return counter->pool->lessors.count > 0 &&
           counter->memory_bits + counter_window_bits(counter) <=
               GRANT_WINDOW_BITS;
}

/* With the pool's lock held: whether a store that may be asked has not compared
 * the claim of the sequence yet, which has to be before any number is asked
 * for. */
static inline bool counter_awaits_claims(const struct ha_counter *counter)
{
    const struct pool *pool = &counter->pool->pool;
    bool awaits_claims = false;

    if (counter->attributes == NULL || !counter->attributes->asks_first)
        return false;
    for (int32_t i = 0; i < pool->partitions && !awaits_claims; i++)
        awaits_claims =
            (counter->claims_read >> i & 1) == 0 && pool_is_usable(pool, i);
    return awaits_claims;
}

/* With the pool's lock held: has the stores asked for their claims of the
 * sequence, and returns whether their answers have to be waited for before any
 * number is asked for. Two brokers may give the sequence different bits, and
 * each may reach another store first. A call that hangs is waited for until it
 * ends; a store that failed is not. */
bool counter_ask_claims(struct ha_counter *counter, int64_t now_ms);

/* What is claimed in the stores for the counter's sequence. */
static inline struct claim_attributes
counter_claim(const struct ha_counter *counter)
{
    return (struct claim_attributes){
        .layout = &counter->pool->options->layout,
        .key = counter->key,
        .memory_bits = counter->memory_bits,
        .window_bits = counter_window_bits(counter),
        .more = counter->attributes == NULL ? "" : counter->attributes->claim};
}

/* The period of the slot's counter; digits 0: none. */
static inline struct ha_stamp slot_stamp(const struct slot *slot)
{
    return slot->counter == NULL ? (struct ha_stamp){.digits = 0}
                                 : slot->counter->stamp;
}

/* The last value of the slot's block, which may continue in the next windows of
 * a lease. */
static inline int64_t slot_block_last(const struct slot *slot)
{
    const struct seqb_block *block = &slot->block;
    const int64_t last = block->first + (block->count - 1);
    const int32_t bits = counter_window_bits(slot->counter);
    const int64_t ends = (last >> bits) - (block->first >> bits);
    const int64_t others = ((int64_t)1 << slot_pool(slot)->lessors.bits) - 1;

    return slot->is_windowed ? last + (ends * others << bits) : last;
}

/* The highest window that the slot may use. */
static inline int64_t slot_window_max(const struct slot *slot)
{
    const struct layout *layout = &slot_pool(slot)->options->layout;
    const struct ha_counter *counter = slot->counter;

    if (counter == NULL)
        return layout_window_max(layout->bits, 0, layout->window_bits);
    return layout_window_max(counter_spent_bits(counter), counter->memory_bits,
                             counter_window_bits(counter));
}

/* The highest lease that the slot may use: the low bits of its window are the
 * lessor. A ticket is not limited by windows. */
static inline int64_t slot_lease_max(const struct slot *slot)
{
    if (slot->counter == NULL)
        return INT64_MAX / 2;
    return slot_window_max(slot) >> slot_pool(slot)->lessors.bits;
}

/* Bits of a number below the counter's value or, for a lease, below the
 * lease. */
static inline int32_t slot_low_bits(const struct slot *slot)
{
    const struct ha_counter *counter = slot->counter;
    const int32_t low_bits =
        counter->pool->options->layout.bits + counter->memory_bits;

    if (!slot->is_lease)
        return low_bits;
    return low_bits + counter_window_bits(counter) +
           counter->pool->lessors.bits;
}

/* Whether the slot is a lease from a neighbour. A lessor was made level with
 * the others after its store changed, so no gap has to be left. Short numbers
 * have no room for a gap. */
static inline bool slot_is_lessors(const struct slot *slot)
{
    return slot->is_lease && slot_pool(slot)->lessors.count > 0;
}

/* In events.c: reports what happened to a counter in the worker's store. `name`
 * is the counter's name there; NULL: not needed. Hold no
 * lock. */
void slot_report(const struct worker *worker, const struct slot *slot,
                 enum seqb_event_kind kind, const char *name,
                 const char *reason);
/* The same, logged as info: see events_emit_info. */
void slot_report_info(const struct worker *worker, const struct slot *slot,
                      enum seqb_event_kind kind, const char *name,
                      const char *reason);

/*
 * In grant.c: carries a batch of slots through one backend, on its worker's
 * thread: reserves, judges each reply, repairs counters that are fenced or used
 * up, and asks again. Serves worker->batch[0 ... n - 1]; each slot is answered
 * exactly once.
 */
void grant_run(struct worker *worker, size_t n);

/* Answers a slot: with its block if `why` is NULL. */
void grant_answer(struct slot *slot, struct seqb_error *why);

/* A store answered a claim of the sequence with that. If it is SEQB_LAYOUT,
 * closes the sequence in all stores and for all stamps: brokers with those
 * settings give its numbers other meanings. */
void counter_void(struct ha_counter *counter, enum seqb_status status);

/* Whether that has happened. */
bool counter_is_closed(const struct ha_counter *counter);

/* With the pool's lock held: the same, and the reason is noted, which happens
 * when the slot is answered, after the counter became void. */
bool counter_closing_is_noted(const struct ha_counter *counter);

/* With the pool's lock held: of a void counter, the slot of partition i whose
 * store closed the sequence, of this counter or another one of the sequence;
 * NULL: none. */
const struct slot *slot_that_closed(const struct ha_counter *counter,
                                    int32_t i);

/* Before the first ask: a store claims the sequence with other settings
 * (SEQB_LAYOUT). Closes the counter in all partitions; the log names
 * `partition`. */
void counter_close(struct ha_counter *counter, int32_t partition,
                   struct seqb_error *why);

/* Writes the counter's name in that worker's store. */
void grant_name(const struct worker *worker, const struct slot *slot, char *out,
                size_t size);

/* --- witness.c: the witness of a lease in a pool with neighbours --- */

/* A lease that has to be noted before it is used. */
struct noted {
    struct ha_pool *pool;
    int32_t lessor;
    const char *term; /* the lessor's term of the lease. If it is over, the note
                         is refused */
    const char *counter; /* its name in the stores */
    int64_t first;       /* the first lease of the run */
    int64_t lease;       /* the last lease of the run */
    int64_t limit;       /* the highest lease of the counter */
};

/* With the pool's lock held: which neighbours may be asked, except those in
 * `tried`, and how long a call of each would take. */
void witness_lock_out(const struct ha_pool *pool, uint64_t tried,
                      struct lessors_lock_out *out);

/* With the pool's lock held: the next witness for a lease of that lessor that
 * is not in `tried`, or -1. */
int32_t witness_pick(const struct ha_pool *pool, int32_t lessor,
                     uint64_t tried);

/* On the witness's thread: raises the counter to the lease, if the witness's
 * store has the lessor's mark; else schedules a look at the lessors. SEQB_OK:
 * the lease is noted. SEQB_POISONED: the run may have been leased before, since
 * the witness knows `first` or a later lease; the last one is `*known`. */
enum seqb_status witness_note(struct worker *worker, const struct noted *noted,
                              int64_t *known, struct seqb_error *err);
