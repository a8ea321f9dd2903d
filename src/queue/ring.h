/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of one sequence fetched ahead: a few segments, each a grant or
 * the rest of one. Every number has a position; positions grow for ever and
 * none comes twice. Taking is one compare-and-swap of the head, of one number
 * or of many. Any thread takes; what else changes the ring needs the owner's
 * lock. The memory is zero in a forked child, which reads as an empty ring
 * that is not alive.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_LINE 64 /* bytes of a cache line */

/*
 * The number at a position: numbers of a run of 2^memory_bits are contiguous,
 * its positions agree with them in the lower bits, and the next run of the
 * segment lies 2^partition_bits runs further. Where grants are of several
 * windows, positions agree with the runs' places in their window, too, and the
 * next window lies 2^lessor_bits windows further. All arithmetic is modulo
 * 2^64.
 */
struct ring_shape {
    uint64_t run_mask;    /* 2^memory_bits - 1 */
    uint64_t gap;         /* 2^partition_bits - 1: runs of others in between */
    uint64_t window_mask; /* positions of a window, less one */
    uint64_t window_gap;  /* what windows of others in between add for each
                             position of a window; 0: a grant is of one */
};

/* What it adds to the numbers of a position's window that others have the
 * windows before. */
static inline uint64_t ring_window_base(struct ring_shape shape,
                                        uint64_t position)
{
    return (position & ~shape.window_mask) * shape.window_gap;
}

/* The number at a position, with the base of its window. */
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
 * Written by who pushes, read by every taker. An entry of the table is used
 * again when the head has passed it; `index` says for which segment, and a
 * reader looks at it after the others: what it read is of that segment then.
 */
struct ring_segment {
    _Alignas(32) _Atomic uint64_t index; /* 1, 2, ...; 0: being written */
    _Atomic uint64_t start;              /* position of its first number */
    _Atomic uint64_t end;                /* position after its last number */
    _Atomic uint64_t base;               /* of ring_number */
};

struct ring {
    /* The next position to take: written by every taker, alone on its line. */
    _Alignas(RING_LINE) _Atomic uint64_t head;

    /* What follows is only read by takers, and seldom written. */
    _Alignas(RING_LINE) _Atomic uint64_t newest; /* index; 0: none was pushed */
    _Atomic uint64_t current; /* index of a segment near the head: a hint */
    _Atomic uint64_t low;     /* who takes this position calls for more */
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

/* Positions that were taken and are the taker's alone. */
struct ring_slice {
    uint64_t position;
    uint64_t count;
    uint64_t base; /* of ring_number */
};

/* Bytes of a ring for at least so many segments; they become a ring, and must
 * be zero, in memory that is zero again in a forked child. */
size_t ring_size(uint32_t segments);
struct ring *ring_init(void *memory, uint32_t segments, int32_t memory_bits,
                       int32_t partition_bits);

/* While it is empty: segments may be of several windows of 2^window_bits runs,
 * each 2^lessor_bits windows after the one before. */
void ring_step_windows(struct ring *ring, int32_t window_bits,
                       int32_t lessor_bits);

/* Bytes of it all. */
static inline size_t ring_bytes(const struct ring *ring)
{
    return ring_size(ring->segment_mask + 1);
}

/* The number that comes `n` after `first` in a segment; and how many positions
 * there are from a position to the end of its window. */
int64_t ring_number_after(const struct ring *ring, int64_t first, uint64_t n);
uint64_t ring_left_of_window(const struct ring *ring, uint64_t position);

/*
 * The rest needs the owner's lock, up to ring_drop. Pushes `count` numbers,
 * the first of which may stand within its run, as after a slice; false if
 * there is no segment free.
 */
bool ring_push(struct ring *ring, int64_t first, uint64_t count);

/* Segments that can be pushed now. */
uint32_t ring_free_blocks(const struct ring *ring);

/* The taker that leaves `stock` numbers or less calls for more; 0: none does.
 * To be set again after a push. Who comes late is not called for: look at the
 * stock afterwards. */
void ring_set_low(struct ring *ring, uint64_t stock);

/* Takes all that it holds away; returns how many numbers. */
uint64_t ring_drop(struct ring *ring);

/* Any thread from here on. Numbers that can be taken now. */
uint64_t ring_stock(const struct ring *ring);

/* Takes one number. */
enum ring_taken ring_take(struct ring *ring, int64_t *out);

/* Takes up to `count` numbers in one step, of a few segments at most;
 * `*taken` says how many. */
enum ring_taken ring_take_many(struct ring *ring, size_t count, int64_t *out,
                               size_t *taken);

/* Takes `count` contiguous numbers, at most one run; skips the rest of a run
 * that is too short. */
enum ring_taken ring_take_run(struct ring *ring, uint64_t count,
                              int64_t *first);

/* Of what a slice may not be more than one. */
enum ring_part { RING_SEGMENT, RING_RUN, RING_WINDOW };

/* Takes up to `count` positions of one such part. */
enum ring_taken ring_take_slice(struct ring *ring, uint64_t count,
                                enum ring_part part, struct ring_slice *out);
