/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence's counter in every partition of its pool, as this folder's files
 * see it. Which thread or lock owns each field stands there.
 */
#pragma once

#include "ha/members.h"
#include "ha/slot.h"
#include "period/period.h"

#define CLASSES 3 /* of enum seqb_guarantee */

/* What a counter's forecast is made of: see sample.h. */
struct sample;

/* The forgetting of its old stamps: see purge.c. */
struct purge;

struct ha_counter {
    struct ha_pool *pool;
    struct ha_sink *sink;
    const char *key;              /* behind the slots */
    const struct ha_terms *terms; /* NULL: the usual ones */
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
    int32_t advancing;     /* calls that wait for the pool's `answered` */
    struct sample *sample; /* of sample.c; NULL: it was never asked */
    struct slot slots[];   /* one a partition */
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
    const int32_t value_bits =
        counter->terms == NULL ? BITS_ALL : counter->terms->value_bits;

    return counter->pool->options->layout.bits + BITS_ALL - value_bits;
}

/* What is claimed for the counter's sequence. */
static inline struct claim_terms counter_claim(const struct ha_counter *counter)
{
    return (struct claim_terms){
        .layout = &counter->pool->options->layout,
        .key = counter->key,
        .memory_bits = counter->memory_bits,
        .more = counter->terms == NULL ? "" : counter->terms->claim};
}

/* Of the period that the slot's counter is of; digits 0: none. */
static inline struct ha_stamp slot_stamp(const struct slot *slot)
{
    return slot->counter == NULL ? (struct ha_stamp){.digits = 0}
                                 : slot->counter->stamp;
}

/* The last window that it may have. */
static inline int64_t slot_window_max(const struct slot *slot)
{
    const struct layout *layout = &slot_pool(slot)->options->layout;
    const struct ha_counter *counter = slot->counter;

    if (counter == NULL)
        return layout_window_max(layout->bits, 0, layout->window_bits);
    return layout_window_max(counter_spent_bits(counter), counter->memory_bits,
                             layout->window_bits);
}

/* Of events.c: tells what happened to a counter in a worker's store, where
 * `name` is its name (NULL: it matters not), or in the whole pool. With no lock
 * held. */
void slot_tell(const struct worker *worker, const struct slot *slot,
               enum seqb_event_kind kind, const char *name, const char *reason);
void counter_tell(const struct ha_counter *counter, enum seqb_event_kind kind,
                  const char *reason);
