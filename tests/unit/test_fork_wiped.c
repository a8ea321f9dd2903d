/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of memory that a forked child finds zero: apart, aligned, used again
 * when given back, and all wiped. */

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fork_wiped.h"
#include "support/test.h"

#define PIECES  3000
#define THREADS 4
#define ROUNDS  (2000 / SEQB_TEST_SCALE)

/* Below, at and above what is cut into pieces, and what fills a slab. */
static const size_t sizes[] = {1,    64,    65,    128,   192,    512,
                               1000, 32704, 32768, 32769, 262144, 1000000};

#define SIZES (sizeof sizes / sizeof sizes[0])

static bool is_all(const unsigned char *memory, size_t size,
                   unsigned char value)
{
    for (size_t i = 0; i < size; i++) {
        if (memory[i] != value)
            return false;
    }
    return true;
}

static int wiped_setup(void **state)
{
    *state = fork_wiped_open();
    return *state == NULL ? -1 : 0;
}

static int wiped_teardown(void **state)
{
    fork_wiped_close(*state);
    return 0;
}

#define WIPED FIXTURE(void *unused, wiped_setup, wiped_teardown)

TEST_WITH(WIPED, pieces_are_aligned_as_a_struct_of_their_size_may_ask)
{
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < SIZES; i++) {
            const uintptr_t at = (uintptr_t)fork_wiped_take(unused, sizes[i]);

            assert_true(at != 0);
            assert_int_equal(at % (sizes[i] % 128 == 0 ? 128 : 64), 0);
        }
    }
}

/* Each holds a pattern of its own, to its last byte, when all are taken. */
TEST_WITH(WIPED, pieces_lie_apart)
{
    unsigned char *pieces[PIECES];

    for (size_t i = 0; i < PIECES; i++) {
        pieces[i] = fork_wiped_take(unused, sizes[i % 7]);
        assert_non_null(pieces[i]);
        assert_true(is_all(pieces[i], sizes[i % 7], 0));
        memset(pieces[i], (int)(i % 251 + 1), sizes[i % 7]);
    }
    for (size_t i = 0; i < PIECES; i++)
        assert_true(
            is_all(pieces[i], sizes[i % 7], (unsigned char)(i % 251 + 1)));
}

TEST_WITH(WIPED, a_piece_given_back_is_taken_again_and_zero)
{
    for (size_t i = 0; i < SIZES && sizes[i] <= 32768; i++) {
        unsigned char *piece = fork_wiped_take(unused, sizes[i]);
        unsigned char *again;

        memset(piece, 0x5a, sizes[i]);
        fork_wiped_give(unused, piece, sizes[i]);
        again = fork_wiped_take(unused, sizes[i]);
        assert_ptr_equal(again, piece);
        assert_true(is_all(again, sizes[i], 0));
    }
}

TEST_WITH(WIPED, no_two_hold_what_one_gave_back)
{
    void *given[2] = {fork_wiped_take(unused, 192),
                      fork_wiped_take(unused, 192)};
    void *taken[3];

    fork_wiped_give(unused, given[0], 192);
    fork_wiped_give(unused, given[1], 192);
    for (size_t i = 0; i < 3; i++)
        taken[i] = fork_wiped_take(unused, 192);
    assert_ptr_not_equal(taken[0], taken[1]);
    assert_ptr_not_equal(taken[1], taken[2]);
    assert_ptr_not_equal(taken[0], taken[2]);
}

/* What a child says of pieces that it then scribbles over: 0, all zero. */
static int child_finds(unsigned char **pieces)
{
    const pid_t child = fork();
    int status;

    assert_true(child >= 0);
    if (child == 0) {
        bool is_wiped = true;

        for (size_t i = 0; i < SIZES; i++) {
            is_wiped = is_wiped && is_all(pieces[i], sizes[i], 0);
            memset(pieces[i], 0xee, sizes[i]);
        }
        _exit(is_wiped ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST_WITH(WIPED, every_piece_is_zero_in_a_child_and_kept_here)
{
    unsigned char *pieces[SIZES];

    for (size_t i = 0; i < SIZES; i++) {
        fork_wiped_give(unused, fork_wiped_take(unused, sizes[i]), sizes[i]);
        pieces[i] = fork_wiped_take(unused, sizes[i]);
        assert_non_null(pieces[i]);
        memset(pieces[i], 0x5a, sizes[i]);
    }
    assert_int_equal(child_finds(pieces), 0);
    assert_int_equal(child_finds(pieces), 0);
    for (size_t i = 0; i < SIZES; i++)
        assert_true(is_all(pieces[i], sizes[i], 0x5a));
}

TEST_WITH(WIPED, large_objects_come_and_go_in_any_order)
{
    void *large[4];

    for (size_t i = 0; i < 4; i++)
        large[i] = fork_wiped_take(unused, 100000);
    fork_wiped_give(unused, large[2], 100000);
    fork_wiped_give(unused, large[0], 100000);
    fork_wiped_give(unused, large[3], 100000);
    large[2] = fork_wiped_take(unused, 200000);
    memset(large[2], 1, 200000);
    memset(large[1], 1, 100000);
    fork_wiped_give(unused, large[1], 100000);
}

static void *run_take_and_give(void *argument)
{
    const size_t own = sizes[2];
    bool is_alone = true;

    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *a = fork_wiped_take(argument, own);
        unsigned char *b = fork_wiped_take(argument, own);

        is_alone = is_alone && is_all(a, own, 0) && is_all(b, own, 0);
        memset(a, 1, own);
        memset(b, 2, own);
        is_alone = is_alone && is_all(a, own, 1) && is_all(b, own, 2);
        fork_wiped_give(argument, a, own);
        fork_wiped_give(argument, b, own);
    }
    return is_alone ? argument : NULL;
}

TEST_WITH(WIPED, threads_take_and_give_at_once)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, run_take_and_give, unused), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;

        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, unused);
    }
}

TEST_WITH(WIPED, what_is_too_large_is_refused)
{
    assert_null(fork_wiped_take(unused, SIZE_MAX));
    assert_null(fork_wiped_take(unused, SIZE_MAX - 100));
    assert_null(fork_wiped_take(unused, (size_t)1 << 62));
    assert_non_null(fork_wiped_take(unused, 64));
    fork_wiped_give(unused, NULL, 64);
    fork_wiped_close(NULL);
}
