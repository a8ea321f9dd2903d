/* SPDX-License-Identifier: Apache-2.0 */
/* Stripes with one thread: slices, what is taken away from them, fork().
 * Threads are in test_ring_threads.c. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interrupted.h"
#include "queue/stripe.h"
#include "support/ring_memory.h"
#include "support/test.h"

#define SEGMENTS 8

struct scene {
    struct ring *ring;
    struct stripes *stripes;
};

/* Slices over runs of 2^memory_bits in one of 2^partition_bits partitions. */
static struct scene scene_make_of(int32_t memory_bits, int32_t partition_bits,
                                  uint64_t slice)
{
    struct scene scene = {.ring =
                              ring_make(SEGMENTS, memory_bits, partition_bits)};
    void *memory = fork_wiped_new(sizeof *scene.stripes);

    assert_non_null(memory);
    scene.stripes = stripes_init(memory, scene.ring);
    stripes_set_slice(scene.stripes, slice);
    return scene;
}

/* Slices of 4 numbers, in one of four partitions. */
static struct scene scene_make(int32_t memory_bits)
{
    return scene_make_of(memory_bits, 2, 4);
}

static void scene_unmake(struct scene *scene)
{
    fork_wiped_free(scene->stripes, sizeof *scene->stripes);
    ring_unmake(scene->ring, SEGMENTS);
}

/* As seqb_next does; -1 if there is none. */
static int64_t take(struct scene *scene)
{
    int64_t number = -1;

    if (!stripes_take(scene->stripes, &number) &&
        stripes_refill(scene->stripes, scene->ring, &number) == RING_EMPTY)
        return -1;
    return number;
}

/* What follows them in memory is not theirs. */
TEST(stripes_are_made_in_their_own_memory_alone)
{
    struct {
        struct stripes stripes;
        struct stripe after;
    } *memory = aligned_alloc(RING_LINE, sizeof *memory);
    struct ring *ring = ring_make(SEGMENTS, 3, 2);
    unsigned char expected[sizeof memory->after];

    assert_non_null(memory);
    memset(memory, 0xa5, sizeof *memory);
    memset(expected, 0xa5, sizeof expected);
    assert_ptr_equal(stripes_init(memory, ring), memory);
    assert_memory_equal(&memory->after, expected, sizeof expected);
    ring_unmake(ring, SEGMENTS);
    free(memory);
}

TEST(a_new_stripe_holds_nothing)
{
    struct scene scene = scene_make(3);
    struct ring_slice slices[STRIPES];

    assert_false(stripes_take(scene.stripes, &(int64_t){0}));
    assert_int_equal(take(&scene), -1);
    assert_int_equal(stripes_gather(scene.stripes, scene.ring, slices), 0);
    scene_unmake(&scene);
}

/* Over the bounds of runs: those of a long run are added up another way. */
TEST(numbers_come_slice_by_slice)
{
    static const int32_t memory_bits[] = {0, 1, 3, 8, 10};

    for (size_t i = 0; i < sizeof memory_bits / sizeof memory_bits[0]; i++) {
        struct scene scene = scene_make(memory_bits[i]);
        struct scene same = scene_make(memory_bits[i]);
        const int64_t first = ((int64_t)5 << memory_bits[i]) + (i > 2);
        int64_t expected;

        assert_true(ring_push(scene.ring, first, 2000));
        assert_true(ring_push(scene.ring, 7 * first, 10));
        assert_true(ring_push(same.ring, first, 2000));
        assert_true(ring_push(same.ring, 7 * first, 10));
        while (ring_take(same.ring, &expected) != RING_EMPTY)
            assert_int_equal(take(&scene), expected);
        assert_int_equal(take(&scene), -1);
        scene_unmake(&scene);
        scene_unmake(&same);
    }
}

/* Over windows of 2^window_bits runs, leased by one of four lessors. */
static struct scene scene_make_windows(int32_t memory_bits, int32_t window_bits)
{
    struct scene scene = scene_make(memory_bits);

    ring_step_windows(scene.ring, window_bits, 2);
    scene.stripes = stripes_init(scene.stripes, scene.ring);
    return scene;
}

/* A slice is of one window, and its numbers are those of the ring. */
TEST(numbers_of_several_windows_come_slice_by_slice)
{
    static const int32_t memory_bits[] = {0, 1, 3, 8, 10};

    for (size_t i = 0; i < 5 * sizeof memory_bits / sizeof memory_bits[0];
         i++) {
        const int32_t window_bits = (int32_t)i % 5;
        struct scene scene =
            scene_make_windows(memory_bits[i / 5], window_bits);
        struct scene same = scene_make_windows(memory_bits[i / 5], window_bits);
        const int64_t first = ((int64_t)5 << memory_bits[i / 5]) + (i > 10);
        int64_t expected;

        stripes_set_slice(scene.stripes, 5);
        assert_true(ring_push(scene.ring, first, 5000));
        assert_true(ring_push(same.ring, first, 5000));
        while (ring_take(same.ring, &expected) != RING_EMPTY)
            assert_int_equal(take(&scene), expected);
        assert_int_equal(take(&scene), -1);
        scene_unmake(&scene);
        scene_unmake(&same);
    }
}

/* Somebody was faster: that slice is taken from still. */
TEST(a_stripe_that_was_just_filled_is_not_filled_again)
{
    struct scene scene = scene_make(3);
    int64_t number;

    assert_true(ring_push(scene.ring, 0, 8));
    assert_int_equal(take(&scene), 0);
    assert_int_equal(stripes_refill(scene.stripes, scene.ring, &number),
                     RING_TAKEN);
    assert_int_equal(number, 4);
    for (int64_t i = 1; i < 4; i++)
        assert_int_equal(take(&scene), i);
    for (int64_t i = 5; i < 8; i++) {
        assert_int_equal(take(&scene), i);
        assert_int_equal(ring_stock(scene.ring), 0);
    }
    assert_int_equal(take(&scene), -1);
    scene_unmake(&scene);
}

/* As with more threads than indexes: numbers are taken of the slice, and the
 * next slice comes when it is used up, or was taken away. */
TEST(numbers_of_a_shared_stripe_come_slice_by_slice)
{
    const struct thread_index mine = thread_index_mine;
    struct scene scene = scene_make(10);
    struct ring_slice slices[STRIPES];
    int64_t number;

    assert_true(ring_push(scene.ring, 0, 16));
    thread_index_mine = (struct thread_index){.any = THREAD_INDEX_OWN + 1};
    for (int64_t i = 0; i < 9; i++) {
        assert_int_equal(stripes_refill(scene.stripes, scene.ring, &number),
                         RING_TAKEN);
        assert_int_equal(number, i);
        assert_int_equal(ring_stock(scene.ring), 12 - i / 4 * 4);
    }
    assert_int_equal(stripes_gather(scene.stripes, scene.ring, slices), 1);
    assert_int_equal(slices[0].count, 3);
    for (int64_t i = 12; i < 16; i++)
        assert_int_equal(take(&scene), i);
    assert_int_equal(take(&scene), -1);
    thread_index_mine = mine;
    scene_unmake(&scene);
}

/* By another thread, that is just filling it. */
TEST(a_stripe_that_is_held_is_left_alone)
{
    struct scene scene = scene_make(3);
    struct ring_slice slices[STRIPES];
    struct stripe *stripe;

    assert_true(ring_push(scene.ring, 0, 16));
    for (int64_t i = 0; i < 4; i++)
        assert_int_equal(take(&scene), i);
    stripe = &scene.stripes->stripes[thread_index_mine.any];
    assert_false(atomic_flag_test_and_set(&stripe->is_held));
    assert_int_equal(take(&scene), 4);
    assert_int_equal(ring_stock(scene.ring), 11);
    assert_int_equal(stripes_gather(scene.stripes, scene.ring, slices), 0);
    assert_true(atomic_load(&scene.stripes->filled) != 0); /* it comes back */
    atomic_flag_clear(&stripe->is_held);
    for (int64_t i = 5; i < 8; i++)
        assert_int_equal(take(&scene), i);
    scene_unmake(&scene);
}

/* --- a signal after each instruction of a taking --- */

/* In a child that takes a number between two stops, again and again. */
static struct {
    struct scene scene;
    int32_t memory_bits;
    int32_t partition_bits;
    uint64_t slice;
    int handler_takes;
    int64_t partition; /* its bits in a number, all of which are 0 */
    unsigned char seen[1 << 20];
    int wrong;
} interrupted;

static void note(int64_t number)
{
    interrupted.wrong += number < 0 || (number & interrupted.partition) != 0 ||
                         interrupted.seen[number]++;
}

static void take_in_handler(int signal)
{
    (void)signal;
    for (int i = 0; i < interrupted.handler_takes; i++)
        note(take(&interrupted.scene));
}

static void end_in_handler(int signal)
{
    (void)signal;
    _exit(interrupted.wrong > 0);
}

/* The ring and the stripes are its own: another process's would be empty. */
static void be_interrupted(void)
{
    const int32_t partition_bits = interrupted.partition_bits;
    int64_t number;

    interrupted.scene = scene_make_of(interrupted.memory_bits, partition_bits,
                                      interrupted.slice);
    interrupted.partition = ((1 << partition_bits) - 1)
                            << interrupted.memory_bits;
    (void)ring_push(interrupted.scene.ring, 0,
                    sizeof interrupted.seen >> partition_bits);
    handle_signal(SIGUSR1, take_in_handler);
    handle_signal(SIGUSR2, end_in_handler);
    for (;;) {
        (void)raise(SIGSTOP);
        number = take(&interrupted.scene);
        (void)raise(SIGSTOP);
        note(number);
    }
}

static void expect_nothing_wrong(int32_t memory_bits, int32_t partition_bits,
                                 uint64_t slice)
{
    interrupted.memory_bits = memory_bits;
    interrupted.partition_bits = partition_bits;
    interrupted.slice = slice;
    expect_nothing_wrong_in(be_interrupted, 1);
}

TEST(handlers_of_signals_take_from_the_same_stripe)
{
    interrupted.handler_takes = 3;
    expect_nothing_wrong(10, 0, 64);
}

/* Each of them leaves a slice of another run in it, whose base is another. */
TEST(handlers_of_signals_fill_the_stripe_again)
{
    interrupted.handler_takes = 300;
    expect_nothing_wrong(8, 2, 256);
}

/* The handler of a signal came while its thread took of a slice that somebody
 * took away just then: the thread sets the head of that slice behind it. */
TEST(a_thread_that_is_busy_is_given_no_slice)
{
    struct scene scene = scene_make(4);
    struct ring_slice slices[STRIPES];

    assert_true(ring_push(scene.ring, 0, 16));
    assert_int_equal(take(&scene), 0);
    assert_int_equal(stripes_gather(scene.stripes, scene.ring, slices), 1);
    thread_index_mine.is_free = false;
    for (int64_t i = 4; i < 6; i++)
        assert_int_equal(take(&scene), i);
    thread_index_mine.is_free = true;
    assert_int_equal(ring_stock(scene.ring), 10);
    for (int64_t i = 6; i < 16; i++)
        assert_int_equal(take(&scene), i);
    scene_unmake(&scene);
}

TEST(closed_stripes_take_from_the_ring)
{
    struct scene scene = scene_make(3);
    struct ring_slice slices[STRIPES];

    stripes_set_slice(scene.stripes, 0);
    assert_true(ring_push(scene.ring, 0, 8));
    for (int64_t i = 0; i < 8; i++) {
        assert_int_equal(take(&scene), i);
        assert_int_equal(ring_stock(scene.ring), 7 - i);
        assert_int_equal(stripes_gather(scene.stripes, scene.ring, slices), 0);
    }
    assert_int_equal(take(&scene), -1);
    scene_unmake(&scene);
}

/* After `taken` numbers of slices of 4. */
static void gather_after(int taken, int32_t memory_bits)
{
    struct scene scene = scene_make(memory_bits);
    const size_t left = (size_t)(4 - (taken - 1) % 4 - 1);
    struct ring_slice slices[STRIPES];
    int64_t last = 0;
    int64_t number;
    size_t n;

    assert_true(ring_push(scene.ring, (int64_t)4 << memory_bits, 1024));
    for (int i = 0; i < taken; i++)
        last = take(&scene);
    n = taken % 2 == 0 ? stripes_gather(scene.stripes, scene.ring, slices)
                       : stripes_gather_all(scene.stripes, scene.ring, slices);
    assert_int_equal(n, left > 0);
    assert_false(stripes_take(scene.stripes, &number));
    for (size_t i = 0; i < left; i++) {
        number = ring_number(scene.ring->shape, slices[0].base,
                             slices[0].position + i);
        assert_true(number > last);
        last = number;
    }
    if (left > 0)
        assert_int_equal(slices[0].count, left);
    assert_true(take(&scene) > last);
    scene_unmake(&scene);
}

TEST(what_a_stripe_holds_can_be_taken_away)
{
    for (int32_t memory_bits = 1; memory_bits <= 9; memory_bits += 4) {
        for (int taken = 1; taken <= 8; taken++)
            gather_after(taken, memory_bits);
    }
}

static void put_back(struct scene *scene, const struct ring_slice *rest)
{
    (void)ring_drop(scene->ring);
    assert_true(
        ring_push(scene->ring,
                  ring_number(scene->ring->shape, rest->base, rest->position),
                  rest->count));
}

/* After `taken` numbers of both: pushed once more, it is what would have come.
 */
static void put_back_after(int taken)
{
    struct scene scene = scene_make_windows(taken % 3, 2);
    struct scene same = scene_make_windows(taken % 3, 2);
    struct ring_slice rest = {.count = 0};
    struct ring_slice slices[STRIPES];
    int64_t expected;

    assert_true(ring_push(scene.ring, 3, 24));
    assert_true(ring_push(same.ring, 3, 24));
    for (int i = 0; i < taken; i++) {
        (void)take(&scene);
        (void)ring_take(same.ring, &expected);
    }
    if (stripes_gather(scene.stripes, scene.ring, slices) > 0) {
        rest = slices[0];
        put_back(&scene, &rest);
    }
    for (uint64_t i = 0; i < rest.count; i++) {
        (void)ring_take(same.ring, &expected);
        assert_int_equal(take(&scene), expected);
    }
    scene_unmake(&scene);
    scene_unmake(&same);
}

TEST(what_is_taken_away_of_windows_comes_again)
{
    for (int taken = 1; taken <= 20; taken++)
        put_back_after(taken);
}

/* What is low is told by who fills a stripe. */
TEST(filling_a_stripe_falls_to_the_mark)
{
    struct scene scene = scene_make(3);
    int64_t number;

    assert_true(ring_push(scene.ring, 0, 16));
    ring_set_low(scene.ring, 9);
    assert_int_equal(stripes_refill(scene.stripes, scene.ring, &number),
                     RING_TAKEN);
    for (int i = 0; i < 3; i++)
        assert_true(stripes_take(scene.stripes, &number));
    assert_int_equal(stripes_refill(scene.stripes, scene.ring, &number),
                     RING_TAKEN_LOW);
    scene_unmake(&scene);
}

TEST(a_forked_child_finds_empty_stripes)
{
    struct scene scene = scene_make(3);
    int status;
    pid_t child;

    assert_true(ring_push(scene.ring, 0, 16));
    assert_int_equal(take(&scene), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(take(&scene) == -1 ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(take(&scene), 1);
    scene_unmake(&scene);
}
