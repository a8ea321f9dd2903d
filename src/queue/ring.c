/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking from a ring and pushing into it.
 *
 * Why no number is given twice: a thread takes positions by moving the head
 * over them with one compare-and-swap, and the head only grows. A reader knows
 * by the index that all fields it read belong to one segment. What it read
 * stays true, because the fields of a segment never change. An entry is
 * overwritten only after the head has passed the end of its segment, so that
 * no compare-and-swap can take a position of that segment any more.
 *
 * Memory orders: the release store of `newest` pairs with the takers' acquire
 * load, so that the fields of the segment are visible. The release store of
 * each field pairs with its acquire load, so that a reader which sees a field
 * of a later segment also sees that `index` has changed. The release half of
 * the compare-and-swap pairs with the acquire load of `head` in
 * ring_free_blocks, so that the pusher overwrites an entry only after its last
 * read.
 */
#include "queue/ring.h"

#include <assert.h>

#define NEVER_LOW   UINT64_MAX
#define NO_WINDOWS  (UINT64_MAX >> 1) /* a mask above all positions */
#define SEGMENT_MAX 8                 /* segments that one step takes from */

static uint32_t power_of_two(uint32_t n)
{
    uint32_t power = 1;

    while (power < n)
        power <<= 1;
    return power;
}

size_t ring_size(uint32_t segments)
{
    return sizeof(struct ring) +
           power_of_two(segments) * sizeof(struct ring_segment);
}

struct ring *ring_init(void *memory, uint32_t segments, int32_t memory_bits,
                       int32_t partition_bits)
{
    struct ring *ring = memory;

    ring->low = NEVER_LOW;
    ring->shape.run_mask = ((uint64_t)1 << memory_bits) - 1;
    ring->shape.gap = ((uint64_t)1 << partition_bits) - 1;
    ring->shape.window_mask = NO_WINDOWS;
    ring->segment_mask = power_of_two(segments) - 1;
    ring->partition_bits = (uint8_t)partition_bits;
    ring->current = 1;
    ring->is_alive = true;
    return ring;
}

/* A window spans 2^partition_bits times as many numbers as positions. */
void ring_step_windows(struct ring *ring, int32_t window_bits,
                       int32_t lessor_bits)
{
    ring->shape.window_mask =
        (ring->shape.run_mask + 1) * ((uint64_t)1 << window_bits) - 1;
    ring->shape.window_gap = (((uint64_t)1 << lessor_bits) - 1)
                             << ring->partition_bits;
}

/* The first position from `from` on that the number can have. */
static uint64_t position_for(const struct ring *ring, uint64_t number,
                             uint64_t from)
{
    const struct ring_shape shape = ring->shape;
    const uint64_t place = (number & shape.run_mask) |
                           (number >> ring->partition_bits & ~shape.run_mask);
    const uint64_t mask =
        shape.window_gap != 0 ? shape.window_mask : shape.run_mask;

    return from + ((place - from) & mask);
}

/* The base of a segment whose first number is at that position. */
static uint64_t base_for(const struct ring *ring, int64_t first,
                         uint64_t position)
{
    return (uint64_t)first - (uint64_t)ring_number(ring->shape, 0, position);
}

int64_t ring_number_after(const struct ring *ring, int64_t first, uint64_t n)
{
    const uint64_t at = position_for(ring, (uint64_t)first, 0);

    return ring_number(ring->shape, base_for(ring, first, at), at + n);
}

/* A copy of a segment's fields, all read with the same index. */
struct segment {
    uint64_t index;
    uint64_t start;
    uint64_t end;
    uint64_t base;
};

/* Reads the segment of an index up to `newest`. False if its entry already
 * holds a later segment: then the head has passed this one. */
static inline bool segment_read(const struct ring *ring, uint64_t index,
                                struct segment *out)
{
    const struct ring_segment *entry =
        &ring->segments[index & ring->segment_mask];

    out->index = index;
    out->start = atomic_load_explicit(&entry->start, memory_order_acquire);
    out->end = atomic_load_explicit(&entry->end, memory_order_acquire);
    out->base = atomic_load_explicit(&entry->base, memory_order_acquire);
    return atomic_load_explicit(&entry->index, memory_order_relaxed) == index;
}

/* Finds the first segment from `index` on that has a position at or after
 * `*head`. Raises `*head` to its start. */
static inline bool segment_find(const struct ring *ring, uint64_t index,
                                uint64_t *head, struct segment *out)
{
    const uint64_t newest =
        atomic_load_explicit(&ring->newest, memory_order_acquire);

    for (; index <= newest; index++) {
        if (!segment_read(ring, index, out) || out->end <= *head)
            continue;
        if (out->start > *head)
            *head = out->start;
        return true;
    }
    return false;
}

/* Where a search begins. A stale hint costs a few more steps. */
static uint64_t ring_hint(const struct ring *ring)
{
    return atomic_load_explicit(&ring->current, memory_order_relaxed);
}

static void ring_set_hint(struct ring *ring, uint64_t index)
{
    if (ring_hint(ring) < index)
        atomic_store_explicit(&ring->current, index, memory_order_relaxed);
}

/* The step that takes positions. */
static bool head_move(struct ring *ring, uint64_t *from, uint64_t to)
{
    return atomic_compare_exchange_weak_explicit(
        &ring->head, from, to, memory_order_acq_rel, memory_order_acquire);
}

static enum ring_taken low_or_taken(const struct ring *ring, uint64_t from,
                                    uint64_t to)
{
    const uint64_t low = atomic_load_explicit(&ring->low, memory_order_relaxed);

    return low - from < to - from ? RING_TAKEN_LOW : RING_TAKEN;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Positions from `at` to the end of its run. */
static uint64_t left_of_run(const struct ring *ring, uint64_t at)
{
    return ring->shape.run_mask + 1 - (at & ring->shape.run_mask);
}

uint64_t ring_left_of_window(const struct ring *ring, uint64_t position)
{
    return ring->shape.window_mask + 1 - (position & ring->shape.window_mask);
}

static uint64_t left_of(const struct ring *ring, enum ring_part part,
                        uint64_t at)
{
    if (part == RING_SEGMENT)
        return UINT64_MAX;
    return part == RING_RUN ? left_of_run(ring, at)
                            : ring_left_of_window(ring, at);
}

enum ring_taken ring_take_slice(struct ring *ring, uint64_t count,
                                enum ring_part part, struct ring_slice *out)
{
    uint64_t head = ring_head(ring);
    struct segment segment;
    uint64_t at;
    uint64_t n;

    do {
        at = head;
        if (!segment_find(ring, ring_hint(ring), &at, &segment))
            return RING_EMPTY;
        n = min_of(count, segment.end - at);
        n = min_of(n, left_of(ring, part, at));
    } while (!head_move(ring, &head, at + n));
    ring_set_hint(ring, segment.index);
    *out = (struct ring_slice){at, n, segment.base};
    return low_or_taken(ring, head, at + n);
}

enum ring_taken ring_take(struct ring *ring, int64_t *out)
{
    uint64_t head = ring_head(ring);
    struct segment segment;
    uint64_t at;

    do {
        at = head;
        if (!segment_find(ring, ring_hint(ring), &at, &segment))
            return RING_EMPTY;
    } while (!head_move(ring, &head, at + 1));
    ring_set_hint(ring, segment.index);
    *out = ring_number(ring->shape, segment.base, at);
    return low_or_taken(ring, head, at + 1);
}

/* Collects up to `count` positions from `*at` on as slices, and moves `*at`
 * behind them. `*hint` is the segment where the search begins, and becomes the
 * last one. */
static size_t plan_slices(const struct ring *ring, uint64_t *at, uint64_t *hint,
                          size_t count, struct ring_slice *slices)
{
    struct segment segment;
    size_t n = 0;

    while (n < SEGMENT_MAX && count > 0 &&
           segment_find(ring, *hint, at, &segment)) {
        const uint64_t part = min_of(count, segment.end - *at);

        slices[n++] = (struct ring_slice){*at, part, segment.base};
        *hint = segment.index;
        *at += part;
        count -= part;
    }
    return n;
}

/* Positions from `at` on whose numbers are contiguous. If there is only one
 * partition, the runs follow each other. */
static uint64_t contiguous_from(const struct ring *ring, uint64_t at)
{
    return ring->shape.gap == 0 ? ring_left_of_window(ring, at)
                                : left_of_run(ring, at);
}

/* Writes a slice that is within one window and has the window's base. */
static int64_t *write_runs(const struct ring *ring,
                           const struct ring_slice *slice, int64_t *out)
{
    uint64_t at = slice->position;
    uint64_t left = slice->count;

    while (left > 0) {
        const int64_t first =
            ring_number_of_window(ring->shape, slice->base, at);
        const uint64_t n = min_of(left, contiguous_from(ring, at));

        for (uint64_t i = 0; i < n; i++)
            out[i] = first + (int64_t)i;
        out += n;
        at += n;
        left -= n;
    }
    return out;
}

static int64_t *write_numbers(const struct ring *ring,
                              const struct ring_slice *slice, int64_t *out)
{
    struct ring_slice rest = *slice;

    while (rest.count > 0) {
        const struct ring_slice part = {
            rest.position,
            min_of(rest.count, ring_left_of_window(ring, rest.position)),
            rest.base + ring_window_base(ring->shape, rest.position)};

        out = write_runs(ring, &part, out);
        rest.position += part.count;
        rest.count -= part.count;
    }
    return out;
}

enum ring_taken ring_take_many(struct ring *ring, size_t count, int64_t *out,
                               size_t *taken)
{
    struct ring_slice slices[SEGMENT_MAX];
    uint64_t head = ring_head(ring);
    int64_t *end = out;
    uint64_t hint;
    uint64_t at;
    size_t n;

    *taken = 0;
    do {
        at = head;
        hint = ring_hint(ring);
        n = plan_slices(ring, &at, &hint, count, slices);
        if (n == 0)
            return RING_EMPTY;
    } while (!head_move(ring, &head, at));
    ring_set_hint(ring, hint);
    for (size_t i = 0; i < n; i++)
        end = write_numbers(ring, &slices[i], end);
    *taken = (size_t)(end - out);
    return low_or_taken(ring, head, at);
}

/* Moves `*at` to the next place where a segment has `count` contiguous
 * positions left in a run. */
static bool find_run(const struct ring *ring, uint64_t count, uint64_t *at,
                     struct segment *segment)
{
    uint64_t index = ring_hint(ring);

    while (segment_find(ring, index, at, segment)) {
        if (left_of_run(ring, *at) < count)
            *at += left_of_run(ring, *at);
        if (*at < segment->end && segment->end - *at >= count)
            return true;
        *at = segment->end;
        index = segment->index + 1;
    }
    return false;
}

enum ring_taken ring_take_run(struct ring *ring, uint64_t count, int64_t *first)
{
    uint64_t head = ring_head(ring);
    struct segment segment;
    uint64_t at;

    assert(count >= 1);
    assert(count <= ring->shape.run_mask + 1 || !ring->is_alive);
    do {
        at = head;
        if (!find_run(ring, count, &at, &segment))
            return RING_EMPTY;
    } while (!head_move(ring, &head, at + count));
    ring_set_hint(ring, segment.index);
    *first = ring_number(ring->shape, segment.base, at);
    return low_or_taken(ring, head, at + count);
}

void ring_skip_short(struct ring *ring, uint64_t count)
{
    uint64_t head = ring_head(ring);
    struct segment segment;
    uint64_t at;

    do {
        at = head;
        if (find_run(ring, count, &at, &segment))
            return;
    } while (!head_move(ring, &head, at));
}

uint64_t ring_stock(const struct ring *ring)
{
    const uint64_t newest =
        atomic_load_explicit(&ring->newest, memory_order_acquire);
    const uint64_t head = ring_head(ring);
    struct segment segment;
    uint64_t stock = 0;

    for (uint64_t index = ring_hint(ring); index <= newest; index++) {
        if (!segment_read(ring, index, &segment) || segment.end <= head)
            continue;
        stock += segment.end - (segment.start > head ? segment.start : head);
    }
    return stock;
}

/* The end of the newest segment, where the next one may begin. */
static uint64_t ring_tail(const struct ring *ring)
{
    const uint64_t newest =
        atomic_load_explicit(&ring->newest, memory_order_relaxed);
    struct segment segment;

    return newest > 0 && segment_read(ring, newest, &segment) ? segment.end : 0;
}

uint32_t ring_free_blocks(const struct ring *ring)
{
    const uint64_t newest =
        atomic_load_explicit(&ring->newest, memory_order_relaxed);
    const uint64_t head = ring_head(ring);
    uint64_t room = ring->segment_mask + 1;
    struct segment segment;

    /* The head passes segments in order, so the first one that is used up ends
     * the search. */
    for (uint64_t index = newest; index > 0 && room > 0; index--, room--) {
        if (!segment_read(ring, index, &segment) || segment.end <= head)
            break;
    }
    return (uint32_t)room;
}

/* The line of a busy ring's head is not written again. */
static void rest_end(struct ring *ring)
{
    if (atomic_load_explicit(&ring->rest.head, memory_order_relaxed) !=
        RING_IN_USE)
        atomic_store_explicit(&ring->rest.head, RING_IN_USE,
                              memory_order_relaxed);
}

/* As for the fields of a segment, the release stores pair with the acquire
 * loads of ring_rests: a reader of a later count also sees that `head` has
 * changed. */
void ring_note_rest(struct ring *ring, uint64_t head, int64_t stock,
                    int64_t taken)
{
    struct ring_rest *rest = &ring->rest;

    if (head != ring_head(ring) ||
        head == atomic_load_explicit(&rest->head, memory_order_relaxed))
        return;
    atomic_store_explicit(&rest->head, RING_IN_USE, memory_order_relaxed);
    atomic_store_explicit(&rest->stock, stock, memory_order_release);
    atomic_store_explicit(&rest->taken, taken, memory_order_release);
    atomic_store_explicit(&rest->head, head, memory_order_release);
}

bool ring_push(struct ring *ring, int64_t first, uint64_t count)
{
    const uint64_t index =
        atomic_load_explicit(&ring->newest, memory_order_relaxed) + 1;
    struct ring_segment *entry = &ring->segments[index & ring->segment_mask];
    uint64_t start = ring_tail(ring);
    uint64_t base;

    assert(count > 0);
    if (ring_free_blocks(ring) == 0)
        return false;
    rest_end(ring);
    start = position_for(ring, (uint64_t)first, start);
    base = base_for(ring, first, start);
    atomic_store_explicit(&entry->index, 0, memory_order_relaxed);
    atomic_store_explicit(&entry->start, start, memory_order_release);
    atomic_store_explicit(&entry->end, start + count, memory_order_release);
    atomic_store_explicit(&entry->base, base, memory_order_release);
    atomic_store_explicit(&entry->index, index, memory_order_relaxed);
    atomic_store_explicit(&ring->newest, index, memory_order_release);
    return true;
}

/* The position whose taker leaves `stock` numbers. */
static uint64_t find_low(const struct ring *ring, uint64_t stock)
{
    const uint64_t head = ring_head(ring);
    uint64_t index = atomic_load_explicit(&ring->newest, memory_order_relaxed);
    struct segment segment;

    if (stock == 0)
        return NEVER_LOW;
    for (; segment_read(ring, index, &segment); index--) {
        const uint64_t count = segment.end - segment.start;

        if (segment.end <= head + (stock < count ? stock : 0))
            break;
        if (stock < count)
            return segment.end - stock - 1;
        stock -= count;
    }
    return NEVER_LOW;
}

/* Relaxed: if a taker misses a new mark, the next poll makes up for it. */
void ring_set_low(struct ring *ring, uint64_t stock)
{
    atomic_store_explicit(&ring->low, find_low(ring, stock),
                          memory_order_relaxed);
}

/* As a taker of all numbers would. */
uint64_t ring_drop(struct ring *ring)
{
    struct ring_slice slice;
    uint64_t dropped = 0;

    while (ring_take_slice(ring, UINT64_MAX, RING_SEGMENT, &slice) !=
           RING_EMPTY)
        dropped += slice.count;
    return dropped;
}
