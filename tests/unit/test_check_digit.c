/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check digits: published numbers, and the definitions of the standards. What
 * they detect is test_check_detection's.
 */
#include <string.h>

#include "check_definitions.h"
#include "number/check_digit.h"
#include "platform/text.h"
#include "support/test.h"

#define LONGEST 300
#define RANDOM  (3000 / SEQB_TEST_SCALE)

/* The digits as a text. */
struct result {
    char text[CHECK_LENGTH_MAX + 1];
};

static struct result result_of(const struct check *check)
{
    struct result result = {""};

    check_end(check, result.text);
    return result;
}

static struct result check_of(enum check_algorithm algorithm, const char *text)
{
    struct check check;

    check_begin(&check, algorithm);
    check_feed(&check, text, strlen(text));
    return result_of(&check);
}

TEST(published_numbers_have_their_check_digits)
{
    static const struct {
        enum check_algorithm algorithm;
        const char *text;
        const char *digits;
    } rows[] = {
        {CHECK_LUHN, "7992739871", "3"},
        {CHECK_LUHN, "4992739871", "6"},
        {CHECK_LUHN, "123456781234567", "0"},
        {CHECK_LUHN, "49015420323751", "8"}, /* an IMEI */
        {CHECK_LUHN, "80840123456789", "3"}, /* an NPI, USA */
        {CHECK_LUHN_36, "KF12OI", "S"},
        {CHECK_LUHN_36, "ABCDEF", "U"},
        {CHECK_DAMM, "572", "4"},
        {CHECK_DAMM, "576", "2"},
        {CHECK_DAMM, "11294", "6"},
        {CHECK_DAMM, "123", "4"},
        {CHECK_VERHOEFF, "236", "3"},
        {CHECK_VERHOEFF, "12345", "1"},
        {CHECK_VERHOEFF, "142857", "0"},
        {CHECK_VERHOEFF, "123", "3"},
        {CHECK_VERHOEFF, "123456789", "0"},
        {CHECK_VERHOEFF, "2470000", "7"}, /* of SNOMED CT */
        {CHECK_VERHOEFF, "8473643095483728456789", "2"},
        {CHECK_MOD97, "794", "44"},                  /* of the standard */
        {CHECK_MOD97, "WEST12345698765432GB", "82"}, /* IBANs, turned */
        {CHECK_MOD97, "370400440532013000DE", "89"},
        {CHECK_MOD97, "539007547034RF", "18"},     /* ISO 11649 */
        {CHECK_MOD97, "5493001KJTIIGC8Y1R", "12"}, /* LEIs */
        {CHECK_MOD97, "HWUPKR0MPOU8FGXBT3", "94"},
        {CHECK_MOD37, "A12425GABC1234002", "M"}, /* GRids */
        {CHECK_MOD37, "B159D8FA01240000", "K"},
        {CHECK_MOD37, "188166C734200000", "3"},
        {CHECK_GS1, "400638133393", "1"}, /* EAN-13 */
        {CHECK_GS1, "629104150021", "3"},
        {CHECK_GS1, "978316148410", "0"}, /* ISBN-13 */
        {CHECK_GS1, "03600029145", "2"},  /* UPC-A */
        {CHECK_GS1, "7351353", "7"},      /* EAN-8 */
        {CHECK_GS1, "5512345", "7"},
        {CHECK_GS1, "37610425002123456", "9"}, /* SSCC */
        {CHECK_JD, "1", "9"},
        {CHECK_JD, "31", "0"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(check_of(rows[i].algorithm, rows[i].text).text,
                            rows[i].digits);
}

TEST(text_without_digits_has_a_check_digit_too)
{
    static const char *const rows[CHECK_ALGORITHMS] = {
        [CHECK_LUHN] = "0",     [CHECK_LUHN_36] = "0", [CHECK_DAMM] = "0",
        [CHECK_VERHOEFF] = "0", [CHECK_MOD97] = "98",  [CHECK_MOD37] = "1",
        [CHECK_GS1] = "0",      [CHECK_JD] = "0",
    };

    for (int i = 0; i < CHECK_ALGORITHMS; i++) {
        const enum check_algorithm algorithm = (enum check_algorithm)i;

        assert_string_equal(check_of(algorithm, "").text, rows[i]);
        assert_string_equal(check_of(algorithm, "-/ ").text, rows[i]);
    }
}

static struct result defined(enum check_algorithm algorithm, const char *text)
{
    const int value = check_definitions[algorithm].check(text, strlen(text));
    struct result result = {""};

    if (check_length(algorithm) == 2)
        (void)text_format(result.text, sizeof result.text, "%02d", value);
    else
        result.text[0] = check_alphabet[value];
    return result;
}

static uint64_t random_next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *seed >> 33;
}

static void random_text(uint64_t *seed, enum check_algorithm algorithm,
                        char text[LONGEST + 1])
{
    const size_t base = check_definitions[algorithm].base;
    const size_t length = random_next(seed) % (LONGEST + 1);

    for (size_t i = 0; i < length; i++)
        text[i] = check_alphabet[random_next(seed) % base];
    text[length] = '\0';
}

/* In pieces of random lengths, many of them 0 or 1. */
static struct result check_in_pieces(uint64_t *seed,
                                     enum check_algorithm algorithm,
                                     const char *text)
{
    size_t left = strlen(text);
    struct check check;

    check_begin(&check, algorithm);
    while (left > 0) {
        const size_t most = random_next(seed) % 2 == 0 ? 2 : 100;
        size_t length = random_next(seed) % most;

        length = length < left ? length : left;
        check_feed(&check, text, length);
        text += length;
        left -= length;
    }
    return result_of(&check);
}

TEST(texts_have_the_check_digits_of_the_definitions)
{
    uint64_t seed = 1;

    for (int i = 0; i < RANDOM * CHECK_ALGORITHMS; i++) {
        const enum check_algorithm algorithm =
            (enum check_algorithm)(i % CHECK_ALGORITHMS);
        char text[LONGEST + 1];
        struct result expected;

        random_text(&seed, algorithm, text);
        expected = defined(algorithm, text);
        assert_string_equal(check_of(algorithm, text).text, expected.text);
        assert_string_equal(check_in_pieces(&seed, algorithm, text).text,
                            expected.text);
    }
}

/* Sums are greatest of such texts. */
TEST(long_texts_of_one_character_do_not_overflow)
{
    for (int i = 0; i < CHECK_ALGORITHMS; i++) {
        const enum check_algorithm algorithm = (enum check_algorithm)i;

        for (size_t at = 0; at < check_definitions[i].base; at++) {
            char text[LONGEST + 1] = "";

            memset(text, check_alphabet[at], LONGEST);
            assert_string_equal(check_of(algorithm, text).text,
                                defined(algorithm, text).text);
        }
    }
}

/* Each digit such that p as often as its place says makes `element` of it. */
static void verhoeff_text(int element, char text[LONGEST + 1])
{
    for (size_t i = 0; i < LONGEST; i++) {
        int digit = 0;

        while (verhoeff_permuted(digit, i + 1) != element)
            digit++;
        text[LONGEST - 1 - i] = check_alphabet[digit];
    }
    text[LONGEST] = '\0';
}

/* A turn by four fifths for every digit is most. */
TEST(turns_of_verhoeff_do_not_overflow)
{
    for (int element = 0; element < 10; element++) {
        char text[LONGEST + 1];

        verhoeff_text(element, text);
        assert_string_equal(check_of(CHECK_VERHOEFF, text).text,
                            defined(CHECK_VERHOEFF, text).text);
    }
}

TEST(whatever_an_algorithm_does_not_read_is_skipped)
{
    static const struct {
        const char *text;
        const char *digits;  /* what is left of it */
        const char *letters; /* the same with A-Z */
    } rows[] = {
        {"SN-2026/11.21 0001", "202611210001", "SN202611210001"},
        {"abc1xyz2", "12", "12"},
        {"1:2;3<4=5>6?7@8A9[0\\1]2^3_4`5{6", "12345678901234 56",
         "12345678A90123456"},
        {"/0:9@AZ[`az{", "09", "09AZ"},
        {"\xc3\x84 1\xb1\xff\x80\x01\x7f 2", "12", "12"},
    };

    for (size_t i = 0; i < COUNT_OF(rows) * CHECK_ALGORITHMS; i++) {
        const size_t row = i / CHECK_ALGORITHMS;
        const enum check_algorithm algorithm =
            (enum check_algorithm)(i % CHECK_ALGORITHMS);
        const char *read = check_reads_letters(algorithm) ? rows[row].letters
                                                          : rows[row].digits;

        assert_string_equal(check_of(algorithm, rows[row].text).text,
                            check_of(algorithm, read).text);
    }
}

TEST(every_byte_but_those_read_is_skipped)
{
    for (int i = 0; i < CHECK_ALGORITHMS * 255; i++) {
        const enum check_algorithm algorithm =
            (enum check_algorithm)(i % CHECK_ALGORITHMS);
        const char byte = (char)(i / CHECK_ALGORITHMS + 1);
        const char text[] = {'1', '2', byte, '3', '\0'};
        const char *at = strchr(check_alphabet, byte);

        if (at != NULL &&
            (size_t)(at - check_alphabet) < check_definitions[algorithm].base)
            assert_string_equal(check_of(algorithm, text).text,
                                defined(algorithm, text).text);
        else
            assert_string_equal(check_of(algorithm, text).text,
                                check_of(algorithm, "123").text);
    }
}

/* What was written with 63 bits: right as far as they reach. */
TEST(jd_is_its_formula_and_exact_above_what_overflowed)
{
    static const uint64_t values[] = {
        0,
        1,
        30,
        31,
        999999,
        UINT64_C(1020000000000000000),
        UINT64_C(1024819115206086200), /* the last that * 9 fits */
        UINT64_C(1024819115206086201),
        UINT64_C(2049638230412172401), /* likewise, of 64 bits */
    };
    static const struct {
        const char *text;
        const char *digit;
    } beyond[] = {
        {"9223372036854775807", "1"},  /* 1 modulo 31 is 7 */
        {"18446744073709551615", "1"}, /* ... is 15 */
        {"31000000000000000000000000000000", "0"},
        {"31000000000000000000000000000001", "9"},
    };

    for (uint64_t i = 0; i < 100000 / SEQB_TEST_SCALE + COUNT_OF(values); i++) {
        const uint64_t value = i < COUNT_OF(values) ? values[i] : i * 7919;
        char text[32];
        char digit[2] = "";

        digit[0] = check_alphabet[value * 9 % 31 % 10];
        assert_true(
            text_format(text, sizeof text, "%llu", (unsigned long long)value));
        assert_string_equal(check_of(CHECK_JD, text).text, digit);
    }
    for (size_t i = 0; i < COUNT_OF(beyond); i++)
        assert_string_equal(check_of(CHECK_JD, beyond[i].text).text,
                            beyond[i].digit);
}

static const struct {
    const char *name;
    size_t length;
    bool reads_letters;
    bool makes_letters;
} kinds[CHECK_ALGORITHMS] = {
    [CHECK_LUHN] = {"luhn", 1, false, false},
    [CHECK_LUHN_36] = {"luhn-36", 1, true, true},
    [CHECK_DAMM] = {"damm", 1, false, false},
    [CHECK_VERHOEFF] = {"verhoeff", 1, false, false},
    [CHECK_MOD97] = {"iso7064-mod97", 2, true, false},
    [CHECK_MOD37] = {"iso7064-mod37", 1, true, true},
    [CHECK_GS1] = {"gs1", 1, false, false},
    [CHECK_JD] = {"jd", 1, false, false},
};

TEST(algorithms_have_names_and_tell_what_they_read_and_make)
{
    for (int i = 0; i < CHECK_ALGORITHMS; i++) {
        const enum check_algorithm algorithm = (enum check_algorithm)i;
        enum check_algorithm read =
            (enum check_algorithm)(CHECK_ALGORITHMS - 1 - i);

        assert_string_equal(check_name(algorithm), kinds[i].name);
        assert_true(check_parse(kinds[i].name, strlen(kinds[i].name), &read));
        assert_int_equal(read, algorithm);
        assert_int_equal(check_length(algorithm), kinds[i].length);
        assert_int_equal(check_reads_letters(algorithm),
                         kinds[i].reads_letters);
        assert_int_equal(check_makes_letters(algorithm),
                         kinds[i].makes_letters);
    }
}

TEST(other_names_are_none)
{
    static const char *const rows[] = {
        "",     "l",     "luh",   "luhn-",   "luhn-3",        "luhn-366",
        "Damm", "damm ", "mod97", "iso7064", "iso7064-mod98",
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        enum check_algorithm read = CHECK_GS1;

        assert_false(check_parse(rows[i], strlen(rows[i]), &read));
        assert_int_equal(read, CHECK_GS1);
    }
}
