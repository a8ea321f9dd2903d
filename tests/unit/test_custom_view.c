/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown to registered fields, and that what they write and refuse
 * counts. */
#include <string.h>

#include "platform/text.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/field_spy.h"

#define SECRET "correct horse battery staple"

/* --- what they are shown --- */

static struct field_spy spies[4];
static const int32_t spy_phases[] = {0, 3, 5, 9};

static int add_spies(void **state)
{
    static const char *const names[] = {"spy0", "spy3", "spy5", "spy9"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct seqb_field field =
            field_spy_of(names[i], spy_phases[i], &spies[i]);

        field.min_length = field.max_length = 2;
        if (seqb_register_field(&field, NULL) != SEQB_OK)
            return -1;
    }
    return 0;
}

static void reset_spies(void)
{
    static const char *const writes[] = {"ZE", "TH", "FI", "NI"};

    for (size_t i = 0; i < COUNT_OF(spies); i++)
        spies[i] = (struct field_spy){.writes = writes[i]};
}

static const struct bits_layout layout = {1577836800000, 1000, 32, 12, 19};
static const struct period_rules seconds = {PERIOD_SECOND, NULL, 1, 1};
static const struct template_rules of_ids = {
    .key = "order", .period = &seconds, .ids = &layout};

#define WHOLE                                                                  \
    "@{spy9}@{key}-@{seq, width=3}@{spy3}@{date}@{shard, width=4}"             \
    "@{param, name=area, width=2}@{param, name=b, width=1, default=Q}"         \
    "@{check, algorithm=damm}@{spy5}@{spy0}"
#define WHOLE_TEXT "NIorder-042TH202611211407030007xyQ1FIZE"

/* In 2026, on the 21st of November. */
#define BEGINS_MS INT64_C(1795270023000)

static struct facts whole_facts(void)
{
    static const char area[] = "xy";
    static const char b[] = "Q";
    struct facts facts = {
        .key = "order",
        .number = 42,
        .stamp = {20261121140703, BEGINS_MS, BEGINS_MS + 1000},
        .shard = 7,
        .params = {area, b},
        .lengths = {2, 1},
    };

    date_fields_of(PERIOD_SECOND, facts.stamp.digits, &facts.date);
    return facts;
}

TEST(field_sees_those_of_lower_phases_when_it_is_written)
{
    static const char *const shown[] = {
        "order 42 20261121140703 7 area:xy b:Q",
        "order 42 20261121140703 7 area:xy b:Q key=order seq=042 "
        "date=20261121140703 shard=0007 area=xy b=Q spy0=ZE",
        "order 42 20261121140703 7 area:xy b:Q key=order seq=042 spy3=TH "
        "date=20261121140703 shard=0007 area=xy b=Q spy0=ZE",
        "order 42 20261121140703 7 area:xy b:Q key=order seq=042 spy3=TH "
        "date=20261121140703 shard=0007 area=xy b=Q check=1 spy5=FI spy0=ZE",
    };
    struct template *template = field_spy_compile(WHOLE, &of_ids);
    const struct facts facts = whole_facts();
    struct draft draft;
    char text[SEQB_TEXT_MAX + 1];

    reset_spies();
    assert_ok(template_begin(template, &facts, &draft, NULL));
    assert_ok(template_write(&draft, text, NULL));
    assert_string_equal(text, WHOLE_TEXT);
    for (size_t i = 0; i < COUNT_OF(spies); i++)
        assert_string_equal(spies[i].shown, shown[i]);
    template_free(template);
}

/* Reads a text, as seqb_parse does. */
static enum seqb_status read(const struct template *template, const char *text,
                             struct seqb_error *err)
{
    struct facts facts = {.key = "order", .shard = -1};

    return template_read(template, text, strlen(text), &facts, err);
}

TEST(field_sees_all_when_it_is_read)
{
    static const char *const texts[] = {"ZE", "TH", "FI", "NI"};
    struct template *template = field_spy_compile(WHOLE, &of_ids);

    reset_spies();
    assert_ok(read(template, WHOLE_TEXT, NULL));
    for (size_t i = 0; i < COUNT_OF(spies); i++) {
        assert_string_equal(spies[i].text, texts[i]);
        assert_string_equal(
            spies[i].shown,
            "order 42 20261121140703 7 area:xy b:Q spy9=NI key=order seq=042 "
            "spy3=TH date=20261121140703 shard=0007 area=xy b=Q check=1 "
            "spy5=FI spy0=ZE");
    }
    template_free(template);
}

/* What it is shown as it is written, it is shown as it is read. */
static void expect_shown_alike(const char *text,
                               const struct template_rules *rules)
{
    struct template *template = field_spy_compile(text, rules);
    struct facts facts = {.key = "order", .number = 42, .shard = -1};
    struct draft draft;
    struct seqb_error err = {SEQB_OK, ""};
    char number[SEQB_TEXT_MAX + 1];
    char shown[sizeof spies[0].shown];

    reset_spies();
    if (rules->ids != NULL) {
        facts = whole_facts();
        facts.shard = 0;
    }
    assert_ok(template_begin(template, &facts, &draft, &err));
    assert_ok(template_write(&draft, number, &err));
    (void)text_format(shown, sizeof shown, "%s", spies[0].shown);
    if (read(template, number, &err) != SEQB_OK)
        fail_msg("%s: %s", number, err.text);
    if (strncmp(spies[0].shown, shown, strlen(shown)) != 0)
        fail_msg("%s: shown '%s' as it was written, '%s' as it was read", text,
                 shown, spies[0].shown);
    template_free(template);
}

TEST(field_before_a_shuffle_knows_the_number_when_it_is_read)
{
    struct shuffle_key key;
    const struct template_rules rules = {.key = "order", .shuffle_key = &key};

    shuffle_key_make(SECRET, strlen(SECRET), &key);
    expect_shown_alike("@{shuffle, width=4}@{spy0}", &rules);
    expect_shown_alike("@{spy0}@{shuffle, width=4}", &rules);
}

TEST(field_of_ids_without_a_shard_sees_shard_0_when_it_is_read)
{
    static const struct bits_layout alone = {1577836800000, 1000, 32, 0, 19};
    const struct template_rules rules = {
        .key = "order", .period = &seconds, .ids = &alone};

    expect_shown_alike("@{spy0}@{date}@{seq}", &rules);
}

/* --- what they write and refuse --- */

static struct field_spy tried;

static int add_tried(void **state)
{
    const struct seqb_field field = field_spy_of("tried", 3, &tried);

    (void)state;
    return seqb_register_field(&field, NULL) == SEQB_OK ? 0 : -1;
}

static enum seqb_status write_tried(const char *writes, enum seqb_status status,
                                    char text[SEQB_TEXT_MAX + 1],
                                    struct seqb_error *err)
{
    struct template *template = field_spy_compile("@{seq}-@{tried}", NULL);
    const struct facts facts = {.key = "order", .number = 7};
    struct draft draft;
    enum seqb_status result;

    tried = (struct field_spy){.writes = writes, .status = status};
    assert_ok(template_begin(template, &facts, &draft, err));
    result = template_write(&draft, text, err);
    assert_true(tried.is_called);
    template_free(template);
    return result;
}

TEST(field_that_fails_fails_the_number)
{
    static const enum seqb_status statuses[] = {SEQB_INVALID, SEQB_UNAVAILABLE,
                                                SEQB_NO_MEMORY};

    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        char text[SEQB_TEXT_MAX + 1];
        struct seqb_error err = {SEQB_OK, ""};

        assert_int_equal(write_tried("A", statuses[i], text, &err),
                         statuses[i]);
        assert_int_equal(err.status, statuses[i]);
        assert_string_equal(err.text,
                            "sequence order: field tried: the spy is tired");
    }
}

TEST(text_that_is_not_what_was_registered_fails_the_number)
{
    static const struct {
        const char *writes;
        enum seqb_status expected;
    } rows[] = {
        {"A", SEQB_OK},       {"ABCD", SEQB_OK},     {"", SEQB_INVALID},
        {"a", SEQB_INVALID},  {"AB1", SEQB_INVALID}, {"A-", SEQB_INVALID},
        {"A ", SEQB_INVALID}, {"Ä", SEQB_INVALID},   {"ABCDE", SEQB_INVALID},
        {"\n", SEQB_INVALID},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[SEQB_TEXT_MAX + 1];
        char expected[16];
        struct seqb_error err = {SEQB_OK, ""};

        if (write_tried(rows[i].writes, SEQB_OK, text, &err) !=
            rows[i].expected)
            fail_msg("'%s' became '%s'", rows[i].writes, text);
        (void)text_format(expected, sizeof expected, "7-%s", rows[i].writes);
        if (rows[i].expected == SEQB_OK)
            assert_string_equal(text, expected);
        else
            rig_expect_words(err.text, "sequence order: field tried");
    }
}

TEST(field_says_whether_its_text_is_right)
{
    struct template *template = field_spy_compile("@{seq}-@{tried}", NULL);
    struct seqb_error err = {SEQB_OK, ""};

    tried = (struct field_spy){.status = SEQB_OK};
    assert_ok(read(template, "7-AB", &err));
    assert_string_equal(tried.text, "AB");
    tried = (struct field_spy){.status = SEQB_FOREIGN};
    assert_int_equal(read(template, "7-AB", &err), SEQB_FOREIGN);
    assert_string_equal(err.text,
                        "character 3: field tried: the spy knows better");
    template_free(template);
}

TEST(field_is_not_asked_of_what_is_none_of_its_texts)
{
    static const char *const texts[] = {"7-",    "7-ABCDE", "7-A1", "7-a",
                                        "7-A B", "x-AB",    "AB",   ""};
    struct template *template = field_spy_compile("@{seq}-@{tried}", NULL);

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct seqb_error err = {SEQB_OK, ""};

        tried = (struct field_spy){.status = SEQB_OK};
        assert_int_equal(read(template, texts[i], &err), SEQB_FOREIGN);
        assert_true(err.text[0] != '\0');
        assert_false(tried.is_called);
    }
    template_free(template);
}

TEST(field_that_cannot_parse_takes_any_of_its_texts)
{
    struct seqb_field field = field_spy_of("trusting", 3, &tried);
    struct template *template;

    field.parse = NULL;
    field_spy_add(&field);
    template = field_spy_compile("@{seq}-@{trusting}", NULL);
    assert_ok(read(template, "7-A", NULL));
    assert_ok(read(template, "7-ZZZZ", NULL));
    assert_int_equal(read(template, "7-1", NULL), SEQB_FOREIGN);
    template_free(template);
}

static int add_all(void **state)
{
    return add_spies(state) == 0 && add_tried(state) == 0 ? 0 : -1;
}

TEST_BEFORE_ALL(add_all);
