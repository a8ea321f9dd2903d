/* SPDX-License-Identifier: Apache-2.0 */
/* Which numbers a block has, and how two blocks lie to each other. */
#include <stdlib.h>

#include "queue/flusher/block.h"
#include "support/test.h"

#define KEY64 "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ.:"

/* Partition 2 of four, runs of 8: 5 * 32 + 2 * 8 and on. */
#define FIRST (INT64_C(5) * 32 + 16)

static struct spool_block block_of(int64_t first, int64_t length)
{
    return (struct spool_block){.key = "order",
                                .bits = 2,
                                .memory_bits = 3,
                                .first = first,
                                .length = length};
}

TEST(partition_is_that_of_the_number)
{
    for (int32_t i = 0; i < 4; i++) {
        const struct spool_block block = block_of(160 + 8 * i + 7, 1);

        assert_int_equal(spool_block_partition(&block), i);
    }
}

static const struct {
    const char *name;
    struct spool_block block;
    bool is_sane;
} sanities[] = {
    {"a run", {"order", 0, 2, 3, FIRST, 8}, true},
    {"the rest of a run", {"order", 0, 2, 3, FIRST + 7, 1}, true},
    {"the first number of all", {"order", 0, 2, 3, 32, 1}, true},
    {"a counter of 0", {"order", 0, 2, 3, 31, 1}, false},
    {"nothing", {"order", 0, 2, 3, FIRST, 0}, false},
    {"less than nothing", {"order", 0, 2, 3, FIRST, -1}, false},
    {"a negative number", {"order", 0, 2, 3, -FIRST, 1}, false},
    {"the last number of all", {"order", 0, 2, 3, INT64_MAX, 1}, true},
    {"beyond the last", {"order", 0, 2, 3, INT64_MAX, 2}, false},
    {"all of a partition", {"order", 0, 0, 0, 1, INT64_MAX}, true},
    {"more than all", {"order", 0, 0, 0, 2, INT64_MAX}, false},
    {"a key that is none", {"or/der", 0, 2, 3, FIRST, 1}, false},
    {"no key", {"", 0, 2, 3, FIRST, 1}, false},
    {"the longest key", {KEY64, 0, 2, 3, FIRST, 1}, true},
    {"a longer key", {KEY64 "x", 0, 2, 3, FIRST, 1}, false},
    {"too many memory bits", {"order", 0, 2, 21, INT64_MAX / 2, 1}, false},
    {"the most bits", {"order", 0, 6, 20, INT64_MAX / 2, 1}, true},
    {"negative memory bits", {"order", 0, 2, -1, FIRST, 1}, false},
    {"too many partitions", {"order", 0, 7, 3, INT64_MAX / 2, 1}, false},
};

TEST(block_is_sane_if_such_numbers_can_be)
{
    for (size_t i = 0; i < sizeof sanities / sizeof sanities[0]; i++) {
        if (spool_block_is_sane(&sanities[i].block) != sanities[i].is_sane)
            fail_msg("%s", sanities[i].name);
    }
}

/* The number that comes `n` after one of partition 2. */
static int64_t number_after(int64_t number, int64_t n)
{
    const int64_t at = (number >> 5 << 3 | (number & 7)) + n;

    return at >> 3 << 5 | 2 << 3 | (at & 7);
}

/* Windows of 4 runs of 8, in each of four partitions. */
static void expect_cut(struct spool_block rest)
{
    int64_t first = rest.first;
    int64_t left = rest.length;

    while (rest.length > 0) {
        const struct spool_block part = spool_block_cut(&rest, 2);

        assert_int_equal(part.first, first);
        assert_int_equal(number_after(first, part.length - 1) >> 7, first >> 7);
        first = number_after(first, part.length);
        left -= part.length;
        assert_int_equal(rest.length, left);
        /* All of the window, but for the last part. */
        assert_true(left == 0 || first >> 7 == (part.first >> 7) + 1);
    }
    assert_int_equal(left, 0);
}

TEST(block_is_cut_at_the_ends_of_windows)
{
    for (int64_t skip = 0; skip < 32; skip++) {
        for (int64_t length = 1; length < 100; length++)
            expect_cut(block_of(number_after(FIRST, skip), length));
    }
}

TEST(nothing_comes_after_the_last_number)
{
    struct spool_block rest = {"order", 0, 0, 0, INT64_MAX - 1, 2};
    const struct spool_block part = spool_block_cut(&rest, 2);

    assert_int_equal(part.length, 2);
    assert_int_equal(rest.length, 0);
    assert_true(rest.first > 0);
}

/* Of one sequence, in one partition of four. */
#define A "a", 0, 2, 3

static const struct {
    const char *name;
    struct spool_block a;
    struct spool_block b;
    enum spool_meeting meeting;
} meetings[] = {
    {"the same", {A, FIRST, 8}, {A, FIRST, 8}, SPOOL_CROSSED},
    {"the next run", {A, FIRST, 8}, {A, FIRST + 32, 8}, SPOOL_JOINED},
    {"of an odd partition",
     {A, FIRST + 8, 8},
     {A, FIRST + 40, 8},
     SPOOL_JOINED},
    {"the run after that", {A, FIRST, 8}, {A, FIRST + 64, 8}, SPOOL_APART},
    {"in the same run", {A, FIRST, 3}, {A, FIRST + 3, 5}, SPOOL_JOINED},
    {"a number in common", {A, FIRST, 4}, {A, FIRST + 3, 5}, SPOOL_CROSSED},
    {"in common over runs",
     {A, FIRST + 5, 12},
     {A, FIRST + 64, 1},
     SPOOL_CROSSED},
    {"joined over runs", {A, FIRST + 5, 11}, {A, FIRST + 64, 1}, SPOOL_JOINED},
    {"out of order", {A, FIRST + 32, 8}, {A, FIRST, 8}, SPOOL_CROSSED},
    {"another partition", {A, FIRST, 80}, {A, FIRST + 8, 8}, SPOOL_APART},
    {"another sequence", {A, FIRST, 8}, {"b", 0, 2, 3, FIRST, 8}, SPOOL_APART},
    {"another pool", {A, FIRST, 8}, {"a", 1, 2, 3, FIRST, 8}, SPOOL_APART},
    {"pools out of order",
     {"a", 1, 2, 3, FIRST, 8},
     {"b", 0, 2, 3, FIRST, 8},
     SPOOL_CROSSED},
    {"other memory bits",
     {A, FIRST, 8},
     {"a", 0, 2, 4, 1024, 8},
     SPOOL_CROSSED},
    {"the ends of all",
     {"a", 0, 0, 0, 1, INT64_MAX - 1},
     {"a", 0, 0, 0, INT64_MAX, 1},
     SPOOL_JOINED},
};

TEST(blocks_meet_where_their_numbers_do)
{
    for (size_t i = 0; i < sizeof meetings / sizeof meetings[0]; i++) {
        if (spool_block_meet(&meetings[i].a, &meetings[i].b) !=
            meetings[i].meeting)
            fail_msg("%s", meetings[i].name);
    }
}

TEST(sorted_blocks_are_in_order)
{
    struct spool_block blocks[] = {
        {"b", 0, 2, 3, FIRST, 8},       {"a", 1, 2, 3, FIRST, 8},
        {"a", 0, 2, 3, FIRST + 72, 8},  {"a", 0, 2, 3, FIRST + 8, 8},
        {"a", 0, 2, 3, FIRST + 640, 8}, {"a", 0, 2, 3, FIRST, 8},
    };
    const size_t count = sizeof blocks / sizeof blocks[0];

    qsort(blocks, count, sizeof blocks[0], spool_block_compare);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(spool_block_meet(&blocks[i - 1], &blocks[i]),
                         SPOOL_APART);
}
