/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of bounded size: cutting, parsing, the forms of keys and names. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "platform/text.h"
#include "support/test.h"

/* What must stay as it is behind a buffer. */
#define GUARD "########"

TEST(what_does_not_fit_is_cut_and_said)
{
    static const char text[] = "abcdef";

    for (size_t size = 1; size <= sizeof text + 1; size++) {
        char copied[16] = GUARD GUARD;
        char joined[16] = GUARD GUARD;
        char formatted[16] = GUARD GUARD;
        const bool fits = size >= sizeof text;
        const size_t length = fits ? sizeof text - 1 : size - 1;

        assert_int_equal(text_copy(copied, size, text), fits);
        assert_int_equal(
            text_join(joined, size, (const char *[]){"ab", "", "cdef"}, 3),
            fits);
        assert_string_equal(joined, copied);
        assert_memory_equal(joined + size, GUARD, 8);
        assert_int_equal(text_format(formatted, size, "%s%d", "abc", 123),
                         fits);
        assert_int_equal(strlen(copied), length);
        assert_memory_equal(copied, text, length);
        assert_int_equal(strlen(formatted), length);
        assert_memory_equal(copied + size, GUARD, 8);
        assert_memory_equal(formatted + size, GUARD, 8);
    }
}

TEST(an_append_goes_on_where_the_text_ends)
{
    char text[8] = "";

    assert_true(text_append(text, sizeof text, "%s", "ab"));
    assert_true(text_append(text, sizeof text, "%s", ""));
    assert_true(text_append(text, sizeof text, "%d", 12345));
    assert_string_equal(text, "ab12345");
    assert_true(text_append(text, sizeof text, "%s", ""));
    assert_false(text_append(text, sizeof text, "x"));
    assert_string_equal(text, "ab12345");
}

TEST(counts_have_commas)
{
    static const struct {
        int64_t count;
        const char *text;
    } counts[] = {
        {0, "0"},
        {7, "7"},
        {999, "999"},
        {1000, "1,000"},
        {1200, "1,200"},
        {99999, "99,999"},
        {1000001, "1,000,001"},
        {INT64_MAX, "9,223,372,036,854,775,807"},
    };

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        char text[32] = "";

        assert_true(text_append_count(text, sizeof text, counts[i].count));
        assert_string_equal(text, counts[i].text);
        text[0] = '\0';
        assert_false(
            text_append_count(text, strlen(counts[i].text), counts[i].count));
    }
}

TEST(an_append_that_does_not_fit_is_cut_and_said)
{
    char text[16] = "abc";

    memset(text + 4, '#', 12);
    assert_false(text_append(text, 6, "%s", "defg"));
    assert_string_equal(text, "abcde");
    assert_memory_equal(text + 6, GUARD, 8);
}

/* Nothing may be written, or read, past the end. */
TEST(an_append_to_what_does_not_end_does_nothing)
{
    char *text = malloc(4);

    assert_non_null(text);
    memset(text, 'x', 4);
    assert_false(text_append(text, 4, "y"));
    assert_memory_equal(text, "xxxx", 4);
    free(text);
}

TEST(a_copy_on_the_heap_is_ones_own)
{
    char text[] = "order";
    char *copy = text_copy_of(text);

    assert_non_null(copy);
    text[0] = 'b';
    assert_string_equal(copy, "order");
    free(copy);
}

TEST(a_decimal_is_parsed_whole_or_not_at_all)
{
    static const struct {
        const char *text;
        bool is_good;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"00000000000000000000000007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775807", true, -INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"9223372036854775810", false, 0},
        {"18446744073709551616", false, 0},
        {"18446744073709551617", false, 0},
        {"99999999999999999999999999", false, 0},
        {"-99999999999999999999999999", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"--1", false, 0},
        {"+1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1\n", false, 0},
        {"1-", false, 0},
        {"1.0", false, 0},
        {"0x10", false, 0},
        {"1e3", false, 0},
        {"1/", false, 0},
        {"1:", false, 0},
        {"\xd9\xa1", false, 0},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t value = 4711;

        assert_int_equal(
            text_to_int64(cases[i].text, strlen(cases[i].text), &value),
            cases[i].is_good);
        assert_int_equal(value, cases[i].is_good ? cases[i].value : 4711);
    }
}

TEST(a_decimal_ends_where_its_length_says)
{
    int64_t value;

    assert_true(text_to_int64("123x", 3, &value));
    assert_int_equal(value, 123);
    assert_false(text_to_int64("12\0"
                               "3",
                               4, &value));
}

TEST(every_power_of_two_and_its_neighbours_parse_back)
{
    for (int bit = 0; bit < 63; bit++) {
        const int64_t power = (int64_t)1 << bit;
        const int64_t values[] = {power - 1, power, power + 1, -power - 1};

        for (size_t i = 0; i < COUNT_OF(values); i++) {
            char text[32];
            int64_t value;

            (void)text_format(text, sizeof text, "%" PRId64, values[i]);
            assert_true(text_to_int64(text, strlen(text), &value));
            assert_int_equal(value, values[i]);
        }
    }
}

TEST(keys_and_names_are_made_of_their_letters_only)
{
    for (int c = 1; c < 256; c++) {
        const char text[] = {'a', (char)c, 'z', '\0'};
        const bool is_common = (c >= 'a' && c <= 'z') ||
                               (c >= 'A' && c <= 'Z') ||
                               (c >= '0' && c <= '9') || c == '_' || c == '-';

        assert_int_equal(text_is_key(text), is_common || c == '.' || c == ':');
        assert_int_equal(text_is_name(text), is_common);
    }
}

TEST(keys_and_names_have_their_lengths)
{
    char text[80];

    for (size_t length = 0; length < sizeof text; length++) {
        memset(text, 'k', length);
        text[length] = '\0';
        assert_int_equal(text_is_key(text), length >= 1 && length <= 64);
        assert_int_equal(text_is_name(text), length >= 1 && length <= 32);
    }
}

TEST(the_distance_counts_single_letter_edits)
{
    static const struct {
        const char *a;
        const char *b;
        int distance;
    } cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"same", "same", 0},
        {"order", "ordre", 2},
        {"order", "orde", 1},
        {"order", "oorder", 1},
        {"order", "odrer", 2},
        {"kitten", "sitting", 3},
        {"memory_bits", "memorybits", 1},
        {"abc", "xyz", 3},
    };

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(text_distance(cases[i].a, cases[i].b),
                         cases[i].distance);
        assert_int_equal(text_distance(cases[i].b, cases[i].a),
                         cases[i].distance);
    }
}

TEST(the_distance_of_long_texts_stays_in_bounds)
{
    char a[200];
    char b[200];

    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    a[199] = '\0';
    b[199] = '\0';
    assert_int_equal(text_distance(a, b), 64);
    assert_int_equal(text_distance(a, ""), 64);
    assert_int_equal(text_distance("", b), 64);
}

TEST(part_of_a_text_ends_with_a_whole_character)
{
    assert_int_equal(text_part("", 3), 0);
    assert_int_equal(text_part("abc", 3), 3);
    assert_int_equal(text_part("abcd", 3), 3);
    assert_int_equal(text_part("ab\xc3\xa4", 4), 4);
    assert_int_equal(text_part("ab\xc3\xa4", 3), 2);
    assert_int_equal(text_part("ab\xe4\xb8\xad", 4), 2);
    assert_int_equal(text_part("\xe4\xb8\xad", 0), 0);
    assert_int_equal(text_part("\xa4\xa4\xa4", 2), 0);
}

TEST(key_at_the_begin_of_a_text)
{
    char key[70];

    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    assert_int_equal(text_key_length(""), 0);
    assert_int_equal(text_key_length("a.b_c:d-9\""), 9);
    assert_int_equal(text_key_length("\"a"), 0);
    assert_int_equal(text_key_length(key + 5), 64);
    assert_int_equal(text_key_length(key + 4), 0);
}
