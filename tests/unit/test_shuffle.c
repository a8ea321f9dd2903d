/* SPDX-License-Identifier: Apache-2.0 */
/* The keyed bijection: that it is one, with its inverse, for every size; what
 * another key, tweak or size changes; and that its codes stay what they are. */
#include <stdlib.h>
#include <string.h>

#include "number/shuffle.h"
#include "support/test.h"

#define WIDTH_MAX (SEQB_TEST_SCALE > 1 ? 4 : 5)
#define POWER_18  UINT64_C(1000000000000000000)
#define POWER_62  UINT64_C(839299365868340224) /* 62^10 */
#define CUBE_62   UINT64_C(238328)             /* 62^3 */
#define SIZE_MOST (UINT64_C(1) << 62)

static const char *const secrets[] = {
    "correct horse battery staple",
    "0123456789abcdef",
    "0123456789abcdeg",
};

static const uint64_t tweaks[] = {0, 20261121};

static struct shuffle shuffle_of(const char *secret, uint64_t size)
{
    struct shuffle_key key;
    struct shuffle shuffle;

    shuffle_key_make(secret, strlen(secret), &key);
    shuffle_init(&shuffle, &key, size);
    return shuffle;
}

static void expect_back(const struct shuffle *shuffle, uint64_t tweak,
                        uint64_t value)
{
    const uint64_t code = shuffle_forward(shuffle, tweak, value);

    if (code >= shuffle->size ||
        shuffle_backward(shuffle, tweak, code) != value)
        fail_msg("size %ju, tweak %ju: %ju became %ju and %ju",
                 (uintmax_t)shuffle->size, (uintmax_t)tweak, (uintmax_t)value,
                 (uintmax_t)code,
                 (uintmax_t)shuffle_backward(shuffle, tweak, code));
}

/* As many different codes below the size as there are values. */
static void expect_bijection(const struct shuffle *shuffle, uint64_t tweak)
{
    unsigned char *is_taken = calloc(shuffle->size, 1);

    assert_non_null(is_taken);
    for (uint64_t value = 0; value < shuffle->size; value++) {
        const uint64_t code = shuffle_forward(shuffle, tweak, value);

        assert_true(code < shuffle->size);
        assert_false(is_taken[code]);
        assert_true(shuffle_backward(shuffle, tweak, code) == value);
        is_taken[code] = 1;
    }
    free(is_taken);
}

static void expect_bijections(uint64_t size)
{
    for (size_t i = 0; i < COUNT_OF(secrets); i++) {
        const struct shuffle shuffle = shuffle_of(secrets[i], size);

        for (size_t j = 0; j < COUNT_OF(tweaks); j++)
            expect_bijection(&shuffle, tweaks[j]);
    }
}

TEST(every_width_of_decimal_digits_is_a_bijection)
{
    uint64_t size = 10;

    for (int width = 1; width <= WIDTH_MAX; width++, size *= 10)
        expect_bijections(size);
}

TEST(six_digits_are_a_bijection)
{
    const struct shuffle shuffle =
        shuffle_of(secrets[1], 1000000 / SEQB_TEST_SCALE);

    expect_bijection(&shuffle, tweaks[1]);
}

TEST(three_digits_of_base_62_are_a_bijection)
{
    const struct shuffle shuffle = shuffle_of(secrets[0], CUBE_62);

    for (size_t i = 0; i < COUNT_OF(tweaks); i++)
        expect_bijection(&shuffle, tweaks[i]);
}

/* Squares, primes, and what lies next to them: all shapes of the moduli. */
TEST(every_small_size_is_a_bijection)
{
    for (uint64_t size = 1; size <= 150; size++)
        expect_bijections(size);
    expect_bijections(7919);
    expect_bijections(104729 / SEQB_TEST_SCALE);
}

TEST(moduli_cover_every_size_and_hardly_more)
{
    static const uint64_t sizes[] = {
        1,
        2,
        3,
        POWER_18,
        POWER_62,
        UINT64_C(4294836225), /* 65535^2 */
        UINT64_C(4294836226),
        UINT64_C(2305843009213693951), /* 2^61 - 1, a prime */
        SIZE_MOST - 1,
        SIZE_MOST,
    };

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const struct shuffle shuffle = shuffle_of(secrets[0], sizes[i]);
        const uint64_t all = (uint64_t)shuffle.left * shuffle.right;

        assert_true(all >= sizes[i]);
        assert_true(all - sizes[i] < shuffle.left);
        assert_true(shuffle.left - shuffle.right <= 1);
    }
}

TEST(edges_of_great_sizes_come_back)
{
    static const uint64_t sizes[] = {POWER_18, POWER_62, SIZE_MOST - 1,
                                     SIZE_MOST};

    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const struct shuffle shuffle = shuffle_of(secrets[0], sizes[i]);

        for (uint64_t n = 0; n < 1000 / SEQB_TEST_SCALE; n++) {
            expect_back(&shuffle, 0, n);
            expect_back(&shuffle, UINT64_MAX, sizes[i] - 1 - n);
            expect_back(&shuffle, n, sizes[i] / 1000 * n);
        }
    }
}

/* Of two orders of random codes, some 1 in `size` agree. */
static size_t agreeing(const struct shuffle *a, uint64_t tweak_a,
                       const struct shuffle *b, uint64_t tweak_b)
{
    size_t count = 0;

    for (uint64_t n = 0; n < 1000; n++)
        count +=
            shuffle_forward(a, tweak_a, n) == shuffle_forward(b, tweak_b, n);
    return count;
}

TEST(other_keys_and_tweaks_give_other_orders)
{
    const struct shuffle one = shuffle_of(secrets[1], 10000);
    const struct shuffle other = shuffle_of(secrets[2], 10000);

    assert_int_equal(agreeing(&one, 7, &one, 7), 1000);
    assert_in_range(agreeing(&one, 7, &other, 7), 0, 4);
    assert_in_range(agreeing(&one, 7, &one, 8), 0, 4);
    assert_in_range(agreeing(&one, 7, &one, 7 | UINT64_C(1) << 63), 0, 4);
    assert_in_range(agreeing(&one, 0, &one, UINT64_MAX), 0, 4);
}

/* 9999 has the moduli of 10000: it is the key that differs. */
TEST(other_sizes_give_other_orders)
{
    const struct shuffle one = shuffle_of(secrets[0], 10000);
    const struct shuffle other = shuffle_of(secrets[0], 9999);

    assert_int_equal(one.left, other.left);
    assert_int_equal(one.right, other.right);
    assert_in_range(agreeing(&one, 7, &other, 7), 0, 4);
}

/*
 * Computed once, and again by a second implementation, from the hash up.
 * These never change: a broker with another algorithm would repeat the codes
 * that are out already. See the head of shuffle.c.
 */
TEST(codes_are_for_ever)
{
    static const struct {
        uint64_t size;
        uint64_t tweak;
        uint64_t value;
        uint64_t code;
    } rows[] = {
        {1, 0, 0, 0},
        {3, 0, 0, 1},
        {10, 0, 0, 5},
        {10, 0, 9, 1},
        {100000, 0, 0, 12074},
        {100000, 20261121, 0, 67714},
        {100000, 20261121, 1, 34920},
        {100000, 20261121, 99999, 49832},
        {100000, 20261122, 0, 46048},
        {CUBE_62, 20261121, 0, 103734},
        {1000000000, 0, 0, 496383102},
        {1000000000, 20261121, 0, 452619713},
        {1000000000, 20261121, 1, 990448886},
        {1000000000, 20261121, 999999999, 502411999},
        {POWER_18, 20261121, 0, UINT64_C(152856989914804728)},
        {POWER_18, 20261121, POWER_18 - 1, UINT64_C(154698026793904580)},
        {POWER_62, 20261121, 0, UINT64_C(445215411174449673)},
        {POWER_62, 20261121, POWER_62 - 1, UINT64_C(629058991034786898)},
        {SIZE_MOST, UINT64_MAX, SIZE_MOST - 1, UINT64_C(1086776414075112565)},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct shuffle shuffle = shuffle_of(secrets[0], rows[i].size);

        if (shuffle_forward(&shuffle, rows[i].tweak, rows[i].value) !=
            rows[i].code)
            fail_msg("row %zu has another code, %ju", i,
                     (uintmax_t)shuffle_forward(&shuffle, rows[i].tweak,
                                                rows[i].value));
    }
}

TEST(fingerprint_is_the_keys_for_ever)
{
    static const char *const expected[] = {
        "e8bafc8535d27dbe",
        "f366c72c6f436b75",
    };

    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        struct shuffle_key key;
        char fingerprint[SHUFFLE_FINGERPRINT_SIZE];

        shuffle_key_make(secrets[i], strlen(secrets[i]), &key);
        shuffle_fingerprint(&key, fingerprint);
        assert_string_equal(fingerprint, expected[i]);
    }
}

TEST(every_byte_of_a_secret_counts)
{
    char secret[SHUFFLE_SECRET_MAX];
    struct shuffle_key first;
    char was[SHUFFLE_FINGERPRINT_SIZE];
    char shorter[SHUFFLE_FINGERPRINT_SIZE];

    memset(secret, 'a', sizeof secret);
    shuffle_key_make(secret, sizeof secret, &first);
    shuffle_fingerprint(&first, was);
    for (size_t i = 0; i < sizeof secret; i++) {
        struct shuffle_key key;
        char fingerprint[SHUFFLE_FINGERPRINT_SIZE];

        secret[i] = 'b';
        shuffle_key_make(secret, sizeof secret, &key);
        shuffle_fingerprint(&key, fingerprint);
        secret[i] = 'a';
        assert_memory_not_equal(key.bytes, first.bytes, sizeof key.bytes);
        assert_string_not_equal(fingerprint, was);
    }
    shuffle_key_make(secret, sizeof secret - 1, &first);
    shuffle_fingerprint(&first, shorter);
    assert_string_not_equal(shorter, was);
}

/* The claim that it stands in may be read by others. */
TEST(fingerprint_shows_nothing_of_the_key)
{
    char digits[2 * SHUFFLE_KEY_SIZE + 1] = "";
    struct shuffle_key key;
    char fingerprint[SHUFFLE_FINGERPRINT_SIZE];

    shuffle_key_make(secrets[0], strlen(secrets[0]), &key);
    shuffle_fingerprint(&key, fingerprint);
    for (size_t i = 0; i < SHUFFLE_KEY_SIZE; i++) {
        digits[2 * i] = "0123456789abcdef"[key.bytes[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[key.bytes[i] & 15];
    }
    for (size_t i = 0; fingerprint[i + 3] != 0; i++) {
        const char part[] = {fingerprint[i], fingerprint[i + 1],
                             fingerprint[i + 2], fingerprint[i + 3], 0};

        assert_null(strstr(digits, part));
    }
}

TEST(library_has_a_name_and_a_version)
{
    assert_memory_equal(shuffle_library(), "libsodium 1.", 12);
}
