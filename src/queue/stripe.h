/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stripes: slices of a ring that the callers of a busy sequence take from, one
 * number by one fetch-and-add. Each thread has a stripe, so that few threads
 * write the same line; a stripe that is used up takes the next slice of the
 * ring. While a sequence is not busy its stripes hold nothing.
 */
#pragma once

#include "platform/likely.h"
#include "queue/ring.h"

#define STRIPES 8 /* a power of two; more threads than that share them */

struct stripe {
    /* The next position of the slice; written by every taker, alone on its
     * line. */
    _Alignas(RING_LINE) _Atomic uint64_t head;

    /* Only read by takers. */
    _Alignas(RING_LINE) _Atomic uint64_t limit; /* the slice's end; 0: none */
    _Atomic uint64_t base;                      /* of ring_number */
    struct ring_shape shape; /* that of a slice within one run has no gap;
                                windows are in the base */
    atomic_flag is_held;     /* by who gives it a slice, or takes it away */
};

struct stripes {
    struct stripe stripes[STRIPES];
    _Atomic uint64_t slice; /* numbers of a slice; 0: stripes are closed */
    enum ring_part part;    /* of which a slice is */
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

/* The stripe of this thread. All begin with the first one, which is never
 * filled; who finds it empty gets another. */
extern _Thread_local uint32_t stripe_mine
    __attribute__((tls_model("initial-exec")));

/* Of stripes_take, where a slice is of several runs. */
static inline bool stripe_take_of_runs(struct stripe *stripe, uint64_t limit,
                                       uint64_t base, int64_t *out)
{
    const struct ring_shape shape = stripe->shape;
    const uint64_t position =
        atomic_fetch_add_explicit(&stripe->head, 1, memory_order_relaxed);

    if (position >= limit)
        return false;
    *out = ring_number_of_window(shape, base, position);
    return true;
}

/*
 * Takes one number of the thread's stripe; false if there is none.
 *
 * A position is the taker's alone if it is below `limit`. Then `base` is of
 * the same slice: it is written before the limit of its slice, whose release
 * pairs with the acquire here; and a later slice is put in only when the head
 * has passed this limit, which is before who reads its base adds to the head.
 * A position at or past the limit is nobody's; where it is of a later slice,
 * it is a gap. The add itself orders nothing.
 */
static inline bool stripes_take(struct stripes *stripes, int64_t *out)
{
    struct stripe *stripe = &stripes->stripes[stripe_mine];
    const uint64_t limit =
        atomic_load_explicit(&stripe->limit, memory_order_acquire);
    const uint64_t base =
        atomic_load_explicit(&stripe->base, memory_order_acquire);
    uint64_t position;

    if (UNLIKELY(stripe->shape.gap != 0))
        return stripe_take_of_runs(stripe, limit, base, out);
    position =
        atomic_fetch_add_explicit(&stripe->head, 1, memory_order_relaxed);
    if (UNLIKELY(position >= limit))
        return false;
    *out = (int64_t)(base + position);
    return true;
}
