/* SPDX-License-Identifier: Apache-2.0 */
/* Giving stripes their slices, and taking them away. */
#include "queue/stripe.h"

#include <sched.h>

/* From runs of so many numbers on, a slice is of one run: its numbers are then
 * contiguous, which is the fastest. */
#define LONG_RUN 256

/* Of a stripe that holds nothing: whoever adds to it is past every limit. */
#define HEAD_NONE ((uint64_t)1 << 63)

_Thread_local uint32_t stripe_mine;

/* Stripes are given out in turn to the threads of the process. */
static _Atomic uint32_t stripes_given;

struct stripes *stripes_init(void *memory, const struct ring *ring)
{
    struct stripes *stripes = memory;

    stripes->part =
        ring->shape.run_mask + 1 >= LONG_RUN ? RING_RUN : RING_WINDOW;
    for (size_t i = 0; i < STRIPES; i++) {
        atomic_flag_clear(&stripes->stripes[i].is_held);
        stripes->stripes[i].head = HEAD_NONE;
        if (stripes->part != RING_RUN)
            stripes->stripes[i].shape = ring->shape;
    }
    return stripes;
}

void stripes_set_slice(struct stripes *stripes, uint64_t numbers)
{
    atomic_store_explicit(&stripes->slice, numbers, memory_order_relaxed);
}

static bool stripe_hold(struct stripe *stripe)
{
    return !atomic_flag_test_and_set_explicit(&stripe->is_held,
                                              memory_order_acquire);
}

static void stripe_let_go(struct stripe *stripe)
{
    atomic_flag_clear_explicit(&stripe->is_held, memory_order_release);
}

/* What the base of a slice lacks to be that of its stripe, whose shape knows no
 * windows, and no runs either where a slice is of one. */
static uint64_t stripe_base(const struct stripe *stripe,
                            struct ring_shape shape, uint64_t position)
{
    const uint64_t base = ring_window_base(shape, position);

    if (stripe->shape.gap != 0)
        return base;
    return base + (position & ~shape.run_mask) * shape.gap;
}

/* By who holds the stripe, which is used up: a taker that finds the old limit
 * is past it then, whatever base it finds. Now takes the slice's first number
 * and leaves the others in it. The releases pair with the acquires of
 * stripes_take.
 */
static void stripe_open(const struct ring *ring, struct stripe *stripe,
                        const struct ring_slice *slice, int64_t *out)
{
    const struct ring_shape shape = ring->shape;
    const uint64_t base =
        slice->base + stripe_base(stripe, shape, slice->position);

    atomic_store_explicit(&stripe->base, base, memory_order_release);
    atomic_store_explicit(&stripe->head, slice->position + 1,
                          memory_order_release);
    atomic_store_explicit(&stripe->limit, slice->position + slice->count,
                          memory_order_release);
    *out = ring_number(shape, slice->base, slice->position);
}

/* Whether all of its slice is taken. */
static bool stripe_is_empty(const struct stripe *stripe)
{
    return atomic_load_explicit(&stripe->head, memory_order_relaxed) >=
           atomic_load_explicit(&stripe->limit, memory_order_relaxed);
}

static uint32_t stripe_choose(void)
{
    if (stripe_mine == 0)
        stripe_mine = 1 + atomic_fetch_add_explicit(&stripes_given, 1,
                                                    memory_order_relaxed) %
                              (STRIPES - 1);
    return stripe_mine;
}

enum ring_taken stripes_refill(struct stripes *stripes, struct ring *ring,
                               int64_t *out)
{
    const uint64_t count =
        atomic_load_explicit(&stripes->slice, memory_order_relaxed);
    struct stripe *stripe = &stripes->stripes[stripe_choose()];
    enum ring_taken taken;
    struct ring_slice slice;

    if (count == 0 || !stripe_hold(stripe))
        return ring_take(ring, out);
    if (!stripe_is_empty(stripe)) { /* somebody was faster */
        stripe_let_go(stripe);
        return ring_take(ring, out);
    }
    taken = ring_take_slice(ring, count, stripes->part, &slice);
    if (taken != RING_EMPTY)
        stripe_open(ring, stripe, &slice, out);
    stripe_let_go(stripe);
    return taken;
}

/* By who holds it. Whoever adds to the head from here on is past the limit,
 * and what lies between is the holder's. */
static bool stripe_close(const struct ring *ring, struct stripe *stripe,
                         struct ring_slice *out)
{
    const uint64_t limit =
        atomic_load_explicit(&stripe->limit, memory_order_relaxed);
    const uint64_t head = atomic_exchange_explicit(&stripe->head, HEAD_NONE,
                                                   memory_order_relaxed);

    if (head >= limit)
        return false;
    *out = (struct ring_slice){
        head, limit - head,
        atomic_load_explicit(&stripe->base, memory_order_relaxed)};
    out->base -= stripe_base(stripe, ring->shape, head);
    return true;
}

static size_t gather(struct stripes *stripes, const struct ring *ring,
                     bool is_patient, struct ring_slice *out)
{
    size_t n = 0;

    for (size_t i = 0; i < STRIPES; i++) {
        struct stripe *stripe = &stripes->stripes[i];
        bool is_held = stripe_hold(stripe);

        while (!is_held && is_patient) {
            sched_yield();
            is_held = stripe_hold(stripe);
        }
        if (!is_held)
            continue;
        n += stripe_close(ring, stripe, &out[n]);
        stripe_let_go(stripe);
    }
    return n;
}

size_t stripes_gather(struct stripes *stripes, const struct ring *ring,
                      struct ring_slice *out)
{
    return gather(stripes, ring, false, out);
}

size_t stripes_gather_all(struct stripes *stripes, const struct ring *ring,
                          struct ring_slice *out)
{
    return gather(stripes, ring, true, out);
}
