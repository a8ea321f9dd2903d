/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memcached counter as it stands in its item: window * 2K + offset in 64
 * bits, K being the window's size. Offsets from K on are the guard band, which
 * is counted into by those who were late and granted to nobody. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define MEMCACHED_SIZE_MAX      ((int64_t)1 << 40)
#define MEMCACHED_CELL_TEXT_MAX 20 /* digits of 2^64 - 1 */

struct memcached_cell {
    uint64_t value; /* as the store has it */
    int64_t window; /* >= 1 */
    int64_t offset; /* 0 ... 2 * size - 1 */
    int64_t size;   /* a power of two */
};

/* The whole text as an unsigned number as memcached writes it: digits without
 * leading zeros. */
bool memcached_number(const char *text, size_t length, uint64_t *out);

/* The client flags of cells of that size; 0, which no cell has, if it is no
 * power of two up to MEMCACHED_SIZE_MAX. */
uint32_t memcached_cell_flags(int64_t size);

/* The cell at the start of a window. False if no cell has that size, or if the
 * store would wrap to 0 before the window's guard band is full. */
bool memcached_cell_begin(int64_t window, int64_t size,
                          struct memcached_cell *out);

/* False if an item with that value and those flags is no cell of ours. */
bool memcached_cell_read(const char *text, size_t length, uint32_t flags,
                         struct memcached_cell *out);

/*
 * The item's exptime by which the server forgets it after `keep_s`, at a time
 * of `now_s` by its own clock; 0: never. Up to 30 days that is a number of
 * seconds, and else a date, which servers take up to the year 2038: what is to
 * be kept past that is forgotten earlier, but not within 30 days.
 */
int64_t memcached_cell_expiry(int64_t keep_s, int64_t now_s);

/* How far to count for a request of `want` values, on a server of at most so
 * many connections; the cell has values left. */
int64_t memcached_cell_step(const struct memcached_cell *cell, int64_t want,
                            int64_t connections);

/* Whether the guard band holds what `connections` may count at once. */
bool memcached_cell_is_guarded(int64_t size, int64_t connections);

/*
 * What counting by `step` granted, the value being `after` it. SEQB_OK with
 * the block; SEQB_EXHAUSTED if all of it lies in the guard band; SEQB_FENCED
 * if it is not the window any more that `cell` was when it was read.
 */
enum seqb_status memcached_cell_grant(const struct memcached_cell *cell,
                                      int64_t step, uint64_t after,
                                      struct seqb_block *out);
