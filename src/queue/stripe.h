/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stripes: slices of a ring that the callers of a busy sequence take from. Each
 * thread has a stripe, by its index. One that no other thread takes from costs
 * a plain addition a number; one that some share costs a fetch-and-add. A
 * stripe that is used up takes the next slice of the ring, and anybody may take
 * away what a stripe holds. While a sequence is not busy its stripes hold
 * nothing.
 */
#pragma once

#include "platform/likely.h"
#include "platform/own_add.h"
#include "platform/thread_index.h"
#include "queue/ring.h"

#define STRIPES THREAD_INDEXES

struct stripe {
    /* The next position of the slice; written by every taker, and alone on its
     * line. */
    _Alignas(RING_LINE) _Atomic uint64_t head;

    /* Only read by takers. */
    _Alignas(RING_LINE) _Atomic uint64_t limit; /* the slice's end; 0: none, or
                                                   it was taken away */
    _Atomic uint64_t base;                      /* of ring_number */
    struct ring_shape shape; /* that of a slice within one run has no gap;
                                windows are in the base */
    atomic_flag is_held;     /* by who gives it a slice, or takes it away */
};

struct stripes {
    struct stripe stripes[STRIPES];
    _Atomic uint64_t filled; /* bit n: stripe n may hold numbers */
    _Atomic uint64_t slice;  /* numbers of a slice; 0: stripes are closed */
    enum ring_part part;     /* of which a slice is */
};

/* Stripes over a ring, in zeroed memory that is zero again in a forked child.
 */
struct stripes *stripes_init(void *memory, const struct ring *ring);

/* How many numbers a stripe takes at once from now on; 0: none. */
void stripes_set_slice(struct stripes *stripes, uint64_t numbers);

/* Takes a number for a thread whose stripe is used up: gives it a new slice, or
 * takes it from the ring. */
enum ring_taken stripes_refill(struct stripes *stripes, struct ring *ring,
                               int64_t *out);

/* Takes away what the stripes hold. Up to STRIPES slices; a stripe that is
 * being refilled at this moment is left out. Returns how many. */
size_t stripes_gather(struct stripes *stripes, const struct ring *ring,
                      struct ring_slice *out);

/* The same of all of them: waits for who refills one. */
size_t stripes_gather_all(struct stripes *stripes, const struct ring *ring,
                          struct ring_slice *out);

/* The next position of a stripe, which is the caller's alone if it is below
 * the limit. */
static inline uint64_t stripe_claim(struct stripe *stripe, uint32_t index)
{
    return LIKELY(!thread_index_is_shared(index))
               ? own_fetch_increment(&stripe->head)
               : atomic_fetch_add(&stripe->head, 1);
}

/*
 * Takes one number of the thread's stripe; false if there is none.
 *
 * A position is the taker's alone if it is below `limit`, and `limit` is the
 * same before and after. Then `base` is of the same slice: it is written before
 * the limit of its slice, whose release pairs with the acquire here; and a
 * later slice is put in only when the head has passed this limit, or the limit
 * was 0 meanwhile.
 *
 * Who takes the slice away sets the limit to 0, has all threads pass a barrier,
 * and reads the head. A taker whose addition it does not see looks at the
 * limit behind that barrier: it finds 0, and its position is nobody's.
 */
static inline bool stripes_take(struct stripes *stripes, int64_t *out)
{
    const uint32_t index = thread_index_mine;
    struct stripe *stripe = &stripes->stripes[index];
    const uint64_t limit =
        atomic_load_explicit(&stripe->limit, memory_order_acquire);
    const uint64_t base =
        atomic_load_explicit(&stripe->base, memory_order_acquire);
    const uint64_t position = stripe_claim(stripe, index);

    if (UNLIKELY(position >= limit) ||
        UNLIKELY(atomic_load(&stripe->limit) != limit))
        return false;
    *out = LIKELY(stripe->shape.gap == 0)
               ? (int64_t)(base + position)
               : ring_number_of_window(stripe->shape, base, position);
    return true;
}
