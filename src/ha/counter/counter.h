/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence's counter in every partition of its pool, as this folder's files
 * see it. Which thread or lock owns each field stands there.
 */
#pragma once

#include "ha/counter/slot.h"
#include "ha/members.h"
#include "period/period.h"

#define CLASSES 2 /* of enum seqb_guarantee */

/* What a counter's forecast is made of: see sample.h. */
struct sample;

/* The forgetting of its old stamps: see purge.c. */
struct purge;

struct ha_counter {
    struct ha_pool *pool;
    struct ha_sink *sink;
    const char *key;                                /* behind the slots */
    const struct ha_counter_attributes *attributes; /* NULL: the usual ones */
    struct ha_stamp stamp; /* digits 0: none. Changes only while nothing is
                              under way for it */
    struct purge *purge;   /* NULL: nothing was purged yet */
    int32_t memory_bits;
    int32_t partitions; /* number of slots; freeing outlives the pool */
    /* The highest value, or window, that any partition of the class granted;
     * guarded by the pool's lock. */
    int64_t level[CLASSES];
    /* By class, and guarded by it too: nothing at or below that value, or
     * window, is used any more, by an operator's order. */
    int64_t floor[CLASSES];
    /* Bit i: partition i's store was asked what it knows of the sequence. Until
     * all have been that can be, none is asked for numbers. */
    uint64_t heard;
    bool is_void;          /* a store knows it by other bits: see ha_grant */
    int32_t advancing;     /* calls that wait for the pool's `answered` */
    struct sample *sample; /* of sample.c; NULL: no answer yet */
    /* What the last forecast found and when, in minutes: see sample.c. Written
     * with the pool's lock held, read without. Relaxed: a statistic. */
    _Atomic uint64_t runs_out;
    struct slot slots[]; /* one a partition */
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

/* Bits of a number that are no counter's: those of the partition, and those
 * that the sequence has no use for. */
static inline int32_t counter_spent_bits(const struct ha_counter *counter)
{
    const int32_t value_bits = counter->attributes == NULL
                                   ? BITS_ALL
                                   : counter->attributes->value_bits;

    return counter->pool->options->layout.bits + BITS_ALL - value_bits;
}

/* Its windows hold 2^bits values. */
static inline int32_t counter_window_bits(const struct ha_counter *counter)
{
    return layout_window_bits(
        &counter->pool->options->layout,
        counter->attributes == NULL ? 0 : counter->attributes->window_bits);
}

/* Only windows of so many numbers, or fewer, are granted several at once: the
 * positions of a ring step over the rest of one with each grant, and must last.
 * Larger ones hold more than is asked for at once. */
#define GRANT_WINDOW_BITS 20

/* Whether a grant may be of several windows of one lease. */
static inline bool counter_grants_windows(const struct ha_counter *counter)
{
    return counter->pool->lessors.count > 0 &&
           counter->memory_bits + counter_window_bits(counter) <=
               GRANT_WINDOW_BITS;
}

/* What is claimed for the counter's sequence. */
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

/* Of the period that the slot's counter is of; digits 0: none. */
static inline struct ha_stamp slot_stamp(const struct slot *slot)
{
    return slot->counter == NULL ? (struct ha_stamp){.digits = 0}
                                 : slot->counter->stamp;
}

/* The last value of its block, which goes on in the next windows of a lease. */
static inline int64_t slot_block_last(const struct slot *slot)
{
    const struct seqb_block *block = &slot->block;
    const int64_t last = block->first + (block->count - 1);
    const int32_t bits = counter_window_bits(slot->counter);
    const int64_t ends = (last >> bits) - (block->first >> bits);
    const int64_t others = ((int64_t)1 << slot_pool(slot)->lessors.bits) - 1;

    return slot->is_windowed ? last + (ends * others << bits) : last;
}

/* The last window that it may have. */
static inline int64_t slot_window_max(const struct slot *slot)
{
    const struct layout *layout = &slot_pool(slot)->options->layout;
    const struct ha_counter *counter = slot->counter;

    if (counter == NULL)
        return layout_window_max(layout->bits, 0, layout->window_bits);
    return layout_window_max(counter_spent_bits(counter), counter->memory_bits,
                             counter_window_bits(counter));
}

/* The last lease that it may have: its window carries who leased it. A ticket
 * is no window's. */
static inline int64_t slot_lease_max(const struct slot *slot)
{
    if (slot->counter == NULL)
        return INT64_MAX / 2;
    return slot_window_max(slot) >> slot_pool(slot)->lessors.bits;
}

/* Bits of a number below the counter's value, or below its lease. */
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

/* Whether a neighbour leases: it was made level with the others since its store
 * changed, so that no gap needs to be left, which short numbers do not have. */
static inline bool slot_is_lessors(const struct slot *slot)
{
    return slot->is_lease && slot_pool(slot)->lessors.count > 0;
}

/* Of events.c: tells what happened to a counter in a worker's store, where
 * `name` is its name (NULL: it matters not), or in the whole pool. With no lock
 * held. */
void slot_report(const struct worker *worker, const struct slot *slot,
                 enum seqb_event_kind kind, const char *name,
                 const char *reason);
/* The same, logged as info: see events_emit_info. */
void slot_report_info(const struct worker *worker, const struct slot *slot,
                      enum seqb_event_kind kind, const char *name,
                      const char *reason);
void counter_report(const struct ha_counter *counter, enum seqb_event_kind kind,
                    const char *reason);

/*
 * Of grant.c: a batch of slots carried through one backend, on its worker's
 * thread: reserve, judge each reply, mend what is fenced or used up, ask again.
 * Serves worker->batch[0 ... n - 1]; each slot is answered exactly once.
 */
void grant_run(struct worker *worker, size_t n);

/* Answers a slot: with its block if `why` is NULL. */
void grant_answer(struct slot *slot, struct seqb_error *why);

/* Before anything is asked for: a store knows the sequence otherwise
 * (SEQB_LAYOUT), which closes the counter in all partitions; the log names this
 * one. */
void counter_close(struct ha_counter *counter, int32_t partition,
                   struct seqb_error *why);

/* What its counter is called in the store of that worker. */
void grant_name(const struct worker *worker, const struct slot *slot, char *out,
                size_t size);

/* --- of witness.c: the witness of a lease in a pool with neighbours --- */

/* A lease that is not used before it is noted. */
struct noted {
    struct ha_pool *pool;
    int32_t lessor;
    const char *term;    /* of the lessor: in which it was leased, or an earlier
                            one, whose note is refused */
    const char *counter; /* its name in the stores */
    int64_t lease;
    int64_t limit; /* of the counter */
};

/* With the pool's lock held: which neighbours may be asked, of those that were
 * not `tried`, and how long each would take. */
void witness_lock_out(const struct ha_pool *pool, uint64_t tried,
                      struct lessors_lock_out *out);

/* The next witness for a lease of that lessor, or -1. */
int32_t witness_pick(const struct ha_pool *pool, int32_t lessor,
                     uint64_t tried);

/* On the witness's thread: raises the counter to the lease if the lessor's mark
 * stands in that store; else the lessors are looked at. SEQB_OK: noted, and
 * `known` is what the counter is there then. */
enum seqb_status witness_note(struct worker *worker, const struct noted *noted,
                              int64_t *known, struct seqb_error *err);
