/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of one sequence fetched ahead. A slot holds the first number of
 * a run of 2^memory_bits; a number is taken by one compare-and-swap of the
 * head. Any thread takes; pushing needs the owner's lock. The memory is zero
 * in a forked child, which reads as an empty ring that is not alive.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_LINE      64 /* bytes of a cache line */
#define RING_NEVER_LOW UINT64_MAX

struct ring {
    /* Numbers taken since the beginning: written by every taker, alone on its
     * line. */
    _Alignas(RING_LINE) _Atomic uint64_t head;

    /* What follows is only read by takers, and seldom written. */
    _Alignas(RING_LINE) _Atomic uint64_t tail; /* numbers pushed */
    _Atomic uint64_t low; /* the taker that leaves so many calls for more */
    uint64_t slot_mask;
    uint64_t run_mask;
    uint32_t memory_bits;
    bool is_alive; /* false in a forked child */
    size_t size;   /* bytes of the mapping */

    _Alignas(RING_LINE) _Atomic int64_t slots[];
};

enum ring_taken {
    RING_EMPTY,
    RING_TAKEN,
    RING_TAKEN_LOW /* taken, and the stock fell to the low-water mark */
};

/* A ring of at least `runs` runs (a power of two is made of it), NULL when out
 * of memory. */
struct ring *ring_new(uint64_t runs, int32_t memory_bits);
void ring_free(struct ring *ring);

/* Pushes the runs first, first + step, ... and returns how many fitted. */
uint64_t ring_push(struct ring *ring, int64_t first, int64_t step,
                   uint64_t count);

/* Runs that fit in now. */
uint64_t ring_room(const struct ring *ring);

/* Numbers that can be taken now, and that were taken so far. */
uint64_t ring_stock(const struct ring *ring);
uint64_t ring_consumed(const struct ring *ring);

void ring_set_low(struct ring *ring, uint64_t low);

/* Drops all that it holds; returns how many numbers. They count as consumed.
 * Needs the owner's lock, as pushing does. */
uint64_t ring_drop(struct ring *ring);

/* Takes up to `count` numbers in one step; `*taken` says how many. */
enum ring_taken ring_take_many(struct ring *ring, size_t count, int64_t *out,
                               size_t *taken);

/* Takes `count` contiguous numbers, at most one run; skips the rest of a run
 * that is too short. */
enum ring_taken ring_take_run(struct ring *ring, uint64_t count,
                              int64_t *first);

/*
 * Takes one number. Orders: the acquire of `tail` pairs with ring_push's
 * release, so that the slot is filled; the release half of the swap keeps the
 * load of the slot before it, and pairs with ring_push's acquire of `head`, so
 * that no slot is filled again while it is read; the acquire of `head` makes
 * the tail that its last taker saw visible, so that a head past a stale tail
 * is not taken for an empty ring. A slot that was overwritten after `head` was
 * loaded is never used: then the swap fails, since `head` only grows.
 */
static inline enum ring_taken ring_take(struct ring *ring, int64_t *out)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t tail;
    int64_t first;

    do {
        tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (head >= tail)
            return RING_EMPTY;
        first = atomic_load_explicit(
            &ring->slots[(head >> ring->memory_bits) & ring->slot_mask],
            memory_order_relaxed);
    } while (!atomic_compare_exchange_weak_explicit(
        &ring->head, &head, head + 1, memory_order_acq_rel,
        memory_order_acquire));
    *out = first | (int64_t)(head & ring->run_mask);
    return tail - head - 1 ==
                   atomic_load_explicit(&ring->low, memory_order_relaxed)
               ? RING_TAKEN_LOW
               : RING_TAKEN;
}
