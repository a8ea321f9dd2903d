/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a topology: pieces that are zeroed, aligned, and apart from
 * each other, whatever their sizes. */
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "config/source/source.h"
#include "support/test.h"

#define MANY 4000

static bool is_zeroed(const unsigned char *piece, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (piece[i] != 0)
            return false;
    }
    return true;
}

/* Small ones, and some that are larger than a block. */
static size_t size_of(size_t i)
{
    return i % 97 == 0 ? 100000 + i : 1 + i * 7 % 300;
}

TEST(pieces_are_zeroed_aligned_and_apart)
{
    static unsigned char *pieces[MANY];
    struct arena arena = {.blocks = NULL};

    for (size_t i = 0; i < MANY; i++) {
        pieces[i] = arena_take(&arena, 1, size_of(i));
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        assert_true(is_zeroed(pieces[i], size_of(i)));
        memset(pieces[i], (int)(1 + i % 255), size_of(i));
    }
    for (size_t i = 0; i < MANY; i++) {
        const unsigned char *piece = pieces[i];

        assert_int_equal(piece[0], 1 + i % 255);
        assert_int_equal(piece[size_of(i) - 1], 1 + i % 255);
    }
    assert_false(arena.is_out_of_memory);
    arena_free(&arena);
}

TEST(a_large_piece_leaves_the_room_of_small_ones)
{
    struct arena arena = {.blocks = NULL};
    char *first = arena_take(&arena, 1, 16);
    char *second;

    assert_non_null(arena_take(&arena, 1, 1000000));
    second = arena_take(&arena, 1, 16);
    assert_ptr_equal(second, first + 16);
    arena_free(&arena);
}

TEST(what_no_memory_can_hold_is_refused)
{
    struct arena arena = {.blocks = NULL};

    assert_null(arena_take(&arena, SIZE_MAX, 1));
    assert_true(arena.is_out_of_memory);
    assert_null(arena_take(&arena, SIZE_MAX / 2, 3));
    assert_null(arena_take(&arena, SIZE_MAX / 4, 4));
    arena_free(&arena);
}

TEST(texts_of_any_length_are_whole)
{
    struct arena arena = {.blocks = NULL};
    char text[1024];

    for (size_t length = 0; length < sizeof text; length++) {
        memset(text, 'x', length);
        text[length] = '\0';
        assert_string_equal(arena_format(&arena, "%s", text), text);
        assert_string_equal(arena_copy(&arena, text), text);
    }
    arena_free(&arena);
}
