/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What check digits detect: every error of four kinds in every number of six
 * digits, counted, and in every text of three letters or digits. It prints
 * the table that docs/numbers.md shows.
 */
#include <stdlib.h>
#include <string.h>

#include "number/check_digit.h"
#include "platform/text.h"
#include "support/test.h"

#define LENGTH_MAX 6
#define TEXT_MAX   (LENGTH_MAX + CHECK_LENGTH_MAX)

static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

enum error_kind {
    SINGLE, /* a -> b */
    SWAP,   /* ab -> ba */
    JUMP,   /* abc -> cba */
    TWIN    /* aa -> bb */
};

#define KINDS (TWIN + 1)

struct tally {
    uint64_t errors;
    uint64_t missed;
};

/* All texts of a length over the first letters of the alphabet. */
struct texts {
    enum check_algorithm algorithm;
    size_t base;
    size_t length;
    size_t whole; /* with the check characters */
    size_t count;
    size_t weights[LENGTH_MAX]; /* of the places */
    uint16_t *checks;           /* of each text, in its order */
};

/* One of them and its check characters, as places in the alphabet. */
struct text {
    size_t index;
    uint8_t at[TEXT_MAX];
};

/* How many characters may stand at a place. */
static size_t choices_at(const struct texts *texts, size_t place)
{
    if (place < texts->length)
        return texts->base;
    return check_makes_letters(texts->algorithm) ? 36 : 10;
}

static unsigned place_of(char c)
{
    return (unsigned)(strchr(alphabet, c) - alphabet);
}

/* Check characters as one number. */
static unsigned check_reckon(const struct texts *texts, const struct text *text)
{
    char letters[LENGTH_MAX];
    char out[CHECK_LENGTH_MAX] = {'0', '0'};
    struct check check;

    for (size_t i = 0; i < texts->length; i++)
        letters[i] = alphabet[text->at[i]];
    check_begin(&check, texts->algorithm);
    check_feed(&check, letters, texts->length);
    check_end(&check, out);
    if (texts->whole == texts->length + 1)
        return place_of(out[0]);
    return place_of(out[0]) * 36 + place_of(out[1]);
}

/* The check characters that stand in the text, likewise. */
static unsigned check_read(const struct texts *texts, const struct text *text)
{
    unsigned check = 0;

    for (size_t i = texts->length; i < texts->whole; i++)
        check = check * 36 + text->at[i];
    return check;
}

static void text_at(const struct texts *texts, size_t index, struct text *out)
{
    size_t rest = index;

    out->index = index;
    for (size_t i = texts->length; i > 0; i--) {
        out->at[i - 1] = (uint8_t)(rest % texts->base);
        rest /= texts->base;
    }
    rest = texts->checks[index];
    for (size_t i = texts->whole; i > texts->length; i--) {
        out->at[i - 1] = (uint8_t)(rest % 36);
        rest /= 36;
    }
}

static void texts_init(struct texts *texts, enum check_algorithm algorithm,
                       size_t base, size_t length)
{
    texts->algorithm = algorithm;
    texts->base = base;
    texts->length = length;
    texts->whole = length + check_length(algorithm);
    texts->count = 1;
    for (size_t i = length; i > 0; i--) {
        texts->weights[i - 1] = texts->count;
        texts->count *= base;
    }
    texts->checks = calloc(texts->count, sizeof *texts->checks);
    assert_non_null(texts->checks);
    for (size_t i = 0; i < texts->count; i++) {
        struct text text;

        text_at(texts, i, &text);
        texts->checks[i] = (uint16_t)check_reckon(texts, &text);
    }
}

static void texts_fini(struct texts *texts)
{
    free(texts->checks);
}

/* Whether a reader would take it. A check character that has come among the
 * others may be a letter in a text of digits: that one is in no table. */
static bool is_valid(const struct texts *texts, const struct text *text)
{
    size_t index = 0;

    for (size_t i = 0; i < texts->length; i++) {
        if (text->at[i] >= texts->base)
            return check_reckon(texts, text) == check_read(texts, text);
        index = index * texts->base + text->at[i];
    }
    return texts->checks[index] == check_read(texts, text);
}

/* Of texts that differ in one place only, `step` from one to the next: those
 * of the same check are each mistaken for all the others of them. */
static uint64_t count_alike(const struct texts *texts, size_t first,
                            size_t step)
{
    uint8_t seen[36 * 36] = {0};
    uint64_t alike = 0;

    for (size_t i = 0; i < texts->base; i++)
        alike += 2 * (uint64_t)seen[texts->checks[first + i * step]]++;
    return alike;
}

/* An error in the check itself cannot be missed. */
static void count_singles(const struct texts *texts, struct tally *tally)
{
    for (size_t step = 1; step < texts->count; step *= texts->base) {
        for (size_t i = 0; i < texts->count; i++) {
            if (i / step % texts->base == 0)
                tally->missed += count_alike(texts, i, step);
        }
    }
    for (size_t i = 0; i < texts->whole; i++)
        tally->errors += texts->count * (choices_at(texts, i) - 1);
}

/* The places i < j, and what stands there by mistake. */
struct error {
    size_t i, j;
    uint8_t at_i, at_j;
};

static bool is_missed(const struct texts *texts, const struct text *text,
                      const struct error *error)
{
    const size_t i = error->i;
    const size_t j = error->j;
    struct text wrong;

    if (j < texts->length) /* most are: so at once, not letter by letter */
        return texts->checks[text->index + error->at_i * texts->weights[i] +
                             error->at_j * texts->weights[j] -
                             text->at[i] * texts->weights[i] -
                             text->at[j] * texts->weights[j]] ==
               texts->checks[text->index];
    wrong = *text;
    wrong.at[i] = error->at_i;
    wrong.at[j] = error->at_j;
    return is_valid(texts, &wrong);
}

/* Two characters change places that are `apart`. */
static void count_swaps(const struct texts *texts, const struct text *text,
                        size_t apart, struct tally *tally)
{
    for (size_t j = apart; j < texts->whole; j++) {
        const size_t i = j - apart;
        const struct error error = {i, j, text->at[j], text->at[i]};

        if (text->at[i] == text->at[j])
            continue;
        tally->errors++;
        tally->missed += is_missed(texts, text, &error);
    }
}

static void count_twin(const struct texts *texts, const struct text *text,
                       size_t i, struct tally *tally)
{
    for (size_t b = 0; b < choices_at(texts, i); b++) {
        const struct error error = {i, i + 1, (uint8_t)b, (uint8_t)b};

        if (b == text->at[i] || b >= choices_at(texts, i + 1))
            continue;
        tally->errors++;
        tally->missed += is_missed(texts, text, &error);
    }
}

static void count_twins(const struct texts *texts, const struct text *text,
                        struct tally *tally)
{
    for (size_t i = 0; i + 1 < texts->whole; i++) {
        if (text->at[i] == text->at[i + 1])
            count_twin(texts, text, i, tally);
    }
}

static void count_all(const struct texts *texts, struct tally tallies[KINDS])
{
    count_singles(texts, &tallies[SINGLE]);
    for (size_t i = 0; i < texts->count; i++) {
        struct text text;

        text_at(texts, i, &text);
        count_swaps(texts, &text, 1, &tallies[SWAP]);
        count_swaps(texts, &text, 2, &tallies[JUMP]);
        count_twins(texts, &text, &tallies[TWIN]);
    }
}
/* Rounded down, so that 100 % are all of them. */
static void print_rate(const struct tally *tally)
{
    const uint64_t detected = tally->errors - tally->missed;
    const int rate = (int)(detected * 10000 / tally->errors);

    if (rate % 10000 == 0)
        print_message(" %d |", rate / 100);
    else
        print_message(" %d.%02d |", rate / 100, rate % 100);
}

static void print_rates(const struct texts *texts,
                        const struct tally tallies[KINDS])
{
    print_message("# | `%s` | %d of %s | %d of %s |",
                  check_name(texts->algorithm),
                  (int)(texts->whole - texts->length),
                  check_makes_letters(texts->algorithm) ? "0-9 A-Z" : "0-9",
                  (int)texts->length, texts->base == 10 ? "0-9" : "0-9 A-Z");
    for (size_t kind = 0; kind < KINDS; kind++)
        print_rate(&tallies[kind]);
    print_message("\n");
}

static const char *const header =
    "# | algorithm | writes | text | single errors % | adjacent swaps % "
    "| jump swaps % | twin errors % |\n"
    "# |---|---|---|---|---|---|---|\n";

/* The counts from which the rates in the docs are rounded: of errors, and of
 * those that are missed, of each kind. */
struct expectation {
    enum check_algorithm algorithm;
    struct tally tallies[KINDS];
};

/* clang-format off */
static const struct expectation of_digits[] = {
    {CHECK_LUHN, {{63000000, 0}, {5400000, 120000},
                  {4500000, 4500000}, {5400000, 360000}}},
    {CHECK_LUHN_36, {{89000000, 0}, {5472204, 3468},
                     {4572224, 4572224}, {4750164, 0}}},
    {CHECK_DAMM, {{63000000, 0}, {5400000, 0},
                  {4500000, 441400}, {5400000, 504000}}},
    {CHECK_VERHOEFF, {{63000000, 0}, {5400000, 0},
                      {4500000, 260000}, {5400000, 240000}}},
    {CHECK_MOD97, {{72000000, 0}, {6317526, 0}, {5399999, 0}, {6142266, 0}}},
    {CHECK_MOD37, {{89000000, 0}, {5472242, 30916},
                   {4572222, 16643}, {4749822, 0}}},
    {CHECK_GS1, {{63000000, 0}, {5400000, 600000},
                 {4500000, 4500000}, {5400000, 600000}}},
    {CHECK_JD, {{63000000, 4000000}, {5400000, 353542},
                {4500000, 269682}, {5400000, 237414}}},
};

static const struct expectation of_letters[] = {
    {CHECK_LUHN_36, {{6531840, 0}, {136080, 216},
                     {90720, 90720}, {136080, 2592}}},
    {CHECK_MOD97, {{5738688, 14780}, {178886, 432},
                   {136077, 194}, {137034, 408}}},
    {CHECK_MOD37, {{6531840, 0}, {136080, 216},
                   {90720, 1724}, {136080, 2592}}},
};
/* clang-format on */

static void expect_counts(const struct expectation *expected, size_t base,
                          size_t length)
{
    struct tally tallies[KINDS] = {{0, 0}};
    struct texts texts;

    texts_init(&texts, expected->algorithm, base, length);
    count_all(&texts, tallies);
    texts_fini(&texts);
    print_rates(&texts, tallies);
    for (size_t kind = 0; kind < KINDS; kind++) {
        assert_int_equal(tallies[kind].errors, expected->tallies[kind].errors);
        assert_int_equal(tallies[kind].missed, expected->tallies[kind].missed);
    }
}

#if SEQB_TEST_SCALE == 1 /* a sanitizer takes a minute for so many */
TEST(errors_in_six_digits_are_detected_as_the_docs_say)
{
    print_message("%s", header);
    for (size_t i = 0; i < COUNT_OF(of_digits); i++)
        expect_counts(&of_digits[i], 10, 6);
}
#endif

TEST(errors_in_three_letters_are_detected_as_the_docs_say)
{
    print_message("%s", header);
    for (size_t i = 0; i < COUNT_OF(of_letters); i++)
        expect_counts(&of_letters[i], 36, 3);
}

/* Every kind that none of six digits is missed of. */
static void expect_none_missed(const struct expectation *expected,
                               size_t length)
{
    struct tally tallies[KINDS] = {{0, 0}};
    struct texts texts;

    texts_init(&texts, expected->algorithm, 10, length);
    count_all(&texts, tallies);
    texts_fini(&texts);
    for (size_t kind = 0; kind < KINDS; kind++) {
        if (expected->tallies[kind].missed == 0)
            assert_int_equal(tallies[kind].missed, 0);
    }
}

TEST(what_is_always_detected_is_so_in_shorter_numbers)
{
    for (size_t i = 0; i < COUNT_OF(of_digits); i++) {
        for (size_t length = 1; length <= 4; length++)
            expect_none_missed(&of_digits[i], length);
    }
}

static bool is_0_and_9(int a, int b)
{
    return (a == 0 && b == 9) || (a == 9 && b == 0);
}

static bool differ_by_5(int a, int b)
{
    return a - b == 5 || b - a == 5;
}

static void expect_swaps_missed(enum check_algorithm algorithm,
                                bool (*are_missed)(int a, int b))
{
    struct texts texts;

    texts_init(&texts, algorithm, 10, 3);
    for (size_t i = 0; i < texts.count * (texts.whole - 1); i++) {
        const size_t at = i % (texts.whole - 1);
        struct text text;
        struct error error = {at, at + 1, 0, 0};

        text_at(&texts, i / (texts.whole - 1), &text);
        error.at_i = text.at[at + 1];
        error.at_j = text.at[at];
        if (error.at_i != error.at_j)
            assert_int_equal(is_missed(&texts, &text, &error),
                             are_missed(error.at_i, error.at_j));
    }
    texts_fini(&texts);
}

TEST(luhn_misses_swaps_of_0_and_9_alone)
{
    expect_swaps_missed(CHECK_LUHN, is_0_and_9);
}

TEST(gs1_misses_swaps_of_digits_that_differ_by_5_alone)
{
    expect_swaps_missed(CHECK_GS1, differ_by_5);
}
