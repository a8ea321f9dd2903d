/* SPDX-License-Identifier: Apache-2.0 */
/* The bits of a number, for every layout there can be; and the way on that is
 * told where a layout differs. */
#include <string.h>

#include "platform/text.h"
#include "store/layout.h"
#include "support/fake.h"
#include "support/test.h"

#define MEMORY_BITS_MAX 20
#define WINDOW_BITS_MAX 31

static void each_layout(void (*visit)(int32_t bits, int32_t memory_bits))
{
    for (int32_t bits = 0; bits <= STORE_BITS_MAX; bits++) {
        for (int32_t m = 0; m <= MEMORY_BITS_MAX; m++)
            visit(bits, m);
    }
}

/* The last number of the last partition at the maximum is the last there is:
 * nothing overflows, and nothing is wasted. */
static void expect_exact_maximum(int32_t bits, int32_t memory_bits)
{
    const int64_t max = layout_counter_max(bits, memory_bits);
    const int64_t run = (int64_t)1 << memory_bits;
    const int32_t last = (1 << bits) - 1;

    assert_int_equal(layout_number(max, last, bits, memory_bits) + (run - 1),
                     INT64_MAX);
    assert_int_equal(layout_number(max, 0, bits, memory_bits),
                     INT64_MAX - run * (last + 1) + 1);
    assert_int_equal(layout_number(1, 0, bits, memory_bits), run << bits);
}

TEST(the_maximum_fills_63_bits_exactly)
{
    each_layout(expect_exact_maximum);
}

static void expect_decoded(int64_t number, const struct seqb_decoded *expected,
                           int32_t bits)
{
    struct seqb_decoded decoded;

    layout_decode(number, bits, expected->memory_bits, &decoded);
    assert_int_equal(decoded.counter, expected->counter);
    assert_int_equal(decoded.partition, expected->partition);
    assert_int_equal(decoded.memory_bits, expected->memory_bits);
    assert_int_equal(decoded.memory, expected->memory);
}

static void expect_round_trip(int32_t bits, int32_t memory_bits)
{
    const int64_t max = layout_counter_max(bits, memory_bits);
    const int64_t values[] = {1, 2, max / 2, max - 1, max};
    const int64_t run = (int64_t)1 << memory_bits;
    const int64_t parts[] = {0, run / 2, run - 1};

    for (int32_t i = 0; i < 1 << bits; i++) {
        for (size_t at = 0; at < COUNT_OF(values) * COUNT_OF(parts); at++) {
            const int64_t v = values[at / COUNT_OF(parts)];
            const int64_t k = parts[at % COUNT_OF(parts)];
            const int64_t number = layout_number(v, i, bits, memory_bits) + k;

            assert_true(number > 0);
            expect_decoded(number,
                           &(struct seqb_decoded){.counter = v,
                                                  .partition = i,
                                                  .memory_bits = memory_bits,
                                                  .memory = k},
                           bits);
        }
    }
}

TEST(a_number_decodes_to_what_it_was_made_of)
{
    each_layout(expect_round_trip);
}

/* xorshift64: the same numbers in every run. */
static uint64_t chance(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Two runs of numbers share none, unless both value and partition are the
 * same; and a larger value's numbers are larger in whatever partition. */
static void expect_no_collision(int32_t bits, int32_t memory_bits)
{
    const uint64_t max = (uint64_t)layout_counter_max(bits, memory_bits);
    const int64_t run = (int64_t)1 << memory_bits;
    const uint32_t partitions = 1u << bits;
    uint64_t seed = 0x9e3779b97f4a7c15u + max;

    for (int i = 0; i < 500; i++) {
        const int64_t v = (int64_t)(chance(&seed) % max) + 1;
        const int32_t p = (int32_t)(chance(&seed) % partitions);
        /* A neighbour as often as any other. */
        const int64_t w =
            i % 2 == 0 && v > 1 ? v - 1 : (int64_t)(chance(&seed) % max) + 1;
        const int32_t q = (int32_t)(chance(&seed) % partitions);
        const int64_t a = layout_number(v, p, bits, memory_bits);
        const int64_t b = layout_number(w, q, bits, memory_bits);

        if (v != w)
            assert_int_equal(a > b, v > w);
        if (v != w || p != q)
            assert_true(a > b ? a - b >= run : b - a >= run);
        if (p != q)
            assert_int_not_equal(a, layout_number(v, q, bits, memory_bits));
    }
}

TEST(numbers_of_different_partitions_never_collide)
{
    each_layout(expect_no_collision);
}

static void expect_windows_fit(int32_t bits, int32_t memory_bits)
{
    const int64_t counter_max = layout_counter_max(bits, memory_bits);
    const int32_t most = 62 - bits - memory_bits;

    for (int32_t w = 0; w <= WINDOW_BITS_MAX && w <= most; w++) {
        const int64_t max = layout_window_max(bits, memory_bits, w);
        const int64_t last = ((int64_t)1 << w) - 1;

        assert_true(max >= 1);
        /* The last offset of the last window is the last value. */
        assert_int_equal(max << w | last, counter_max);
    }
}

TEST(the_last_window_ends_where_the_values_end)
{
    each_layout(expect_windows_fit);
}

TEST(change_of_the_authority_takes_a_part_of_few_windows)
{
    assert_int_equal(layout_window_gap(INT64_MAX), WINDOW_GAP);
    assert_int_equal(layout_window_gap((int64_t)16 * WINDOW_GAP), WINDOW_GAP);
    assert_int_equal(layout_window_gap((int64_t)16 * WINDOW_GAP - 16),
                     WINDOW_GAP - 1);
    assert_int_equal(layout_window_gap(4096), 256);
    /* A few may well be forgotten at once. */
    assert_int_equal(layout_window_gap(255), 16);
    assert_int_equal(layout_window_gap(1), 16);
}

/* Below 1/4096 of the values that are left, of which there are 2^16 - 1 at
 * first with four low bits. No value is left where the low bits are all there
 * are. */
TEST(chance_is_a_part_of_what_a_text_has_left)
{
    static const struct {
        int64_t useful;
        int32_t low_bits;
        int64_t value;
        uint64_t chance; /* of all random bits that are set */
    } rows[] = {
        {0, 4, 0, UINT64_MAX},
        {(1 << 20) - 1, 4, 0, UINT64_MAX % 16},
        {(1 << 20) - 1, 4, 1 << 15, UINT64_MAX % 8},
        {(1 << 20) - 1, 4, 1 << 17, 0},
        {(1 << 20) - 1, 9, 0, 0},
        {INT64_MAX, 62, 0, 0},
        {INT64_MAX, 68, 0, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(layout_chance(UINT64_MAX, rows[i].useful, rows[i].low_bits,
                                  rows[i].value) == rows[i].chance);
}

TEST(later_generation_has_a_name_of_its_own)
{
    static const struct {
        int32_t generation;
        const char *name;
    } rows[] = {{0, "main"}, {1, "main"}, {2, "main~2"}, {99, "main~99"}};
    char name[LAYOUT_POOL_SIZE];

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        layout_internal_name("main", rows[i].generation, name, sizeof name);
        assert_string_equal(name, rows[i].name);
    }
}

/* Of a pool and a key with the longest names, in the last generation. */
/* Of the same pool, by its name as a whole. */
TEST(layout_of_an_earlier_generation_is_known)
{
    static const struct {
        const char *text;
        int32_t generation;
        bool is_earlier;
    } cases[] = {
        {"pool=main;bits=1;", 1, false},
        {"pool=main;bits=1;", 2, true},
        {"pool=main~2;bits=1;", 2, false},
        {"pool=main~2;bits=1;", 3, true},
        {"pool=main~3;bits=1;", 2, false},
        {"pool=mai;bits=1;", 2, false},
        {"pool=main2;bits=1;", 3, false},
        {"pool=main", 2, false},
        {"", 2, false},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct layout layout = {.name = "main",
                                      .generation = cases[i].generation};

        assert_int_equal(layout_is_earlier(&layout, cases[i].text),
                         cases[i].is_earlier);
    }
}

TEST(the_longest_names_of_claims_fit)
{
    static const char pool[] = "abcdefghijklmnopqrstuvwxyz-01234";
    static const char key[] = "abcdefghijklmnopqrstuvwxyz-012345"
                              "abcdefghijklmnopqrstuvwxyz-0123";
    char name[LAYOUT_POOL_SIZE];
    char counter[SEQB_COUNTER_SIZE];

    assert_int_equal(strlen(pool), SEQB_NAME_MAX);
    assert_int_equal(strlen(key), SEQB_KEY_MAX);
    layout_internal_name(pool, 1000000, name, sizeof name);
    assert_string_equal(name + SEQB_NAME_MAX, "~1000000");
    /* the note of a migration, the longest of all */
    assert_true(text_format(counter, sizeof counter, "retired/window/%s/63/%s",
                            name, key));
    assert_true(text_append(counter, sizeof counter, "/60"));
}

TEST(members_that_count_in_windows_are_known)
{
    const struct seqb_backend_ops direct = {.guarantee = SEQB_DIRECT};
    const struct seqb_backend_ops windowed = {.guarantee = SEQB_WINDOWED};
    struct layout pool = {.bits = 1, .partitions = {3, 4}, .authority = 4};

    assert_false(layout_is_windowed(&pool, 0, &direct));
    assert_true(layout_is_windowed(&pool, 0, &windowed));
    pool.all_windowed = true;
    assert_true(layout_is_windowed(&pool, 0, &direct));
    assert_false(layout_is_windowed(&pool, 1, &direct)); /* the authority */
    pool.authority = 5;
    assert_true(layout_is_windowed(&pool, 1, &direct));
    assert_false(layout_is_windowed(&pool, 2, &direct)); /* no partition */
}

TEST(lessors_are_the_partitions_that_can_lease)
{
    const struct seqb_backend_ops lessor = backend_fake;
    const struct store_options backends[] = {
        {.ops = &backend_fake_windowed}, {.ops = &lessor}, {.ops = &lessor}};
    struct layout pool = {
        .bits = 2, .partitions = {2, 0, 0, 1}, .authority = -1};

    assert_int_equal(layout_lessor_count(&pool, backends), 0);
    pool.neighbours = true;
    assert_int_equal(layout_lessor_count(&pool, backends), 2);
    assert_int_equal(layout_lessor(&pool, 0, backends), 0);
    assert_int_equal(layout_lessor(&pool, 1, backends), 3);
    assert_true(layout_is_windowed(&pool, 0, &lessor));
    assert_true(layout_is_windowed(&pool, 1, &backend_fake_windowed));
    assert_int_equal(layout_lessor_bits(2), 1);
    assert_int_equal(layout_lessor_bits(3), 2);
    assert_int_equal(layout_lessor_bits(4), 2);
    assert_int_equal(layout_lessor_bits(5), 3);
    assert_int_equal(layout_lessor_bits(64), 6);
}

TEST(layout_of_neighbours_says_so)
{
    struct layout_store store[2] = {{.is_windowed = true, .id = "a1"},
                                    {.is_windowed = true, .id = "b2"}};
    const struct layout_stores stores = {
        .stores = store, .count = 2, .partitions = 2, .authority = -1};
    const struct layout pool = {
        .name = "main", .bits = 1, .window_bits = 10, .neighbours = true};
    char text[256];

    assert_ok(layout_compose(&pool, &stores, text, sizeof text, NULL));
    assert_string_equal(text, "pool=main;bits=1;window_bits=10;"
                              "authority=neighbours;partitions=a1,b2");
}

/* Servers became neighbours by default: whoever upgrades must be told. */
TEST(a_pool_from_before_neighbours_is_told_how_to_go_on)
{
    struct seqb_error err;

    assert_int_equal(
        layout_compare(
            "pg-a",
            "pool=a;bits=2;window_bits=0;authority=none;partitions=1,2,3,4",
            "pool=a;bits=2;window_bits=20;authority=neighbours;"
            "partitions=1,2,3,4",
            &err),
        SEQB_LAYOUT);
    assert_string_equal(
        err.text,
        "backend pg-a was used with another layout: window_bits was 0 and is "
        "20, authority was none and is neighbours; nothing was changed; write "
        "authority = \"none\" in the pool to go on as it was, or give it "
        "another generation and run seqctl migrate: another layout would issue "
        "old numbers again");
}
