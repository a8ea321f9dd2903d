/* SPDX-License-Identifier: Apache-2.0 */
/* How many numbers up to a limit a pool can issue. A number is ((v << bits) |
 * partition) << memory_bits | k (docs/architecture.md); the limit's v follows
 * from that. It counts each partition; there are at most 64. */
#include <assert.h>

#include "number/number.h"

/* How many numbers the run of the last counter value has within the limit. */
static int64_t rest_of(int64_t rest, int64_t run)
{
    if (rest < 0)
        return 0;
    return rest < run ? rest : run;
}

/* How many numbers a partition has whose first counter value is `first`. */
static int64_t partition_capacity(const struct number_pool *pool,
                                  int32_t partition, int64_t first,
                                  int64_t limit)
{
    const int32_t low_bits = pool->bits + pool->memory_bits;
    const int64_t run = (int64_t)1 << pool->memory_bits;
    const int64_t last = limit >> low_bits; /* counter value of the limit */
    const int64_t low = limit & (((int64_t)1 << low_bits) - 1);

    if (last < first)
        return 0;
    return (last - first) * run + rest_of(low - partition * run + 1, run);
}

int64_t number_capacity(const struct number_pool *pool, int64_t limit)
{
    const int64_t window = (int64_t)1 << pool->window_bits;
    int64_t room = 0;

    assert(pool->window_bits < BITS_ALL);
    if (limit == INT64_MAX)
        return INT64_MAX;
    for (int32_t i = 0; i < 1 << pool->bits && limit > 0; i++) {
        const bool is_windowed = (pool->windowed >> i & 1) != 0;

        room += partition_capacity(pool, i, is_windowed ? window : 1, limit);
    }
    return room;
}
