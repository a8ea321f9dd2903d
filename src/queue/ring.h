/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of one sequence that were fetched ahead, as a few segments. Each
 * segment is a grant or the rest of one. Every number has a position. Positions
 * only grow, and none is used twice. Taking one number or many is one
 * compare-and-swap of the head. Any thread may take; all other changes of the
 * ring need the owner's lock. In a forked child the memory is zero, which reads
 * as an empty ring that is not alive.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_LINE 64 /* bytes of a cache line */

/*
 * How a position is mapped to its number. The numbers of a run of 2^memory_bits
 * are contiguous, and the low memory_bits of a position are those of its
 * number. The next run of a segment begins 2^partition_bits runs further. If
 * one grant may hold several windows, the position also gives the run's place
 * in its window, and the next window begins 2^lessor_bits windows further. All
 * arithmetic is modulo 2^64.
 */
struct ring_shape {
    uint64_t run_mask;    /* 2^memory_bits - 1 */
    uint64_t gap;         /* 2^partition_bits - 1: runs of other partitions
                             between two runs */
    uint64_t window_mask; /* positions of a window - 1 */
    /* What the windows of other lessors in between add to a number, for each
     * position of a window; 0: a grant is within one window. */
    uint64_t window_gap;
};

/* What the windows of other lessors add to the numbers of a position's
 * window. */
static inline uint64_t ring_window_base(struct ring_shape shape,
                                        uint64_t position)
{
    return (position & ~shape.window_mask) * shape.window_gap;
}

/* The number at a position, given the base of its window. */
static inline int64_t ring_number_of_window(struct ring_shape shape,
                                            uint64_t base, uint64_t position)
{
    return (int64_t)(base + position +
                     (position & ~shape.run_mask) * shape.gap);
}

static inline int64_t ring_number(struct ring_shape shape, uint64_t base,
                                  uint64_t position)
{
    return ring_number_of_window(
        shape, base + ring_window_base(shape, position), position);
}

/*
 * Written by the thread that pushes, read by every taker. An entry of the table
 * is used again when the head has passed its segment. `index` says which
 * segment it holds. A reader loads `index` last: if it is still the expected
 * one, the fields that were read before belong to that segment.
 */
struct ring_segment {
    _Alignas(32) _Atomic uint64_t index; /* 1, 2, ...; 0: being written */
    _Atomic uint64_t start;              /* position of its first number */
    _Atomic uint64_t end;                /* position after its last number */
    _Atomic uint64_t base;               /* of ring_number */
};

/* The counts of a ring that nobody uses, see ring_rests. `head` is where they
 * apply; RING_IN_USE: nowhere. Written with the owner's lock. */
struct ring_rest {
    _Atomic uint64_t head;
    _Atomic int64_t stock;
    _Atomic int64_t taken; /* numbers of the sequence */
};

#define RING_IN_USE UINT64_MAX

struct ring {
    /* The next position to take. Every taker writes it, so nothing that takers
     * only read is on its cache line. The rest of the line is for the counts:
     * of an idle ring, no other line is read. */
    _Alignas(RING_LINE) _Atomic uint64_t head;
    _Atomic int64_t waits; /* calls that found the ring empty */
    struct ring_rest rest;

    /* Takers only read the following, and it seldom changes. */
    _Alignas(RING_LINE) _Atomic uint64_t newest; /* index of the newest segment;
                                                    0: none was pushed */
    _Atomic uint64_t current; /* index of a segment near the head: a hint */
    _Atomic uint64_t low;     /* the taker of this position gets
                                 RING_TAKEN_LOW */
    struct ring_shape shape;
    uint32_t segment_mask;
    uint8_t partition_bits;
    bool is_alive; /* false in a forked child */

    _Alignas(RING_LINE) struct ring_segment segments[];
};

enum ring_taken {
    RING_EMPTY,
    RING_TAKEN,
    RING_TAKEN_LOW /* taken, and the stock fell to the low-water mark */
};

/* Positions that were taken. Only their taker uses them. */
struct ring_slice {
    uint64_t position;
    uint64_t count;
    uint64_t base; /* of ring_number */
};

/* The bytes of a ring with at least this many segments; ring_init makes a ring
 * of them. They must be zero, and in memory that is zero again in a forked
 * child. */
size_t ring_size(uint32_t segments);
struct ring *ring_init(void *memory, uint32_t segments, int32_t memory_bits,
                       int32_t partition_bits);

/* Call it while the ring is empty. From then on a segment may hold several
 * windows of 2^window_bits runs, each 2^lessor_bits windows after the one
 * before. */
void ring_step_windows(struct ring *ring, int32_t window_bits,
                       int32_t lessor_bits);

/* The size of the ring in bytes. */
static inline size_t ring_bytes(const struct ring *ring)
{
    return ring_size(ring->segment_mask + 1);
}

/* The number that is `n` positions after `first` in a segment, and the number
 * of positions from `position` to the end of its window. */
int64_t ring_number_after(const struct ring *ring, int64_t first, uint64_t n);
uint64_t ring_left_of_window(const struct ring *ring, uint64_t position);

/*
 * The functions from here to ring_drop need the owner's lock. Pushes `count`
 * numbers as a segment. The first one may be inside a run, as after a slice was
 * taken. False if no segment is free.
 */
bool ring_push(struct ring *ring, int64_t first, uint64_t count);

/* How many segments can be pushed now. */
uint32_t ring_free_blocks(const struct ring *ring);

/* The taker that leaves `stock` numbers or fewer gets RING_TAKEN_LOW; 0: no
 * taker does. Set it again after a push. If the stock is already that low, no
 * taker gets it: check the stock after the call. */
void ring_set_low(struct ring *ring, uint64_t stock);

/* Notes what ring_rests answers until numbers are taken or pushed. `head` was
 * read before the counts. */
void ring_note_rest(struct ring *ring, uint64_t head, int64_t stock,
                    int64_t taken);

/* Takes all numbers out of the ring, and returns how many. */
uint64_t ring_drop(struct ring *ring);

/* Any thread may call the functions from here on. How many numbers can be taken
 * now. */
uint64_t ring_stock(const struct ring *ring);

static inline uint64_t ring_head(const struct ring *ring)
{
    return atomic_load_explicit(&ring->head, memory_order_acquire);
}

/* Reads the counts of a ring that nobody used since they were noted; false: it
 * was used. The counts of a ring that was never used are 0. */
static inline bool ring_rests(const struct ring *ring, int64_t *stock,
                              int64_t *taken)
{
    const struct ring_rest *rest = &ring->rest;
    const uint64_t head = ring_head(ring);

    if (atomic_load_explicit(&rest->head, memory_order_acquire) != head)
        return false;
    *stock = atomic_load_explicit(&rest->stock, memory_order_acquire);
    *taken = atomic_load_explicit(&rest->taken, memory_order_acquire);
    return atomic_load_explicit(&rest->head, memory_order_relaxed) == head;
}

/* Takes one number. */
enum ring_taken ring_take(struct ring *ring, int64_t *out);

/* Takes up to `count` numbers in one step, from a few segments at most.
 * `*taken` is how many. */
enum ring_taken ring_take_many(struct ring *ring, size_t count, int64_t *out,
                               size_t *taken);

/* Takes `count` contiguous numbers, at most one run. Skips the rest of a run
 * that is too short. */
enum ring_taken ring_take_run(struct ring *ring, uint64_t count,
                              int64_t *first);

/* Skips all numbers of the ring, unless `count` of them are contiguous. */
void ring_skip_short(struct ring *ring, uint64_t count);

/* A slice lies within one of these. */
enum ring_part { RING_SEGMENT, RING_RUN, RING_WINDOW };

/* Takes up to `count` positions within one such part. */
enum ring_taken ring_take_slice(struct ring *ring, uint64_t count,
                                enum ring_part part, struct ring_slice *out);
