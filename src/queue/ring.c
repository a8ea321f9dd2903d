/* SPDX-License-Identifier: Apache-2.0 */
/* Making, filling and emptying a ring; ring_take is in the header. */
#include "queue/ring.h"

#include <assert.h>

#include "platform/thread.h"

static uint64_t power_of_two(uint64_t n)
{
    uint64_t power = 1;

    while (power < n)
        power <<= 1;
    return power;
}

struct ring *ring_new(uint64_t runs, int32_t memory_bits)
{
    const uint64_t slots = power_of_two(runs);
    const size_t size = sizeof(struct ring) + slots * sizeof(int64_t);
    struct ring *ring = fork_wiped_new(size);

    if (ring == NULL)
        return NULL;
    ring->low = RING_NEVER_LOW;
    ring->slot_mask = slots - 1;
    ring->run_mask = ((uint64_t)1 << memory_bits) - 1;
    ring->memory_bits = (uint32_t)memory_bits;
    ring->is_alive = true;
    ring->size = size;
    return ring;
}

void ring_free(struct ring *ring)
{
    if (ring != NULL)
        fork_wiped_free(ring, ring->size);
}

/* A run that is partly taken still occupies its slot. The acquire pairs with
 * the takers' release: slots before `head` are read for the last time. */
uint64_t ring_room(const struct ring *ring)
{
    const uint64_t head =
        atomic_load_explicit(&ring->head, memory_order_acquire);
    const uint64_t tail =
        atomic_load_explicit(&ring->tail, memory_order_relaxed);

    return ring->slot_mask + 1 -
           ((tail >> ring->memory_bits) - (head >> ring->memory_bits));
}

uint64_t ring_push(struct ring *ring, int64_t first, int64_t step,
                   uint64_t count)
{
    const uint64_t room = ring_room(ring);
    const uint64_t tail =
        atomic_load_explicit(&ring->tail, memory_order_relaxed);
    const uint64_t begin = tail >> ring->memory_bits;

    if (count > room)
        count = room;
    for (uint64_t i = 0; i < count; i++)
        atomic_store_explicit(&ring->slots[(begin + i) & ring->slot_mask],
                              first + (int64_t)i * step, memory_order_relaxed);
    /* Pairs with the takers' acquire: the slots are filled before. */
    atomic_store_explicit(&ring->tail, tail + (count << ring->memory_bits),
                          memory_order_release);
    return count;
}

uint64_t ring_stock(const struct ring *ring)
{
    const uint64_t head =
        atomic_load_explicit(&ring->head, memory_order_acquire);
    const uint64_t tail =
        atomic_load_explicit(&ring->tail, memory_order_relaxed);

    return tail > head ? tail - head : 0;
}

uint64_t ring_consumed(const struct ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_relaxed);
}

/* Relaxed: a taker that misses a new mark is made good by the next look. */
void ring_set_low(struct ring *ring, uint64_t low)
{
    atomic_store_explicit(&ring->low, low, memory_order_relaxed);
}

/* The orders are those of ring_take. */
static bool head_advance(struct ring *ring, uint64_t *head, uint64_t next)
{
    return atomic_compare_exchange_weak_explicit(
        &ring->head, head, next, memory_order_acq_rel, memory_order_acquire);
}

static int64_t slot_load(const struct ring *ring, uint64_t position)
{
    return atomic_load_explicit(
        &ring->slots[(position >> ring->memory_bits) & ring->slot_mask],
        memory_order_relaxed);
}

static enum ring_taken low_or_taken(const struct ring *ring, uint64_t before,
                                    uint64_t after)
{
    const uint64_t low = atomic_load_explicit(&ring->low, memory_order_relaxed);

    return before > low && after <= low ? RING_TAKEN_LOW : RING_TAKEN;
}

/* Like a taker that takes them all: whoever loaded a slot before fails to
 * advance the head. */
uint64_t ring_drop(struct ring *ring)
{
    const uint64_t tail =
        atomic_load_explicit(&ring->tail, memory_order_relaxed);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

    while (head < tail && !head_advance(ring, &head, tail))
        continue;
    return head < tail ? tail - head : 0;
}

enum ring_taken ring_take_many(struct ring *ring, size_t count, int64_t *out,
                               size_t *taken)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t tail;
    uint64_t n;

    do {
        tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        n = tail > head ? tail - head : 0;
        if (n > count)
            n = count;
        *taken = n;
        if (n == 0)
            return RING_EMPTY;
        for (uint64_t i = 0; i < n; i++)
            out[i] = slot_load(ring, head + i) |
                     (int64_t)((head + i) & ring->run_mask);
    } while (!head_advance(ring, &head, head + n));
    return low_or_taken(ring, tail - head, tail - head - n);
}

enum ring_taken ring_take_run(struct ring *ring, uint64_t count, int64_t *first)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t tail;
    uint64_t start;

    assert(count >= 1);
    assert(count <= ring->run_mask + 1 || !ring->is_alive);
    do {
        tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        start = head;
        if ((start & ring->run_mask) + count > ring->run_mask + 1)
            start = (start | ring->run_mask) + 1;
        if (start + count > tail)
            return RING_EMPTY;
        *first = slot_load(ring, start) | (int64_t)(start & ring->run_mask);
    } while (!head_advance(ring, &head, start + count));
    return low_or_taken(ring, tail - head, tail - start - count);
}
