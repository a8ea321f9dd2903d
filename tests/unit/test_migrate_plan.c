/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a migration: whatever the two layouts are, each number of
 * the new one lies above each of the old.
 */

#include "offline/migrate.h"
#include "store/layout.h"
#include "support/test.h"

#define MARGIN 1000000

struct change {
    const char *name;
    struct migrate_shape old;
    struct migrate_shape new;
};

/* bits, memory_bits, window_bits, margin, unused_bits, lessor_bits; no width */
static const struct change changes[] = {
    {"nothing, as when the order changes",
     {2, 3, 20, 0, 0, 0, 0},
     {2, 3, 20, 0, 0, 0, 0}},
    {"more partitions", {1, 3, 20, 0, 0, 0, 0}, {2, 3, 20, 0, 0, 0, 0}},
    {"fewer partitions", {2, 3, 20, 0, 0, 0, 0}, {0, 3, 20, 0, 0, 0, 0}},
    {"more memory bits", {1, 3, 20, 0, 0, 0, 0}, {1, 10, 20, 0, 0, 0, 0}},
    {"fewer memory bits", {1, 10, 20, 0, 0, 0, 0}, {1, 0, 20, 0, 0, 0, 0}},
    {"larger windows", {1, 3, 8, 0, 0, 0, 0}, {1, 3, 20, 0, 0, 0, 0}},
    {"smaller windows", {1, 3, 20, 0, 0, 0, 0}, {1, 3, 8, 0, 0, 0, 0}},
    {"all at once", {6, 0, 8, 0, 0, 0, 0}, {0, 20, 30, 0, 0, 0, 0}},
    {"all at once, with a margin",
     {6, 0, 8, MARGIN, 0, 0, 0},
     {0, 20, 30, MARGIN, 0, 0, 0}},
    {"the other way round",
     {0, 20, 30, MARGIN, 0, 0, 0},
     {6, 0, 8, MARGIN, 0, 0, 0}},
    {"js_safe from now on", {1, 3, 8, 0, 0, 0, 0}, {1, 3, 8, 0, 10, 0, 0}},
    {"an authority, then neighbours",
     {2, 3, 20, 0, 0, 0, 0},
     {2, 3, 20, 0, 0, 2, 0}},
    {"neighbours, then an authority",
     {2, 3, 20, 0, 0, 2, 0},
     {2, 3, 20, 0, 0, 0, 0}},
    {"fewer neighbours, and a margin",
     {6, 3, 8, MARGIN, 0, 6, 0},
     {1, 3, 8, MARGIN, 0, 1, 0}},
    {"more neighbours, and js_safe",
     {1, 3, 8, 0, 0, 1, 0},
     {4, 0, 8, 0, 10, 4, 0}},
};

/* The first number that a partition issues after its counter was raised to
 * `floor`. */
static int64_t first_number(const struct migrate_shape *shape,
                            int32_t partition, bool is_windowed, int64_t floor)
{
    const int64_t v =
        is_windowed ? (floor + 1) << (shape->lessor_bits + shape->window_bits)
                    : floor + 1;

    return layout_number(v, partition, shape->bits, shape->memory_bits);
}

/* The last number of value or lease `v`, whoever leased it. */
static int64_t end_of(const struct migrate_shape *shape, int32_t partition,
                      bool is_windowed, int64_t v)
{
    const int64_t size =
        is_windowed ? (int64_t)1 << (shape->lessor_bits + shape->window_bits)
                    : 1;

    return layout_number(v * size + size - 1, partition, shape->bits,
                         shape->memory_bits) +
           ((int64_t)1 << shape->memory_bits) - 1;
}

static void expect_above(const struct change *change, bool was_windowed,
                         bool is_windowed, int64_t v)
{
    const int32_t last_old = (1 << change->old.bits) - 1;
    const int64_t last =
        migrate_last_number(&change->old, last_old, was_windowed, v);
    int64_t floor;

    assert_true(last >= end_of(&change->old, last_old, was_windowed, v));
    if (!migrate_floor(&change->new, is_windowed, last, &floor))
        fail_msg("%s: %lld does not fit", change->name, (long long)v);
    if (first_number(&change->new, 0, is_windowed, floor) <= last)
        fail_msg("%s: issues old numbers again after %lld", change->name,
                 (long long)v);
}

TEST(every_new_number_is_above_every_old_one)
{
    static const int64_t values[] = {0, 1, 2, 7, 1000, 0, 0};

    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        for (size_t j = 0; j < COUNT_OF(values); j++) {
            expect_above(&changes[i], false, false, values[j]);
            expect_above(&changes[i], false, true, values[j]);
            expect_above(&changes[i], true, false, values[j]);
            expect_above(&changes[i], true, true, values[j]);
        }
    }
}

/* A broker may lease it while its counters are ended. */
TEST(run_of_leases_is_in_the_margin)
{
    const struct migrate_shape shape = {2, 3, 10, 0, 0, 2, 0};
    const int64_t run = layout_run_most(10, migrate_limit(&shape, true));

    assert_int_equal(run, 131072);
    assert_true(migrate_last_number(&shape, 3, true, 5) >=
                end_of(&shape, 3, true, 5 + run));
}

/* No more is skipped than the low bits of one value. */
TEST(floor_is_the_lowest_that_will_do)
{
    const struct migrate_shape shape = {1, 3, 20, 0, 0, 0, 0};
    int64_t floor;

    assert_true(migrate_floor(&shape, false, 80 - 1, &floor));
    assert_int_equal(floor, 4);
    assert_true(migrate_floor(&shape, false, 80, &floor));
    assert_int_equal(floor, 5);
    assert_true(migrate_floor(&shape, true, ((int64_t)16 << 20) - 1, &floor));
    assert_int_equal(floor, 0);
}

/* With the margin, what a broker was granted meanwhile counts as well: so many
 * values, or the windows that hold them, but one at least. */
TEST(margin_is_added_in_values_or_windows)
{
    static const struct {
        int64_t margin;
        int64_t values;
        int64_t windows;
    } rows[] = {
        {0, 0, 1}, {255, 255, 1}, {256, 256, 2}, {MARGIN, MARGIN, 3907}};

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct migrate_shape shape = {1, 3, 8, rows[i].margin, 0, 0, 0};

        assert_int_equal(migrate_last_number(&shape, 1, false, 10),
                         end_of(&shape, 1, false, 10 + rows[i].values));
        assert_int_equal(migrate_last_number(&shape, 1, true, 10),
                         end_of(&shape, 1, true, 10 + rows[i].windows));
    }
}

/* A layout cannot have issued more than it holds. */
TEST(margin_ends_at_the_limit)
{
    const struct migrate_shape shape = {1, 3, 20, MARGIN, 0, 0, 0};
    const int64_t max = migrate_limit(&shape, false);
    const int64_t windows = migrate_limit(&shape, true);

    assert_int_equal(max, layout_counter_max(1, 3));
    assert_int_equal(windows, layout_window_max(1, 3, 20));
    assert_int_equal(migrate_last_number(&shape, 1, false, max), INT64_MAX);
    assert_int_equal(migrate_last_number(&shape, 1, false, max - 1), INT64_MAX);
    assert_int_equal(migrate_last_number(&shape, 1, true, windows), INT64_MAX);
}

/* What a cell may count in has an index of a lessor in its low bits. */
TEST(largest_window_is_one_of_the_largest_lease)
{
    const struct migrate_shape shape = {1, 3, 20, 0, 0, 2, 0};

    assert_int_equal(migrate_window_limit(&shape), layout_window_max(1, 3, 20));
    assert_int_equal(migrate_limit(&shape, true),
                     migrate_window_limit(&shape) >> 2);
}

TEST(what_leaves_no_value_does_not_fit)
{
    const struct migrate_shape shape = {1, 3, 20, 0, 0, 0, 0};
    int64_t floor;

    for (int windowed = 0; windowed <= 1; windowed++) {
        const int64_t end = migrate_limit(&shape, windowed)
                            << (4 + 20 * windowed);

        assert_false(migrate_floor(&shape, windowed, INT64_MAX, &floor));
        assert_false(migrate_floor(&shape, windowed, end, &floor));
        assert_true(migrate_floor(&shape, windowed, end - 1, &floor));
        assert_int_equal(floor, migrate_limit(&shape, windowed) - 1);
    }
}

/* What counts is where its numbers must end, not how many bits there are. */
TEST(numbers_that_are_kept_small_have_less_room)
{
    const struct migrate_shape shape = {1, 3, 20, 0, 10, 0, 0};
    const int64_t end = ((int64_t)1 << 53) - 1;
    int64_t floor;

    assert_int_equal(migrate_limit(&shape, false), end >> 4);
    assert_int_equal(migrate_limit(&shape, true), end >> 24);
    for (int windowed = 0; windowed <= 1; windowed++) {
        assert_false(migrate_floor(&shape, windowed, end, &floor));
        assert_true(migrate_floor(&shape, windowed, end >> 1, &floor));
    }
}

static void expect_room(const struct change *change, bool was_windowed,
                        bool is_windowed)
{
    const int32_t last_old = (1 << change->old.bits) - 1;
    const int64_t limit = migrate_limit(&change->old, was_windowed);
    const int64_t room =
        migrate_capacity(&change->old, was_windowed, &change->new, is_windowed);
    int64_t floor;

    assert_true(room > 0 && room < limit);
    assert_true(migrate_floor(
        &change->new, is_windowed,
        migrate_last_number(&change->old, last_old, was_windowed, room),
        &floor));
    assert_false(migrate_floor(
        &change->new, is_windowed,
        migrate_last_number(&change->old, last_old, was_windowed, room + 1),
        &floor));
}

TEST(room_is_the_largest_value_that_fits)
{
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        expect_room(&changes[i], false, false);
        expect_room(&changes[i], false, true);
        expect_room(&changes[i], true, false);
        expect_room(&changes[i], true, true);
    }
}
