/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memcached counter as it is in its item: window * 2K + offset in 64 bits,
 * where K is the window's size. Offsets from K on are the guard band: late
 * brokers count into it, and it is granted to nobody. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define MEMCACHED_SIZE_MAX      ((int64_t)1 << 40)
#define MEMCACHED_CELL_TEXT_MAX 20 /* digits of 2^64 - 1 */

struct memcached_cell {
    uint64_t value; /* as in the store */
    int64_t window; /* >= 1 */
    int64_t offset; /* 0 ... 2 * size - 1 */
    int64_t size;   /* a power of two */
};

/* Parses the whole text as an unsigned number in memcached's form: digits
 * without leading zeros. */
bool memcached_number(const char *text, size_t length, uint64_t *out);

/* The client flags of cells of that size. 0, which no cell has, if the size is
 * not a power of two up to MEMCACHED_SIZE_MAX. */
uint32_t memcached_cell_flags(int64_t size);

/* The cell at the start of a window. False if no cell can have that size, or if
 * the value would wrap to 0 before the window's guard band is full. */
bool memcached_cell_begin(int64_t window, int64_t size,
                          struct memcached_cell *out);

/* False if an item with that value and those flags is not one of our cells. */
bool memcached_cell_read(const char *text, size_t length, uint32_t flags,
                         struct memcached_cell *out);

/*
 * The item's exptime with which the server deletes it after `keep_s`, if the
 * server's clock is at `now_s`; 0: never. Up to 30 days, exptime is a number of
 * seconds; beyond, it is a date, which servers accept up to the year 2038. An
 * item that should be kept past 2038 is deleted earlier, but not within 30
 * days.
 */
int64_t memcached_cell_expiry(int64_t keep_s, int64_t now_s);

/* The step for a request of `want` values, on a server with at most
 * `connections` connections; the cell must have values left. */
int64_t memcached_cell_step(const struct memcached_cell *cell, int64_t want,
                            int64_t connections);

/* Whether the guard band is large enough for what `connections` may count at
 * the same time. */
bool memcached_cell_is_guarded(int64_t size, int64_t connections);

/*
 * What an increment by `step` granted if the value is `after` it. SEQB_OK with
 * the block; SEQB_EXHAUSTED if all of it is in the guard band; SEQB_FENCED if
 * the window is no longer the one that `cell` had when it was read.
 */
enum seqb_status memcached_cell_grant(const struct memcached_cell *cell,
                                      int64_t step, uint64_t after,
                                      struct seqb_block *out);
