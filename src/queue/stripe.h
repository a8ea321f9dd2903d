/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stripes: slices of a ring from which the callers of a busy sequence take.
 * Each thread uses the stripe of its index. If no other thread uses that
 * stripe, a number costs a load and a store. If threads share it, a number
 * costs a fetch-and-add, and is taken in stripes_refill. A stripe that is used
 * up gets the next slice of the ring. Any thread may take away what a stripe
 * holds. While a sequence is not busy, its stripes are empty.
 */
#pragma once

#include "platform/likely.h"
#include "platform/thread_index.h"
#include "queue/ring.h"

#define STRIPES THREAD_INDEXES

struct stripe {
    /* The next position of the slice, or beyond its end. It is alone on its
     * cache line, because every taker writes it. It only grows while the stripe
     * holds the slice. */
    _Alignas(RING_LINE) _Atomic uint64_t head;

    /* Takers only read the following. */
    _Alignas(RING_LINE) _Atomic uint64_t limit; /* the slice's end; 0: none, or
                                                   it was taken away */
    _Atomic uint64_t base;                      /* of ring_number */
    struct ring_shape shape; /* without a gap if a slice is within one run; the
                                base includes windows */
    atomic_flag is_held;     /* held while a slice is put in or taken away */
};

struct stripes {
    struct stripe stripes[STRIPES];
    _Atomic uint64_t filled; /* bit n: stripe n may hold numbers */
    _Atomic uint64_t slice;  /* numbers of a slice; 0: stripes get no slices */
    enum ring_part part;     /* a slice lies within one of these */
};

/* Makes the stripes of a ring in zeroed memory, which must be zero again in a
 * forked child. */
struct stripes *stripes_init(void *memory, const struct ring *ring);

/* How many numbers a stripe takes from the ring at once from now on; 0:
 * none. */
void stripes_set_slice(struct stripes *stripes, uint64_t numbers);

/* Takes a number for a thread that shares its stripe, or whose stripe is used
 * up: from the shared stripe, from a new slice that it puts into the stripe, or
 * from the ring. */
enum ring_taken stripes_refill(struct stripes *stripes, struct ring *ring,
                               int64_t *out);

/* Takes away what the stripes hold, as up to STRIPES slices in `out`; returns
 * how many. Leaves out a stripe that is being refilled at this moment. */
size_t stripes_gather(struct stripes *stripes, const struct ring *ring,
                      struct ring_slice *out);

/* The same for all stripes: waits until a stripe's refill has ended. */
size_t stripes_gather_all(struct stripes *stripes, const struct ring *ring,
                          struct ring_slice *out);

/* The number at a position of the slice with this base. */
static inline int64_t stripe_number(const struct stripe *stripe, uint64_t base,
                                    uint64_t position)
{
    return LIKELY(stripe->shape.gap == 0)
               ? (int64_t)(base + position)
               : ring_number_of_window(stripe->shape, base, position);
}

/*
 * Takes one number from the thread's own stripe; false if there is none.
 *
 * Why a position is not used twice: only the thread itself moves the head and
 * puts slices into its stripe. A handler of a signal of this thread does
 * neither while `is_free` is false. So the position that it read is its own,
 * and the base belongs to its slice, unless another thread took the slice away.
 * That thread sets the limit to 0, makes all threads pass a barrier, and then
 * reads the head. If it does not see a taker's store of the head, then the
 * taker loads the limit after the barrier, finds 0, and does not use its
 * position. A signal handler that runs while `is_free` is true only raises the
 * head and the limit.
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
