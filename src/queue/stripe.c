/* SPDX-License-Identifier: Apache-2.0 */
/* Gives slices to stripes, and takes them away. */
#include "queue/stripe.h"

#include "platform/barrier.h"
#include "platform/thread.h"

/* If a run has at least this many numbers, a slice is within one run. Its
 * numbers are then contiguous, which is the fastest case. */
#define LONG_RUN 256

#define HELD_AGAIN_US 20 /* between two attempts to hold a stripe */

struct stripes *stripes_init(void *memory, const struct ring *ring)
{
    struct stripes *stripes = memory;

    stripes->part =
        ring->shape.run_mask + 1 >= LONG_RUN ? RING_RUN : RING_WINDOW;
    for (size_t i = 0; i < STRIPES; i++) {
        atomic_flag_clear(&stripes->stripes[i].is_held);
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

/* What is added to a slice's base to get its stripe's base. The shape of a
 * stripe has no windows, and no gap either if a slice is within one run. */
static uint64_t stripe_base(const struct stripe *stripe,
                            struct ring_shape shape, uint64_t position)
{
    const uint64_t base = ring_window_base(shape, position);

    if (stripe->shape.gap != 0)
        return base;
    return base + (position & ~shape.run_mask) * shape.gap;
}

/*
 * The caller holds the stripe, which is used up or was emptied. So a taker that
 * still reads the old limit is past it, whichever base it reads. Takes the
 * slice's first number and leaves the others in the stripe. The release stores
 * pair with the acquire loads of take_shared.
 */
static void stripe_fill(const struct ring *ring, struct stripe *stripe,
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

static bool stripe_is_empty(const struct stripe *stripe)
{
    return atomic_load_explicit(&stripe->head, memory_order_relaxed) >=
           atomic_load_explicit(&stripe->limit, memory_order_relaxed);
}

/*
 * For a stripe that several threads take from. A position belongs to its taker
 * if it is below `limit`, and `limit` is the same before and after. Then `base`
 * belongs to the same slice: it is stored before the limit of its slice, whose
 * release store pairs with the acquire load here. A later slice is put in only
 * after the head has passed this limit, or after the limit was 0.
 */
static bool take_shared(struct stripe *stripe, int64_t *out)
{
    const uint64_t limit =
        atomic_load_explicit(&stripe->limit, memory_order_acquire);
    const uint64_t base =
        atomic_load_explicit(&stripe->base, memory_order_acquire);
    const uint64_t position = atomic_fetch_add(&stripe->head, 1);

    if (position >= limit || atomic_load(&stripe->limit) != limit)
        return false;
    *out = stripe_number(stripe, base, position);
    return true;
}

/* Whether this is a signal handler that interrupted its thread while the thread
 * took from its stripe. */
static bool is_busy(uint32_t index)
{
    return !thread_index_is_shared(index) &&
           !atomic_load_explicit(&thread_index_mine.is_free,
                                 memory_order_relaxed);
}

enum ring_taken stripes_refill(struct stripes *stripes, struct ring *ring,
                               int64_t *out)
{
    const uint64_t count =
        atomic_load_explicit(&stripes->slice, memory_order_relaxed);
    const uint32_t index = thread_index_choose();
    struct stripe *stripe = &stripes->stripes[index];
    enum ring_taken taken;
    struct ring_slice slice;

    if (thread_index_is_shared(index) && take_shared(stripe, out))
        return RING_TAKEN;
    if (count == 0 || is_busy(index) || !stripe_hold(stripe))
        return ring_take(ring, out);
    if (!stripe_is_empty(stripe)) { /* another thread was faster */
        stripe_let_go(stripe);
        return ring_take(ring, out);
    }
    /* Before the slice is taken, so that a thread that drops the ring's numbers
     * and then gathers waits for this stripe, or this slice is a later one. */
    atomic_fetch_or(&stripes->filled, (uint64_t)1 << index);
    taken = ring_take_slice(ring, count, stripes->part, &slice);
    if (taken != RING_EMPTY)
        stripe_fill(ring, stripe, &slice, out);
    stripe_let_go(stripe);
    return taken;
}

/* --- taking away --- */

/* The stripes that one call takes from. */
struct gathering {
    struct stripes *stripes;
    uint64_t held;           /* bit n: this call holds stripe n */
    uint64_t limit[STRIPES]; /* the limit that a held stripe had */
};

/*
 * Holds the stripe, and closes it. Its takers see that behind the barrier at
 * the latest. Only a refill holds a stripe meanwhile, since the caller's lock
 * excludes other gatherers. A refill waits for nothing, but its thread may have
 * lost the processor, perhaps to this one: so this one sleeps.
 */
static void gather_close(struct gathering *gathering, uint32_t index,
                         bool is_patient)
{
    struct stripe *stripe = &gathering->stripes->stripes[index];
    const uint64_t bit = (uint64_t)1 << index;
    bool is_held = stripe_hold(stripe);

    while (!is_held && is_patient) {
        thread_rest_us(HELD_AGAIN_US);
        is_held = stripe_hold(stripe);
    }
    if (!is_held) {
        atomic_fetch_or(&gathering->stripes->filled, bit);
        return;
    }
    if (stripe_is_empty(stripe)) {
        stripe_let_go(stripe);
        return;
    }
    gathering->limit[index] = atomic_exchange(&stripe->limit, 0);
    gathering->held |= bit;
}

/* After the barrier: the positions from the head to the limit belong to the
 * holder. */
static bool gather_read(const struct gathering *gathering,
                        const struct ring *ring, uint32_t index,
                        struct ring_slice *out)
{
    struct stripe *stripe = &gathering->stripes->stripes[index];
    const uint64_t head = atomic_load(&stripe->head);
    const uint64_t limit = gathering->limit[index];

    if (head >= limit)
        return false;
    *out = (struct ring_slice){
        head, limit - head,
        atomic_load_explicit(&stripe->base, memory_order_relaxed)};
    out->base -= stripe_base(stripe, ring->shape, head);
    return true;
}

static uint32_t pop_bit(uint64_t *bits)
{
    const uint32_t index = (uint32_t)__builtin_ctzll(*bits);

    *bits &= *bits - 1;
    return index;
}

/* If the barrier fails, it is not known what the owners of stripes have taken.
 * The rest of their slices is then a gap. */
static size_t gather(struct stripes *stripes, const struct ring *ring,
                     bool is_patient, struct ring_slice *out)
{
    struct gathering gathering = {.stripes = stripes};
    uint64_t filled = atomic_exchange(&stripes->filled, 0);
    bool is_passed;
    size_t n = 0;

    while (filled != 0)
        gather_close(&gathering, pop_bit(&filled), is_patient);
    is_passed = gathering.held != 0 && barrier_all();
    for (uint64_t held = gathering.held; held != 0;) {
        const uint32_t index = pop_bit(&held);

        if (is_passed || thread_index_is_shared(index))
            n += gather_read(&gathering, ring, index, &out[n]);
        stripe_let_go(&stripes->stripes[index]);
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
