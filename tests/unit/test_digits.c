/* SPDX-License-Identifier: Apache-2.0 */
/* Digits of every base: known texts, round trips at the edges, refusals. */
#include <string.h>

#include "number/digits.h"
#include "platform/text.h"
#include "support/test.h"

#define WIDEST 40
#define RANDOM (200000 / SEQB_TEST_SCALE)

static const struct {
    int32_t base;
    const char *letters;
    size_t count; /* of the digits of INT64_MAX */
} bases[] = {
    {10, "0123456789", 19},
    {16, "0123456789ABCDEF", 16},
    {32, "0123456789ABCDEFGHJKMNPQRSTVWXYZ", 13},
    {36, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 13},
    {58, "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 11},
    {62, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", 11},
};

TEST(six_bases_are_known)
{
    size_t known = 0;

    for (int64_t base = -100; base < 300; base++)
        known += digits_is_base(base);
    assert_int_equal(known, COUNT_OF(bases));
    for (size_t i = 0; i < COUNT_OF(bases); i++) {
        assert_true(digits_is_base(bases[i].base));
        assert_false(digits_is_base(bases[i].base + (INT64_C(1) << 32)));
        assert_int_equal(strlen(bases[i].letters), bases[i].base);
        assert_string_equal(digits_letters(bases[i].base), bases[i].letters);
    }
}

/* Writes a final 0 too, and looks at what stands around the digits. */
static const char *written(int32_t base, int64_t value, size_t width,
                           char text[WIDEST + 2])
{
    memset(text, '#', WIDEST + 2);
    digits_write(base, value, width, text + 1);
    assert_true(text[0] == '#' && text[width + 1] == '#');
    text[width + 1] = '\0';
    return text + 1;
}

TEST(known_numbers_have_their_digits)
{
    static const struct {
        int32_t base;
        int64_t value;
        const char *text;
    } rows[] = {
        {10, 0, "0"},
        {10, 1, "000001"},
        {10, 42, "00042"},
        {10, 100, "100"},
        {10, 9876543210, "9876543210"},
        {10, INT64_MAX, "9223372036854775807"},
        {16, 255, "FF"},
        {16, 48879, "00BEEF"},
        {16, INT64_MAX, "7FFFFFFFFFFFFFFF"},
        {32, 31, "Z"},
        {32, 1234, "16J"},
        {32, 32 * 18 + 20, "JM"}, /* I and L are left out */
        {32, INT64_MAX, "7ZZZZZZZZZZZZ"},
        {36, 35, "Z"},
        {36, 1679615, "ZZZZ"},
        {36, INT64_MAX, "1Y2P0IJ32E8E7"},
        {58, 0, "1"}, /* its zero */
        {58, 1, "111112"},
        {58, 57, "z"},
        {58, 58, "21"},
        {58, 0x287fb4cd, "233QC4"}, /* of the draft on Base58 */
        {58, INT64_MAX, "NQm6nKp8qFC"},
        {62, 61, "z"},
        {62, 62, "10"},
        {62, INT64_MAX, "AzL8n0Y58m7"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const size_t width = strlen(rows[i].text);
        char text[WIDEST + 2];
        int64_t value = -1;

        assert_string_equal(written(rows[i].base, rows[i].value, width, text),
                            rows[i].text);
        assert_true(digits_read(rows[i].base, rows[i].text, width, &value));
        assert_int_equal(value, rows[i].value);
    }
}

/* At its own width and at every wider one. */
static void expect_round_trip(size_t at, int64_t value)
{
    const int32_t base = bases[at].base;
    const size_t count = digits_count(base, value);

    assert_in_range(count, 1, bases[at].count);
    for (size_t width = count; width <= WIDEST; width++) {
        char text[WIDEST + 2];
        const char *digits = written(base, value, width, text);
        int64_t read = -1;

        assert_int_equal(strspn(digits, bases[at].letters), width);
        for (size_t i = 0; i < width - count; i++)
            assert_int_equal(digits[i], bases[at].letters[0]);
        if (value > 0)
            assert_int_not_equal(digits[width - count], bases[at].letters[0]);
        assert_true(digits_read(base, digits, width, &read));
        assert_int_equal(read, value);
    }
}

TEST(numbers_at_the_edges_come_back_at_every_width)
{
    for (size_t i = 0; i < COUNT_OF(bases); i++) {
        int64_t power = 1;

        expect_round_trip(i, 0);
        expect_round_trip(i, INT64_MAX);
        expect_round_trip(i, INT64_MAX - 1);
        assert_int_equal(digits_count(bases[i].base, 0), 1);
        for (size_t width = 0; width < bases[i].count; width++) {
            assert_int_equal(digits_power(bases[i].base, width), power);
            expect_round_trip(i, power);
            expect_round_trip(i, power - 1);
            assert_int_equal(digits_count(bases[i].base, power), width + 1);
            if (width > 0)
                assert_int_equal(digits_count(bases[i].base, power - 1), width);
            if (width + 1 < bases[i].count)
                power *= bases[i].base;
        }
        assert_int_equal(digits_count(bases[i].base, INT64_MAX),
                         bases[i].count);
    }
}

TEST(powers_that_do_not_fit_are_the_greatest_number)
{
    for (size_t i = 0; i < COUNT_OF(bases); i++) {
        assert_true(digits_power(bases[i].base, bases[i].count - 1) <
                    INT64_MAX);
        for (size_t more = 0; more < 200; more++)
            assert_int_equal(digits_power(bases[i].base, bases[i].count + more),
                             INT64_MAX);
    }
}

static uint64_t random_next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *seed >> 1;
}

TEST(random_numbers_come_back)
{
    uint64_t seed = 1;

    for (size_t i = 0; i < RANDOM; i++) {
        const int32_t base = bases[i % COUNT_OF(bases)].base;
        const unsigned shift = (unsigned)(random_next(&seed) >> 40) % 63;
        const int64_t value = (int64_t)(random_next(&seed) >> shift);
        const size_t count = digits_count(base, value);
        char text[WIDEST + 2];
        int64_t read = -1;

        assert_true(
            digits_read(base, written(base, value, count, text), count, &read));
        assert_true(read == value);
    }
}

/* All of two decimal digits, as they are written in one step. */
TEST(decimal_digits_are_those_of_printf)
{
    for (int value = 0; value < 10000; value++) {
        char expected[8];
        char text[WIDEST + 2];

        assert_true(text_format(expected, sizeof expected, "%05d", value));
        assert_string_equal(written(10, value, 5, text), expected);
        assert_string_equal(written(10, value, 4, text), expected + 1);
    }
}

static bool reads(int32_t base, const char *text)
{
    int64_t value = -1;
    const bool is_read = digits_read(base, text, strlen(text), &value);

    assert_true(is_read || value == -1);
    return is_read;
}

/* Another letter is none in any place, whatever byte it is. */
TEST(foreign_letters_are_refused)
{
    for (size_t i = 0; i < COUNT_OF(bases) * 255; i++) {
        const size_t at = i / 255;
        const char byte = (char)(i % 255 + 1);
        const bool is_own = strchr(bases[at].letters, byte) != NULL;
        char text[] = "222";

        for (size_t place = 0; place < 3; place++) {
            text[place] = byte;
            assert_int_equal(reads(bases[at].base, text), is_own);
            text[place] = '2';
        }
    }
}

TEST(text_without_digits_is_no_number)
{
    int64_t value = -1;

    for (size_t i = 0; i < COUNT_OF(bases); i++) {
        assert_false(digits_read(bases[i].base, "2", 0, &value));
        assert_int_equal(value, -1);
    }
}

/* One more than INT64_MAX, more by a digit, by far, and behind zeros. */
TEST(numbers_above_63_bits_are_refused)
{
    static const struct {
        int32_t base;
        const char *text;
    } rows[] = {
        {10, "9223372036854775808"},  {10, "9223372036854775810"},
        {10, "9999999999999999999"},  {10, "10000000000000000000"},
        {10, "18446744073709551616"}, /* 2^64, and 1 more: 0 and 1 if cut */
        {10, "18446744073709551617"}, {10, "0009223372036854775808"},
        {16, "8000000000000000"},     {16, "10000000000000000"},
        {16, "FFFFFFFFFFFFFFFF"},     {32, "8000000000000"},
        {32, "G000000000000"},        {36, "1Y2P0IJ32E8E8"},
        {36, "ZZZZZZZZZZZZZ"},        {58, "NQm6nKp8qFD"},
        {58, "zzzzzzzzzzz"},          {58, "211111111111"},
        {62, "AzL8n0Y58m8"},          {62, "zzzzzzzzzzz"},
        {62, "100000000000"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_false(reads(rows[i].base, rows[i].text));
}
