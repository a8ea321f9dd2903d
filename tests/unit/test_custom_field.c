/* SPDX-License-Identifier: Apache-2.0 */
/* Registered fields: what may be registered, what is copied of it, how many
 * there may be, and that templates know them by their names. */
#include <string.h>

#include "platform/text.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/field_spy.h"

#define LETTERS_32 "abcdefghijklmnopqrstuvwxyz012345"
#define LETTERS_64                                                             \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKL"

static void expect_refused(const struct seqb_field *field, const char *words)
{
    struct seqb_error err = {SEQB_OK, ""};

    assert_int_equal(seqb_register_field(field, &err), SEQB_INVALID);
    assert_int_equal(err.status, SEQB_INVALID);
    rig_expect_words(err.text, words);
    assert_int_equal(seqb_register_field(field, NULL), SEQB_INVALID);
}

/* --- registering --- */

TEST(names_of_another_form_are_refused)
{
    static const char too_long[] = LETTERS_32 "a";
    static const char *const names[] = {
        NULL, "",    "A",  "Area", "9a", "_a",  "-a",   "a b",   "a.b",
        "aB", "a,b", "a}", "ä",    "aä", "a\n", "a=1 ", too_long};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct seqb_field field = field_spy_of(names[i], 0, NULL);

        expect_refused(&field, "a field's name is");
    }
}

TEST(names_that_are_taken_are_refused)
{
    static const char *const names[] = {"seq", "shuffle", "date", "param",
                                        "key", "shard",   "check"};
    const struct seqb_field own = field_spy_of("own-twice", 9, NULL);

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct seqb_field field = field_spy_of(names[i], 0, NULL);

        expect_refused(&field, names[i]);
    }
    field_spy_add(&own);
    expect_refused(&own, "own-twice already");
}

TEST(phases_and_lengths_out_of_range_are_refused)
{
    static const struct {
        int32_t phase;
        size_t min;
        size_t max;
        const char *words;
    } rows[] = {
        {-1, 1, 1, "its phase is -1, not 0 ... 9"},
        {10, 1, 1, "its phase is 10"},
        {INT32_MIN, 1, 1, "its phase is"},
        {0, 0, 0, "its lengths are 0 ... 0"},
        {0, 2, 1, "its lengths are 2 ... 1"},
        {0, 1, 65, "its lengths are 1 ... 65"},
        {0, 65, 65, "its lengths are 65 ... 65"},
        {0, 0, SIZE_MAX, "its lengths are"},
        {0, SIZE_MAX, 1, "its lengths are"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct seqb_field field =
            field_spy_of("out-of-range", rows[i].phase, NULL);

        field.min_length = rows[i].min;
        field.max_length = rows[i].max;
        expect_refused(&field, rows[i].words);
    }
}

TEST(alphabets_that_are_no_printable_ascii_are_refused)
{
    static const char *const alphabets[] = {
        "", " ", "AB C", "A\n", "A\x7f", "\x01", "\xc3x", "A\xe4\xf6"};
    char many[129];

    memset(many, 'A', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    for (size_t i = 0; i <= COUNT_OF(alphabets); i++) {
        struct seqb_field field = field_spy_of("odd-letters", 0, NULL);

        field.alphabet = i < COUNT_OF(alphabets) ? alphabets[i] : many;
        expect_refused(&field, "alphabet");
    }
}

TEST(field_that_evaluates_nothing_is_refused)
{
    struct seqb_field field = field_spy_of("idle", 0, NULL);

    field.evaluate = NULL;
    expect_refused(&field, "field idle: evaluate is missing");
}

/* --- compiling --- */

static const struct template_rules plain = {.key = "order"};

static void expect_uncompiled(const char *text, const char *words)
{
    struct seqb_error err = {SEQB_OK, ""};
    struct template *template = NULL;

    assert_int_equal(template_make(text, &plain, &template, &err),
                     SEQB_INVALID);
    assert_null(template);
    rig_expect_words(err.text, words);
}

TEST(name_is_unknown_until_it_is_registered)
{
    static const char text[] = "@{seq}-@{late-comer}";
    const struct seqb_field field = field_spy_of("late-comer", 0, NULL);

    expect_uncompiled(text, "column 10: there is no field 'late-comer'");
    field_spy_add(&field);
    template_free(field_spy_compile(text, NULL));
    expect_uncompiled("@{seq}-@{late-come}", "column 10: there is no field");
    expect_uncompiled("@{seq}-@{late-comer2}", "column 10: there is no field");
    expect_uncompiled("@{seq}-@{late-comer, width=3}", "column 22: ");
}

/* Everything of the struct is copied, and the limits are within. */
TEST(field_may_have_any_name_length_and_letters_that_are_allowed)
{
    char name[] = LETTERS_32;
    char alphabet[128];
    struct field_spy spy = {.writes = LETTERS_64};
    struct seqb_field field = field_spy_of(name, 9, &spy);
    const struct facts facts = {.key = "order", .number = 7};
    struct template *template;
    struct draft draft;
    char text[SEQB_TEXT_MAX + 1];

    memset(alphabet, '~', sizeof alphabet - 1);
    memcpy(alphabet, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 26);
    alphabet[sizeof alphabet - 1] = '\0';
    field.alphabet = alphabet;
    field.min_length = field.max_length = 64;
    field_spy_add(&field);
    memset(name, '?', sizeof name - 1);
    memset(alphabet, '?', sizeof alphabet - 1);
    memset(&field, 0, sizeof field);

    template = field_spy_compile("@{seq}@{" LETTERS_32 "}", NULL);
    assert_int_equal(template_length(template), 19 + 64);
    assert_ok(template_begin(template, &facts, &draft, NULL));
    assert_ok(template_write(&draft, text, NULL));
    assert_string_equal(text, "7" LETTERS_64);
    template_free(template);
}

TEST(letters_and_digits_are_what_a_field_has_by_default)
{
    static const char letters[] = "Az09";
    struct field_spy spy = {.writes = letters};
    struct seqb_field field = field_spy_of("default-letters", 0, &spy);
    const struct facts facts = {.key = "order", .number = 7};
    struct template *template;
    struct draft draft;
    struct seqb_error err = {SEQB_OK, ""};
    char text[SEQB_TEXT_MAX + 1];

    field.alphabet = NULL;
    field_spy_add(&field);
    template = field_spy_compile("@{seq}-@{default-letters}", NULL);
    assert_ok(template_begin(template, &facts, &draft, &err));
    assert_ok(template_write(&draft, text, &err));
    assert_string_equal(text, "7-Az09");
    spy.writes = "A-b";
    assert_int_equal(template_write(&draft, text, &err), SEQB_INVALID);
    template_free(template);
}

/* --- how many --- */

/* The last one: no more can be registered afterwards. */
TEST(sixty_four_fields_may_be_registered_and_no_more)
{
    static const char *const before[] = {
        "own-twice",
        "late-comer",
        LETTERS_32,
        "default-letters",
    };
    char name[16];
    char text[64];

    for (size_t i = COUNT_OF(before); i <= SEQB_FIELDS_MAX; i++) {
        struct seqb_field field = field_spy_of(name, 0, NULL);

        (void)text_format(name, sizeof name, "many-%zu", i);
        (void)text_format(text, sizeof text, "@{seq}-@{%s}", name);
        if (i < SEQB_FIELDS_MAX) {
            field_spy_add(&field);
            template_free(field_spy_compile(text, NULL));
        } else {
            expect_refused(&field, "64 are registered already");
            expect_uncompiled(text, "column 10: there is no field");
        }
    }
    for (size_t i = 0; i < COUNT_OF(before); i++) {
        const struct seqb_field field = field_spy_of(before[i], 0, NULL);

        expect_refused(&field, "already");
        (void)text_format(text, sizeof text, "@{seq}-@{%s}", before[i]);
        template_free(field_spy_compile(text, NULL));
    }
}
