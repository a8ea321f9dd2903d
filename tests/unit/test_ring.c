/* SPDX-License-Identifier: Apache-2.0 */
/* The ring with one thread, and after fork(). Against a model it is in
 * test_ring_model.c, with threads in test_ring_threads.c. */

#include <sys/wait.h>
#include <unistd.h>

#include "support/ring_memory.h"
#include "support/test.h"

static void expect_taken(struct ring *ring, int64_t number,
                         enum ring_taken taken)
{
    int64_t got = -1;

    assert_int_equal(ring_take(ring, &got), taken);
    assert_int_equal(got, number);
}

static void expect_empty(struct ring *ring)
{
    int64_t got[2] = {-1, -1};
    struct ring_slice slice;
    size_t taken = 99;

    assert_int_equal(ring_take(ring, got), RING_EMPTY);
    assert_int_equal(ring_take_many(ring, 2, got, &taken), RING_EMPTY);
    assert_int_equal(taken, 0);
    assert_int_equal(ring_take_run(ring, 1, got), RING_EMPTY);
    assert_int_equal(ring_take_slice(ring, 1, RING_SEGMENT, &slice),
                     RING_EMPTY);
    assert_int_equal(got[0], -1);
    assert_int_equal(ring_stock(ring), 0);
}

TEST(a_new_ring_is_empty_and_has_the_room_asked_for)
{
    static const uint32_t rooms[][2] = {{1, 1}, {2, 2},   {3, 4},
                                        {5, 8}, {64, 64}, {65, 128}};

    for (size_t i = 0; i < COUNT_OF(rooms); i++) {
        struct ring *ring = ring_make(rooms[i][0], 3, 2);

        assert_true(ring->is_alive);
        assert_int_equal(ring->current, 1); /* 0: one that is being written */
        assert_int_equal(ring_free_blocks(ring), rooms[i][1]);
        expect_empty(ring);
        ring_unmake(ring, rooms[i][0]);
    }
}

/* Two partitions' bits lie between the runs of 4. */
TEST(numbers_come_in_the_order_of_their_segments)
{
    static const int64_t expected[] = {1000, 1001, 1002, 1003, 1016, 1017,
                                       1018, 1019, 84,   85,   86,   87};
    struct ring *ring = ring_make(4, 2, 2);

    assert_true(ring_push(ring, 1000, 8));
    assert_true(ring_push(ring, 84, 4));
    assert_int_equal(ring_stock(ring), 12);
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_int_equal(ring_stock(ring), 12 - i);
        expect_taken(ring, expected[i], RING_TAKEN);
    }
    expect_empty(ring);
    ring_unmake(ring, 4);
}

TEST(the_largest_numbers_pass_whole)
{
    struct ring *ring = ring_make(1, 20, 6);
    const int64_t run = (int64_t)1 << 20;
    int64_t first;

    assert_true(ring_push(ring, INT64_MAX - run + 1, (uint64_t)run));
    assert_int_equal(ring_take_run(ring, (uint64_t)run - 1, &first),
                     RING_TAKEN);
    assert_int_equal(first, INT64_MAX - run + 1);
    expect_taken(ring, INT64_MAX, RING_TAKEN);
    expect_empty(ring);
    ring_unmake(ring, 1);
}

/* One of 2^31 counter values, as a partition may be asked for. */
TEST(the_largest_grant_is_one_segment)
{
    const uint64_t count = (uint64_t)1 << (31 + 10);
    struct ring *ring = ring_make(1, 10, 2);
    struct ring_slice slice;

    assert_true(ring_push(ring, (int64_t)1 << 20, count));
    assert_int_equal(ring_stock(ring), count);
    assert_int_equal(ring_take_slice(ring, count - 1, RING_SEGMENT, &slice),
                     RING_TAKEN);
    assert_int_equal(slice.count, count - 1);
    expect_taken(ring,
                 ((int64_t)1 << 20) + ((((int64_t)1 << 31) - 1) << 12) + 1023,
                 RING_TAKEN);
    expect_empty(ring);
    ring_unmake(ring, 1);
}

TEST(a_segment_that_is_partly_taken_keeps_its_place)
{
    struct ring *ring = ring_make(2, 2, 0);

    assert_true(ring_push(ring, 0, 4));
    assert_true(ring_push(ring, 100, 4));
    for (int64_t i = 0; i < 3; i++) {
        expect_taken(ring, i, RING_TAKEN);
        assert_int_equal(ring_free_blocks(ring), 0);
        assert_false(ring_push(ring, 500, 4));
    }
    expect_taken(ring, 3, RING_TAKEN);
    assert_int_equal(ring_free_blocks(ring), 1);
    assert_true(ring_push(ring, 500, 4));
    assert_false(ring_push(ring, 600, 4));
    expect_taken(ring, 100, RING_TAKEN);
    ring_unmake(ring, 2);
}

TEST(many_are_taken_over_the_bounds_of_segments_and_runs)
{
    struct ring *ring = ring_make(4, 1, 1);
    int64_t out[16];
    size_t taken;

    assert_true(ring_push(ring, 10, 4));
    assert_true(ring_push(ring, 31, 1));
    assert_int_equal(ring_take_many(ring, 3, out, &taken), RING_TAKEN);
    assert_int_equal(taken, 3);
    assert_memory_equal(out, ((int64_t[]){10, 11, 14}), 3 * sizeof out[0]);
    assert_true(ring_push(ring, 40, 4));
    assert_int_equal(ring_take_many(ring, 16, out, &taken), RING_TAKEN);
    assert_int_equal(taken, 6);
    assert_memory_equal(out, ((int64_t[]){15, 31, 40, 41, 44, 45}),
                        6 * sizeof out[0]);
    expect_empty(ring);
    ring_unmake(ring, 4);
}

/* As many as a step has room for. */
TEST(many_are_taken_of_eight_segments_at_most)
{
    struct ring *ring = ring_make(16, 0, 0);
    int64_t out[12];
    size_t taken;

    for (int64_t i = 0; i < 12; i++)
        assert_true(ring_push(ring, 10 * i, 1));
    assert_int_equal(ring_take_many(ring, 12, out, &taken), RING_TAKEN);
    assert_int_equal(taken, 8);
    assert_int_equal(ring_take_many(ring, 4, &out[8], &taken), RING_TAKEN);
    assert_int_equal(taken, 4);
    for (int64_t i = 0; i < 12; i++)
        assert_int_equal(out[i], 10 * i);
    expect_empty(ring);
    ring_unmake(ring, 16);
}

TEST(a_run_is_taken_within_one_run_only)
{
    static const struct {
        uint64_t before; /* numbers taken of the first run */
        uint64_t count;
        int64_t first; /* -1: none */
        uint64_t left;
    } cases[] = {
        {0, 8, 80, 8},  {0, 1, 80, 15},  {3, 5, 83, 8},  {3, 6, 112, 2},
        {7, 1, 87, 8},  {7, 2, 112, 6},  {1, 8, 112, 0}, {8, 8, 112, 0},
        {9, 7, 113, 0}, {15, 1, 119, 0}, {9, 8, -1, 7},  {15, 2, -1, 1},
        {16, 1, -1, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct ring *ring = ring_make(2, 3, 2);
        int64_t out[16];
        int64_t first = -1;
        size_t taken;

        assert_true(ring_push(ring, 80, 16));
        (void)ring_take_many(ring, cases[i].before, out, &taken);
        assert_int_equal(ring_take_run(ring, cases[i].count, &first),
                         cases[i].first < 0 ? RING_EMPTY : RING_TAKEN);
        assert_int_equal(first, cases[i].first);
        assert_int_equal(ring_stock(ring), cases[i].left);
        ring_unmake(ring, 2);
    }
}

TEST(a_slice_is_within_one_segment_and_one_run_if_asked)
{
    struct ring *ring = ring_make(4, 3, 2);
    struct ring_slice slice;

    assert_true(ring_push(ring, 83, 13));
    assert_true(ring_push(ring, 400, 8));
    assert_int_equal(ring_take_slice(ring, 100, RING_RUN, &slice), RING_TAKEN);
    assert_int_equal(slice.count, 5);
    assert_int_equal(ring_number(ring->shape, slice.base, slice.position), 83);
    assert_int_equal(ring_take_slice(ring, 100, RING_SEGMENT, &slice),
                     RING_TAKEN);
    assert_int_equal(slice.count, 8);
    assert_int_equal(ring_number(ring->shape, slice.base, slice.position), 112);
    assert_int_equal(ring_take_slice(ring, 3, RING_SEGMENT, &slice),
                     RING_TAKEN);
    assert_int_equal(slice.count, 3);
    expect_taken(ring, 403, RING_TAKEN);
    ring_unmake(ring, 4);
}

/* The rest of a slice comes back behind what is there, number for number. */
TEST(what_is_given_back_is_the_same_numbers)
{
    for (uint64_t used = 0; used < 40; used++) {
        struct ring *ring = ring_make(4, 3, 2);
        struct ring *same = ring_make(4, 3, 2);
        struct ring_slice slice;
        int64_t expected[40];
        int64_t got[40];
        size_t n;

        assert_true(ring_push(ring, 64, 40));
        assert_true(ring_push(same, 64, 40));
        (void)ring_take_many(same, 40, expected, &n);
        (void)ring_take_slice(ring, 40, RING_SEGMENT, &slice);
        assert_true(ring_push(
            ring, ring_number(ring->shape, slice.base, slice.position + used),
            slice.count - used));
        assert_int_equal(ring_take_many(ring, 40, got, &n), RING_TAKEN);
        assert_int_equal(n, 40 - used);
        assert_memory_equal(got, expected + used, n * sizeof got[0]);
        ring_unmake(ring, 4);
        ring_unmake(same, 4);
    }
}

TEST(what_is_dropped_comes_to_nobody)
{
    struct ring *ring = ring_make(4, 2, 1);

    assert_int_equal(ring_drop(ring), 0);
    for (int64_t round = 0; round < 10; round++) {
        const int64_t first = 1000 * (round + 1);

        assert_true(ring_push(ring, first, 8));
        assert_true(ring_push(ring, first + 500, 4));
        expect_taken(ring, first, RING_TAKEN);
        assert_int_equal(ring_drop(ring), 11);
        expect_empty(ring);
        assert_int_equal(ring_free_blocks(ring), 4);
        assert_int_equal(ring_drop(ring), 0);
    }
    ring_unmake(ring, 4);
}

TEST(falling_to_the_mark_is_told_once)
{
    for (uint64_t low = 0; low < 16; low++) {
        struct ring *ring = ring_make(4, 3, 2);
        int64_t out[16];
        size_t taken;

        (void)ring_push(ring, 3, 5); /* the next one begins at a gap */
        (void)ring_push(ring, 8, 11);
        ring_set_low(ring, low);
        for (uint64_t left = 15; left != UINT64_MAX; left--)
            assert_int_equal(ring_take(ring, out), left == low && low > 0
                                                       ? RING_TAKEN_LOW
                                                       : RING_TAKEN);
        (void)ring_push(ring, 64, 16);
        ring_set_low(ring, low);
        for (uint64_t left = 13; left < 16; left -= 3)
            assert_int_equal(ring_take_many(ring, 3, out, &taken),
                             left <= low && low < left + 3 && low > 0
                                 ? RING_TAKEN_LOW
                                 : RING_TAKEN);
        ring_unmake(ring, 4);
    }
}

TEST(a_skipped_rest_falls_to_the_mark_as_well)
{
    /* 13 left, a rest of 5 skipped and 6 taken: 2 left. */
    for (uint64_t low = 1; low <= 16; low++) {
        struct ring *ring = ring_make(2, 3, 2);
        int64_t out[16];
        size_t taken;

        (void)ring_push(ring, 0, 16);
        (void)ring_take_many(ring, 3, out, &taken);
        ring_set_low(ring, low);
        assert_int_equal(ring_take_run(ring, 6, out),
                         low >= 2 && low < 13 ? RING_TAKEN_LOW : RING_TAKEN);
        ring_unmake(ring, 2);
    }
}

/* --- what is read of an idle ring --- */

static void expect_rest(const struct ring *ring, int64_t stock, int64_t taken)
{
    int64_t got_stock = -1;
    int64_t got_taken = -1;

    assert_true(ring_rests(ring, &got_stock, &got_taken));
    assert_int_equal(got_stock, stock);
    assert_int_equal(got_taken, taken);
}

static bool is_used(const struct ring *ring)
{
    int64_t unused;

    return !ring_rests(ring, &unused, &unused);
}

TEST(counts_of_a_ring_are_valid_until_it_is_used)
{
    struct ring *ring = ring_make(2, 3, 0);
    uint64_t before;

    expect_rest(ring, 0, 0);
    assert_true(ring_push(ring, 0, 8));
    assert_true(is_used(ring));
    before = ring_head(ring);
    ring_note_rest(ring, before, 8, 100);
    expect_rest(ring, 8, 100);
    expect_taken(ring, 0, RING_TAKEN);
    assert_true(is_used(ring));
    ring_note_rest(ring, ring_head(ring), 7, 101);
    expect_rest(ring, 7, 101);
    assert_true(ring_push(ring, 8, 8));
    assert_true(is_used(ring));
    ring_note_rest(ring, ring_head(ring), 15, 101);
    expect_rest(ring, 15, 101);
    assert_int_equal(ring_drop(ring), 15);
    assert_true(is_used(ring));
    ring_unmake(ring, 2);
}

TEST(counts_from_before_a_take_are_not_noted)
{
    struct ring *ring = ring_make(2, 3, 0);
    uint64_t before;

    assert_true(ring_push(ring, 0, 8));
    before = ring_head(ring);
    expect_taken(ring, 0, RING_TAKEN);
    ring_note_rest(ring, before, 8, 0);
    ring_note_rest(ring, ring_head(ring), 7, 1);
    expect_rest(ring, 7, 1);
    expect_taken(ring, 1, RING_TAKEN);
    ring_note_rest(ring, before, 8, 0);
    assert_true(is_used(ring));
    ring_unmake(ring, 2);
}

static bool is_empty_and_dead(struct ring *ring)
{
    struct ring_slice slice;
    int64_t out[4];
    size_t taken;

    return !ring->is_alive && ring_stock(ring) == 0 &&
           ring_take(ring, out) == RING_EMPTY &&
           ring_take_many(ring, 4, out, &taken) == RING_EMPTY && taken == 0 &&
           ring_take_run(ring, 1, out) == RING_EMPTY &&
           ring_take_run(ring, 8, out) == RING_EMPTY &&
           ring_take_slice(ring, 1, RING_RUN, &slice) == RING_EMPTY;
}

/* Both would hand out the same numbers. */
TEST(a_forked_child_finds_an_empty_ring)
{
    struct ring *ring = ring_make(600, 3, 0);
    int status;
    pid_t child;

    for (int64_t i = 0; i < 600; i++)
        assert_true(ring_push(ring, 8 * i, 8));
    expect_taken(ring, 0, RING_TAKEN);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(is_empty_and_dead(ring) ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(ring->is_alive);
    for (int64_t i = 1; i < 4800; i++)
        expect_taken(ring, i, RING_TAKEN);
    expect_empty(ring);
    ring_unmake(ring, 600);
}
