/* SPDX-License-Identifier: Apache-2.0 */
/* Templates: what compiles, what is refused and where, and the texts. */
#include <string.h>

#include "platform/text.h"
#include "support/failure.h"
#include "support/test.h"
#include "template_case.h"

#define D "@{date}"

struct refusal {
    const char *text;
    size_t column;
    const char *why;
};

static void expect_refused(const struct template_rules *rules,
                           const struct refusal *row)
{
    struct template *template = NULL;
    struct seqb_error err = {.text = ""};
    char column[24];

    (void)text_format(column, sizeof column, "column %zu: ", row->column);
    assert_int_equal(template_make(row->text, rules, &template, &err),
                     SEQB_INVALID);
    if (strncmp(err.text, column, strlen(column)) != 0 ||
        strstr(err.text, row->why) == NULL)
        fail_msg("%s: expected %s%s, got %s", row->text, column, row->why,
                 err.text);
    assert_null(template);
}

TEST(mistake_is_told_with_its_column)
{
    static const struct refusal rows[] = {
        {"", 1, "expected a field @{seq} or @{shuffle}"},
        {"SN-", 4, "expected a field @{seq} or @{shuffle}"},
        {"@@{seq}", 8, "expected a field @{seq} or @{shuffle}"},
        {"@{", 3, "there is no field ''"},
        {"@{}", 3, "there is no field ''"},
        {"@{seq", 3, "expected '}'"},
        {"@{seq,", 7, "has no option ''"},
        {"@{ sec }", 4, "there is no field 'sec': expected one of seq, "},
        {"ab\tc", 3, "control character"},
        {"@{seq, wide=6}", 8, "has no option 'wide', expected width, base"},
        {"@{seq, width}", 13, "expected '='"},
        {"@{seq, width=}", 14, "'width' has no value"},
        {"@{seq, width=0}", 14, "'width' is 1 ... 32, not '0'"},
        {"@{seq, width=33}", 14, "'width' is 1 ... 32"},
        {"@{seq, width=6x}", 14, "not '6x'"},
        {"@{seq, width=6, width=7}", 17, "'width' comes twice"},
        {"@{seq, base=11}", 13, "10, 16, 32, 36, 58 or 62, not 11"},
        {"@{seq, overflow=wrap}", 17, "one of widen, refuse, not 'wrap'"},
        {"@{seq, overflow=refuse}", 3, "overflow=refuse needs a width"},
        {"@{shuffle}", 3, "shuffle needs a width, 1 ... 18"},
        {"@{shuffle, width=19}", 18, "'width' is 1 ... 18"},
        {"@{shuffle, base=62, width=11}", 27, "'width' is 1 ... 10"},
        {"@{date, format=%Y%k}@{seq}", 18, "unknown conversion %k"},
        {"@{date, format=%Y%I}@{seq}", 18, "use %H"},
        {"@{date, format=%H}@{seq}", 16, "the period day has no %H"},
        {"@{param}@{seq}", 3, "param needs a name"},
        {"@{param, name=1a}", 15, "a parameter's name is a letter"},
        {"@{param, name=shard}", 15, "'shard' is a field"},
        {"@{param, name=seq}@{seq}", 15, "'seq' is a field"},
        {"@{date, format=%Y\x01}@{seq}", 18, "control character"},
        {"@{param, name=a, name=a, name=a, name=a, name=a, name=a, name=a, "
         "name=a, name=a}",
         73, "too many options"},
        {"@{param, name=a, width=3, max=4}", 3, "not both"},
        {"@{param, name=a, width=65}", 24, "'width' is 1 ... 64"},
        {"@{param, name=a, alphabet=x}", 27, "one of alnum, digits, upper"},
        {"@{param, name=a, width=3, default=ab}", 35, "the default 'ab'"},
        {"@{param, name=a, alphabet=digits, default=x}", 43, "'x' is not of"},
        {"@{param, name=a, width=1}-@{param, name=a}", 41, "already"},
        {"@{shard}@{seq}", 3, "only a sequence with 'ids' has a shard"},
        {"@{check}", 3, "check needs an algorithm"},
        {"@{check, algorithm=luhn10}", 20, "expected luhn, luhn-36"},
        {"@{check, algorithm=luhn, over=x}", 31, "seq, digits, all"},
        {"@{key, width=3}", 8, "has no option 'width', expected '}'"},
    };
    const struct template_rules rules = case_rules();

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_refused(&rules, &rows[i]);
}

TEST(too_much_is_told_with_its_column)
{
    const struct template_rules rules = case_rules();
    char text[2048] = "";
    struct refusal row = {.text = text};

    for (int i = 0; i < 33; i++)
        (void)text_append(text, sizeof text, "@{seq,width=1,base=62}");
    row.column = 32 * strlen("@{seq,width=1,base=62}") + 3;
    row.why = "more than 32 pieces";
    expect_refused(&rules, &row);
    (void)text_format(text, sizeof text, "%0*d", 256, 0);
    row.column = 256;
    row.why = "longer than 255";
    expect_refused(&rules, &row);
    (void)text_format(text, sizeof text, "%0*d@{key}@{seq}", 250, 0);
    row.column = 259;
    row.why = "longer than 255 bytes from here on";
    expect_refused(&rules, &row);
    (void)text_format(text, sizeof text, "%0*d", 1025, 0);
    row.column = 1025;
    row.why = "longer than 1024";
    expect_refused(&rules, &row);
    text[0] = '\0';
    for (int i = 0; i < 9; i++)
        (void)text_append(text, sizeof text, "@{param, name=a%d, width=1}", i);
    row.column = 8 * strlen("@{param, name=a0, width=1}") + 3;
    row.why = "more than 8 parameters";
    expect_refused(&rules, &row);
}

/* Else two numbers would have one text. */
TEST(text_has_to_tell_stamp_and_shard)
{
    static const struct refusal of_a_day[] = {
        {"@{seq}", 7, "dates must tell the year"},
        {"@{date, format=%m%d}@{seq, width=5}", 36, "the year"},
        {"@{date, format=%Y%m}@{seq, width=5}", 36, "the day"},
        {"@{date, format=%Y%V}@{seq, width=5}", 36, "would come again"},
    };
    static const struct refusal of_ids[] = {
        {"@{date}@{seq, width=6}", 23, "expected a field @{shard}"},
        {"@{shard, width=4}@{seq, width=6}", 33, "dates must tell the year"},
        {"@{date, format=%Y%m%d%H%M}@{shard, width=4}@{seq, width=6}", 59,
         "the second"},
    };
    const struct template_rules day = case_rules();
    const struct template_rules ids = case_rules_of_ids();

    for (size_t i = 0; i < COUNT_OF(of_a_day); i++)
        expect_refused(&day, &of_a_day[i]);
    for (size_t i = 0; i < COUNT_OF(of_ids); i++)
        expect_refused(&ids, &of_ids[i]);
}

/* Else a text could be read in two ways, and be that of two numbers. */
TEST(neighbours_of_varying_length_are_ambiguous)
{
    static const struct refusal rows[] = {
        {D "@{seq}@{param, name=a}", 16, "ambiguous"},
        {D "@{param, name=a}@{seq, width=3}", 26, "the field at column 10"},
        {D "@{seq}0@{param, name=a}", 17, "ambiguous"},
        {D "@{seq}@{param, name=a, alphabet=upper}-@{key}", 16, "ambiguous"},
        {D "@{seq}@{check, algorithm=damm}7@{param, name=a}", 41, "ambiguous"},
        {D "@{param, name=a}-@{param, name=b}@{seq}", 43,
         "the field at column 27"},
        {D "@{seq, base=62}x@{param, name=a, width=2}@{shuffle, width=5}", 51,
         "the field at column 10"},
    };
    static const char *const sound[] = {
        D "@{seq}-@{param, name=a}",
        D "@{seq}@{check, algorithm=damm}-@{param, name=a}",
        D "@{param, name=a}@{seq, width=3, overflow=refuse}",
        D "@{seq}0x@{param, name=a}",
        D "@{param, name=a}/@{param, name=b}/@{seq}",
    };
    const struct template_rules rules = case_rules();

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_refused(&rules, &rows[i]);
    for (size_t i = 0; i < COUNT_OF(sound); i++)
        template_free(case_make(sound[i], &rules));
}

TEST(check_digit_must_be_able_to_read_what_it_covers)
{
    static const struct refusal rows[] = {
        {D "SN@{seq}@{check, algorithm=luhn, over=all}", 18, "reads digits"},
        {D "@{seq, base=16}@{check, algorithm=damm, over=seq}", 25, "reads "},
        {D "@{seq, base=62}@{check, algorithm=iso7064-mod37}", 25,
         "capital letters"},
        {D "@{seq, base=16}@{check, algorithm=damm}", 25, "another algorithm"},
        {D "@{seq, base=36}@{check, algorithm=luhn-36, over=digits}", 25,
         "say over=all"},
    };
    const struct template_rules rules = case_rules();

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_refused(&rules, &rows[i]);
}

TEST(shuffle_needs_a_key)
{
    struct template_rules rules = case_rules();

    rules.shuffle_key = NULL;
    expect_refused(&rules, &(struct refusal){D "@{shuffle, width=5}", 10,
                                             "set shuffle_key_file"});
}

struct written {
    const char *text; /* the template */
    int64_t number;
    const char *expected;
};

static void expect_written(const struct template_rules *rules,
                           const struct written *row)
{
    const struct seqb_param params[] = {{"area", "010"}, {"code", "6541"}};
    struct template *template = case_make(row->text, rules);
    struct seqb_error err = {.text = ""};
    struct facts facts;
    char out[SEQB_TEXT_MAX + 1];

    case_facts(template, row->number, params,
               template->param_count == 2 ? 2 : 0, &facts);
    if (case_write(template, &facts, out, &err) != SEQB_OK)
        fail_msg("%s: %s", row->text, err.text);
    assert_string_equal(out, row->expected);
    assert_true(strlen(out) <= template_length(template));
    template_free(template);
}

TEST(texts_are_as_written)
{
    static const struct written rows[] = {
        {"@{date}@{seq, width=5}", 1, "2026112100001"},
        {"@{date}@{seq, width=5}", 99999, "2026112199999"},
        {"@{date}@{seq, width=5}", 100000, "20261121100000"},
        {"SN-@{date, format=%Y%m%d}-@{seq, width=6}-@{check, algorithm=damm}",
         7, "SN-20261121-000007-1"},
        {"@{ date , format = %y%m%d }@{seq}", 12, "26112112"},
        {"@{param, name=area, width=3}-@{param, name=code}-@{seq, width=5}"
         "-@{date}",
         1, "010-6541-00001-20261121"},
        {"@{param, name=x, default=XY}.@{date}.@{seq}", 3, "XY.20261121.3"},
        {"@@{@ @{date}@{seq} @", 3, "@{@ 202611213 @"},
        {"@{key}/@{date, format=%Y-%m-%d}/@{seq, base=16, width=4}", 48879,
         "order/2026-11-21/BEEF"},
        {"@{date, format=%G-W%V-%u}.@{seq, base=36}", 35, "2026-W47-6.Z"},
        {"@{date, format=%Y.%j}.@{seq, base=62}", INT64_MAX,
         "2026.325.AzL8n0Y58m7"},
        {"@{seq}@{check, algorithm=luhn, over=seq}-@{date}", 7992739871,
         "79927398713-20261121"},
        {"@{check, algorithm=verhoeff, over=seq}:@{seq}:@{date}", 236,
         "3:236:20261121"},
        {"@{check, algorithm=iso7064-mod97, over=seq}@{seq}.@{date}", 794,
         "44794.20261121"},
    };
    const struct template_rules rules = case_rules();

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        expect_written(&rules, &rows[i]);
}

/* What the first one has covered: neither the other nor itself. */
TEST(checks_do_not_cover_each_other)
{
    const struct template_rules rules = case_rules();
    struct template *one =
        case_make(D "@{seq}@{check, algorithm=damm}", &rules);
    struct template *two = case_make(
        "@{check, algorithm=gs1}" D "@{seq}@{check, algorithm=damm}", &rules);
    char first[SEQB_TEXT_MAX + 1];
    char second[SEQB_TEXT_MAX + 1];
    struct facts facts;

    for (int64_t number = 1; number < 2000; number++) {
        case_facts(one, number, NULL, 0, &facts);
        assert_ok(case_write(one, &facts, first, NULL));
        assert_ok(case_write(two, &facts, second, NULL));
        assert_string_equal(second + 1, first);
    }
    template_free(one);
    template_free(two);
}

TEST(ids_are_written_by_their_parts)
{
    const struct template_rules rules = case_rules_of_ids();
    const struct seqb_param shard = {"shard", "17"};
    struct template *template =
        case_make("WB@{date}@{seq, width=6}@{shard, width=4}", &rules);
    char out[SEQB_TEXT_MAX + 1];
    struct facts facts;

    case_facts(template, 524287, &shard, 1, &facts);
    assert_ok(case_write(template, &facts, out, NULL));
    assert_string_equal(out, "WB202611210000005242870017");
    assert_int_equal(template_length(template), strlen(out));
    template_free(template);
}

TEST(number_that_does_not_fit_is_refused)
{
    static const struct {
        const char *text;
        int64_t last;
    } rows[] = {
        {D "@{seq, width=5, overflow=refuse}", 99999},
        {D "@{seq, width=3, base=16, overflow=refuse}", 4095},
        {D "@{shuffle, width=5, overflow=refuse}", 100000},
        {D "@{shuffle, width=2, base=62, overflow=refuse}", 3844},
        {D "@{shuffle, width=5}", INT64_C(1000000000000000000)},
    };
    const struct template_rules rules = case_rules();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct template *template = case_make(rows[i].text, &rules);
        struct seqb_error err = {.text = ""};
        char out[SEQB_TEXT_MAX + 1];
        struct facts facts;

        case_facts(template, rows[i].last, NULL, 0, &facts);
        assert_ok(case_write(template, &facts, out, &err));
        facts.number++;
        assert_int_equal(case_write(template, &facts, out, &err),
                         SEQB_EXHAUSTED);
        assert_non_null(strstr(err.text, "does not fit"));
        template_free(template);
    }
}

TEST(limit_is_that_of_the_narrowest_field)
{
    static const struct {
        const char *text;
        int64_t limit;
        int64_t most; /* the greatest number that has a text */
    } rows[] = {
        {D "@{seq}", INT64_MAX, INT64_MAX},
        {D "@{seq, width=5}", 99999, INT64_MAX},
        {D "@{seq, width=19}", INT64_MAX, INT64_MAX},
        {D "@{seq, width=20, overflow=refuse}", INT64_MAX, INT64_MAX},
        {D "@{shuffle, width=5}", 100000, 1000000000000000000},
        {D "@{shuffle, width=5, overflow=refuse}", 100000, 100000},
        {D "@{shuffle, width=5}@{seq, width=3, overflow=refuse}", 999, 999},
        {D "@{seq, width=2, base=36}", 1295, INT64_MAX},
    };
    const struct template_rules rules = case_rules();

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct template *template = case_make(rows[i].text, &rules);

        assert_int_equal(template_limit(template), rows[i].limit);
        assert_int_equal(template_max(template), rows[i].most);
        template_free(template);
    }
}

TEST(two_digit_year_ends_with_its_century)
{
    const struct template_rules rules = case_rules();
    struct template *template =
        case_make("@{date, format=%y%m%d}@{seq}", &rules);
    char out[SEQB_TEXT_MAX + 1];
    struct facts facts;

    case_facts(template, 1, NULL, 0, &facts);
    case_set_day(&facts, 20991231);
    assert_ok(case_write(template, &facts, out, NULL));
    case_set_day(&facts, 21000101);
    assert_fails(case_write(template, &facts, out, &failure), SEQB_EXHAUSTED,
                 "2100");
    template_free(template);
}

static void expect_as_fresh(struct template *used, const char *text,
                            const struct facts *facts)
{
    const struct template_rules rules = used->rules;
    struct template *fresh = case_make(text, &rules);
    char expected[SEQB_TEXT_MAX + 1] = "";
    char out[SEQB_TEXT_MAX + 1] = "";
    const enum seqb_status status = case_write(fresh, facts, expected, NULL);

    for (int i = 0; i < 2; i++) {
        assert_int_equal(case_write(used, facts, out, NULL), status);
        if (status == SEQB_OK)
            assert_string_equal(out, expected);
    }
    template_free(fresh);
}

/* What is kept of one stamp is written for no other, in whatever order they
 * come; of a date that does not fit nothing is. */
TEST(texts_of_many_stamps_are_as_those_of_one)
{
    static const char *const texts[] = {
        "SN-@{date, format=%Y%m%d}-@{seq, width=6}-@{check, algorithm=damm}",
        "@{date, format=%y%m%d}@{shuffle, width=5}",
        "@{date}@{key}-@{seq}@{check, algorithm=luhn, over=seq}",
        "@{date, format=%G-W%V-%u}/@{date, format=%j}-@{seq}",
        "@{date, format=%Y}/@{seq}-@{date}@{check, algorithm=verhoeff}",
        "0123456789-0123456789-@{date, format=%Y.%m.%d}@{seq}",
        "0123456789-0123456789-@{date, format=%Y.%m.%d}-@{seq}",
        "@{check, algorithm=gs1}@{date}@{param, name=x, default=7}.@{seq}",
        "@{check, algorithm=iso7064-mod97, over=digits}A@{date}-@{seq}",
    };
    static const int64_t days[] = {20261121, 20261122, 20261121, 20991231,
                                   21000101, 20261122, 20261122, 21000101};
    const struct template_rules rules = case_rules();

    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct template *used = case_make(texts[i], &rules);
        struct facts facts;

        case_facts(used, 1, NULL, 0, &facts);
        for (size_t j = 0; j < 2 * COUNT_OF(days); j++) {
            facts.number += (int64_t)j;
            case_set_day(&facts, days[j % COUNT_OF(days)]);
            expect_as_fresh(used, texts[i], &facts);
        }
        template_free(used);
    }
}

/* Of one stamp: what changes with each call is written each time. */
TEST(keys_and_parameters_are_those_of_the_call)
{
    static const struct seqb_param one = {"x", "1"};
    static const struct seqb_param two = {"x", "2"};
    struct template_rules rules = case_rules();
    struct template *template;
    char out[SEQB_TEXT_MAX + 1];
    struct facts facts;

    rules.key = NULL; /* as auto_sequences have it */
    template =
        case_make("@{date}@{param, name=x, width=1}@{key}/@{seq}", &rules);
    case_facts(template, 5, &one, 1, &facts);
    facts.key = "order";
    assert_ok(case_write(template, &facts, out, NULL));
    assert_string_equal(out, "202611211order/5");
    case_facts(template, 5, &two, 1, &facts);
    facts.key = "invoice";
    assert_ok(case_write(template, &facts, out, NULL));
    assert_string_equal(out, "202611212invoice/5");
    template_free(template);
}
