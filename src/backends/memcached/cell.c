/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows, offsets and the guard band of memcached counters.
 *
 * Why no increment leaves its window. memcached cannot stop at K by itself: a
 * call reads the cell, and increments only if the offset is below K, so every
 * increment past K follows such a read. Each connection has at most one
 * increment in progress for a counter, whether its broker still waits for the
 * answer or has given up: the server has at most C connections, and an
 * increment is sent only on a connection that has answered before. So once the
 * offset has reached K, from at most K - 1, it grows by at most C increments of
 * at most max(1, K / C) each. With C <= K the sum is at most K, and the last
 * offset is 2K - 1.
 */
#include "backends/memcached/cell.h"

#include "platform/minmax.h"

/* In the client flags, together with the size's logarithm. Items of other
 * clients have 0 there or small marks of their own. */
#define CELL_MARK 0x73710000U

#define EXPIRY_SPAN ((int64_t)30 * 24 * 3600) /* s; above it is a date */
#define EXPIRY_MAX  INT32_MAX

bool memcached_number(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;

    if (length == 0 || (length > 1 && text[0] == '0'))
        return false;
    for (size_t i = 0; i < length; i++) {
        const int digit = text[i] - '0';

        if (digit < 0 || digit > 9)
            return false;
        if (value > (UINT64_MAX - (uint64_t)digit) / 10)
            return false;
        value = value * 10 + (uint64_t)digit;
    }
    *out = value;
    return true;
}

uint32_t memcached_cell_flags(int64_t size)
{
    uint32_t bits = 0;

    if (size < 1 || size > MEMCACHED_SIZE_MAX || (size & (size - 1)) != 0)
        return 0;
    while ((int64_t)1 << bits < size)
        bits++;
    return CELL_MARK | bits;
}

static void cell_set(struct memcached_cell *cell, uint64_t value, int64_t size)
{
    const uint64_t span = 2 * (uint64_t)size;

    *cell = (struct memcached_cell){.value = value,
                                    .window = (int64_t)(value / span),
                                    .offset = (int64_t)(value % span),
                                    .size = size};
}

bool memcached_cell_begin(int64_t window, int64_t size,
                          struct memcached_cell *out)
{
    uint64_t span;

    if (window < 1 || memcached_cell_flags(size) == 0)
        return false;
    span = 2 * (uint64_t)size;
    if ((uint64_t)window > UINT64_MAX / span)
        return false;
    cell_set(out, (uint64_t)window * span, size);
    return true;
}

bool memcached_cell_read(const char *text, size_t length, uint32_t flags,
                         struct memcached_cell *out)
{
    const int64_t size = (int64_t)((uint64_t)1 << (flags & 0x3fU));
    uint64_t value;

    if (memcached_cell_flags(size) != flags ||
        !memcached_number(text, length, &value))
        return false;
    cell_set(out, value, size);
    return out->window >= 1;
}

int64_t memcached_cell_expiry(int64_t keep_s, int64_t now_s)
{
    const int64_t left = EXPIRY_MAX - now_s;

    if (keep_s <= EXPIRY_SPAN)
        return keep_s;
    if (left <= EXPIRY_SPAN)
        return EXPIRY_SPAN;
    return now_s + min_of(keep_s, left);
}

int64_t memcached_cell_step(const struct memcached_cell *cell, int64_t want,
                            int64_t connections)
{
    const int64_t share = cell->size / connections;

    want = min_of(want, cell->size - cell->offset);
    return min_of(want, share > 0 ? share : 1);
}

bool memcached_cell_is_guarded(int64_t size, int64_t connections)
{
    return connections >= 1 && connections <= size;
}

enum seqb_status memcached_cell_grant(const struct memcached_cell *cell,
                                      int64_t step, uint64_t after,
                                      struct seqb_block *out)
{
    struct memcached_cell start;

    if (after < (uint64_t)step || after - (uint64_t)step < cell->value)
        return SEQB_FENCED;
    cell_set(&start, after - (uint64_t)step, cell->size);
    if (start.window != cell->window)
        return SEQB_FENCED;
    if (start.offset >= cell->size)
        return SEQB_EXHAUSTED;
    *out = (struct seqb_block){
        .first = start.offset,
        .count = min_of(step, cell->size - start.offset),
    };
    return SEQB_OK;
}
