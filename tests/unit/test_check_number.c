/* SPDX-License-Identifier: Apache-2.0 */
/* The fewest bits that a topology may leave to what counts, on both sides of
 * the bound. A draft is checked, since no text comes that far today: the bits
 * that may be set are fewer. */
#include <string.h>

#include "config/check/check.h"
#include "support/fake.h"
#include "support/test.h"

#define WINDOW_BITS 20

/* A sequence of numbers of 63 bits, in a pool of one partition; NULL: nothing
 * is wrong with it. */
static void expect(const struct seqb_backend_ops *ops, int64_t memory_bits,
                   const char *words)
{
    const char *name = "a";
    struct draft_backend backend = {
        .name = {.text = name}, .engine = {.text = "fake"}, .ops = ops};
    const struct draft_pool pool = {
        .partitions = {.names = &name, .count = 1},
        .window_bits = {.number = WINDOW_BITS},
    };
    const struct draft_sequence sequence = {
        .line = 1, .memory_bits = {.number = memory_bits}};
    const struct draft draft = {.backends = &backend, .backend_count = 1};
    struct arena arena = {.blocks = NULL};
    struct diagnostics diagnostics = {.arena = &arena};

    check_number(&draft, &sequence, &pool, &diagnostics);
    assert_int_equal(diagnostics.found.count, words != NULL);
    if (words != NULL)
        assert_non_null(strstr(diagnostics.found.first->text, words));
    arena_free(&arena);
}

TEST(counter_has_20_bits_at_least)
{
    expect(&backend_fake, 63 - 20, NULL);
    expect(&backend_fake, 63 - 19, "leave 19 of 63 bits for the counter");
}

TEST(number_of_a_window_has_8_bits_at_least)
{
    expect(&backend_fake_windowed, 63 - WINDOW_BITS - 8, NULL);
    expect(&backend_fake_windowed, 63 - WINDOW_BITS - 7,
           "leave 7 of 63 bits for the window's number");
}
