/* SPDX-License-Identifier: Apache-2.0 */
/* How many numbers a pool can give up to a limit, against counting every
 * number that its counters make. */

#include "number/number.h"
#include "support/test.h"

#define MOST 700 /* the highest limit that is tried */

/* Marks what a partition gives: counter values in their order, each a run. */
static void mark(const struct number_pool *pool, int32_t partition, bool *given)
{
    const bool is_windowed = (pool->windowed >> partition & 1) != 0;
    int64_t v = is_windowed ? (int64_t)1 << pool->window_bits : 1;

    for (;; v++) {
        const int64_t run = (v * ((int64_t)1 << pool->bits) + partition) *
                            ((int64_t)1 << pool->memory_bits);

        if (run > MOST)
            return;
        for (int64_t k = 0; k < (int64_t)1 << pool->memory_bits; k++) {
            if (run + k <= MOST)
                given[run + k] = true;
        }
    }
}

static void compare(const struct number_pool *pool)
{
    bool given[MOST + 1] = {false};
    int64_t count = 0;

    for (int32_t i = 0; i < 1 << pool->bits; i++)
        mark(pool, i, given);
    for (int64_t limit = 0; limit <= MOST; limit++) {
        count += given[limit];
        if (number_capacity(pool, limit) != count)
            fail_msg("bits %d, memory bits %d, windowed %llx of 2^%d: %lld up "
                     "to %lld, counted %lld",
                     (int)pool->bits, (int)pool->memory_bits,
                     (unsigned long long)pool->windowed, (int)pool->window_bits,
                     (long long)number_capacity(pool, limit), (long long)limit,
                     (long long)count);
    }
}

/* Of eight partitions not all sets are tried. */
static void compare_windowed(int32_t bits, int32_t memory_bits)
{
    const uint64_t step = bits == 3 ? 5 : 1;

    for (uint64_t set = 0; set < UINT64_C(1) << (1 << bits); set += step) {
        const struct number_pool pool = {bits, memory_bits, set,
                                         (int32_t)(set % 5)};

        compare(&pool);
    }
}

TEST(every_small_layout_is_counted_right)
{
    for (int32_t bits = 0; bits <= 3; bits++) {
        for (int32_t memory_bits = 0; memory_bits <= 4; memory_bits++)
            compare_windowed(bits, memory_bits);
    }
}

/* What documents and messages say. */
static const struct {
    const char *what;
    struct number_pool pool;
    int64_t limit;
    int64_t room;
} cases[] = {
    {"a dense pool gives all", {0, 0, 0, 20}, 100000, 100000},
    {"a dense pool gives all but 0", {0, 0, 0, 20}, 99999, 99999},
    {"the first run of each partition is 0's", {2, 0, 0, 20}, 100000, 99997},
    {"runs in memory begin with the second", {2, 3, 0, 20}, 100000, 99969},
    {"windows begin beyond it", {0, 0, 1, 20}, 100000, 0},
    {"one of two has windows", {1, 0, 2, 20}, 100000, 50000},
    {"small windows", {0, 0, 1, 8}, 100000, 99745},
    {"one partition of 64", {6, 0, ~UINT64_C(0) << 1, 40}, 127, 1},
    {"no limit", {6, 20, ~UINT64_C(0), 40}, INT64_MAX, INT64_MAX},
    {"nearly none", {0, 0, 0, 20}, INT64_MAX - 1, INT64_MAX - 1},
    {"all of them",
     {6, 20, 0, 20},
     INT64_MAX - 1,
     INT64_MAX - ((INT64_C(1) << 26))},
    {"windows far away", {6, 20, ~UINT64_C(0), 62}, INT64_MAX - 1, 0},
    {"nothing fits", {0, 0, 0, 20}, 0, 0},
};

TEST(known_layouts_have_their_room)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const int64_t room = number_capacity(&cases[i].pool, cases[i].limit);

        if (room != cases[i].room)
            fail_msg("%s: %lld, not %lld", cases[i].what, (long long)room,
                     (long long)cases[i].room);
    }
}
