/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stripes: slices of a ring that the callers of a busy sequence take from. Each
 * thread has a stripe, by its index. One that no other thread takes from costs
 * a load and a store a number; one that some share costs a fetch-and-add, and
 * is taken from where a stripe is refilled. A stripe that is used up takes the
 * next slice of the ring, and anybody may take away what a stripe holds. While
 * a sequence is not busy its stripes hold nothing.
 */
#pragma once

#include "platform/likely.h"
#include "platform/thread_index.h"
#include "queue/ring.h"

#define STRIPES THREAD_INDEXES

struct stripe {
    /* The next position of the slice, or one behind its end; written by every
     * taker, and alone on its line. It only grows as long as the slice is in
     * it. */
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

/* Takes a number for a thread that has no stripe of its own, or whose stripe is
 * used up: gives the stripe a new slice, or takes the number from the ring. */
enum ring_taken stripes_refill(struct stripes *stripes, struct ring *ring,
                               int64_t *out);

/* Takes away what the stripes hold. Up to STRIPES slices; a stripe that is
 * being refilled at this moment is left out. Returns how many. */
size_t stripes_gather(struct stripes *stripes, const struct ring *ring,
                      struct ring_slice *out);

/* The same of all of them: waits for who refills one. */
size_t stripes_gather_all(struct stripes *stripes, const struct ring *ring,
                          struct ring_slice *out);

/* The number at a position of the slice that has the base. */
static inline int64_t stripe_number(const struct stripe *stripe, uint64_t base,
                                    uint64_t position)
{
    return LIKELY(stripe->shape.gap == 0)
               ? (int64_t)(base + position)
               : ring_number_of_window(stripe->shape, base, position);
}

/*
 * Takes one number of the thread's own stripe; false if there is none.
 *
 * The thread alone moves the head and gives the stripe its slices, and none of
 * its signals' handlers does while the index is not free. So the position that
 * it read is its own, and the base is of its slice, unless somebody took the
 * slice away. Who does that sets the limit to 0, has all threads pass a
 * barrier, and reads the head. A taker whose store of the head that one does
 * not see looks at the limit behind the barrier: it finds 0, and its position
 * is nobody's. What the handler of a signal does while the index is free only
 * raises head and limit.
 */
static inline bool stripes_take(struct stripes *stripes, int64_t *out)
{
    struct thread_index *mine = &thread_index_mine;
    struct stripe *stripe = &stripes->stripes[mine->any];
    uint64_t position;
    uint64_t limit;
    uint64_t base;

    if (UNLIKELY(!atomic_load_explicit(&mine->is_free, memory_order_relaxed)))
        return false;
    atomic_store_explicit(&mine->is_free, false, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    position = atomic_load_explicit(&stripe->head, memory_order_relaxed);
    atomic_store_explicit(&stripe->head, position + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    limit = atomic_load_explicit(&stripe->limit, memory_order_relaxed);
    base = atomic_load_explicit(&stripe->base, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&mine->is_free, true, memory_order_relaxed);
    if (UNLIKELY(position >= limit))
        return false;
    *out = stripe_number(stripe, base, position);
    return true;
}
