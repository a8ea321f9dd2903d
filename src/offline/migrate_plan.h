/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a migration: what a layout could have issued, and how high
 * the next layout's counters must be raised so as to pass it. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How one sequence's numbers are made in one layout of its pool. */
struct migrate_shape {
    int32_t bits;        /* 2^bits partitions */
    int32_t memory_bits; /* of the sequence */
    int32_t window_bits; /* used where a partition is windowed */
    int64_t margin;      /* counter values that a partition may still grant
                            after its counter was looked at */
    int32_t unused_bits; /* high ones, which its numbers leave 0: 10 if they
                            are js_safe */
};

/* The largest counter value of a direct partition, the largest window of a
 * windowed one. */
int64_t migrate_limit(const struct migrate_shape *shape, bool is_windowed);

/*
 * The last number that a partition may ever have issued if its counter stood
 * at `v`: the counter's value, or the highest window leased, whose whole is
 * taken as issued; and with the margin. `v` is 0 ... migrate_limit.
 */
int64_t migrate_last_number(const struct migrate_shape *shape,
                            int32_t partition, bool is_windowed, int64_t v);

/* How high to raise a partition's counter (of values or of windows) so that
 * each number it issues from then on is above `last`. False if no value would
 * be left. */
bool migrate_floor(const struct migrate_shape *shape, bool is_windowed,
                   int64_t last, int64_t *floor);

/*
 * The largest `v` of an old partition whose last number still fits in the new
 * layout, if it has windowed partitions (some of them); -1 if none does.
 */
int64_t migrate_room(const struct migrate_shape *old, bool old_is_windowed,
                     const struct migrate_shape *new_shape,
                     bool new_is_windowed);
