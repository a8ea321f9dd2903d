/* SPDX-License-Identifier: Apache-2.0 */
/* Texts read back: what they say, and why one is none of the sequence's. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"
#include "template_case.h"

#define SAMPLE                                                                 \
    "SN-@{date, format=%Y%m%d}-@{seq, width=6}-@{check, algorithm=damm}"

struct row {
    const char *text;
    const char *why; /* NULL: it is one */
};

static void expect_verdict(const struct template *template,
                           const struct row *row)
{
    struct seqb_error err = {.text = ""};
    struct facts facts;
    const enum seqb_status status =
        case_read(template, row->text, &facts, &err);

    if (row->why == NULL && status != SEQB_OK)
        fail_msg("'%s' is refused: %s", row->text, err.text);
    if (row->why == NULL)
        return;
    assert_int_equal(status, SEQB_FOREIGN);
    if (strstr(err.text, row->why) == NULL)
        fail_msg("'%s': expected %s, got %s", row->text, row->why, err.text);
}

static void expect_verdicts(const char *text,
                            const struct template_rules *rules,
                            const struct row *rows, size_t count)
{
    struct template *template = case_make(text, rules);

    for (size_t i = 0; i < count; i++)
        expect_verdict(template, &rows[i]);
    template_free(template);
}

TEST(text_of_another_form_is_told_from_ours)
{
    static const struct row rows[] = {
        {"SN-20261121-000007-1", NULL},
        {"", "form"},
        {"SN-", "form"},
        {"SN-20261121-000007-", "form"},
        {"SN-20261121-000007-11", "form"},
        {"SN-20261121-00007-1", "form"},
        {"XN-20261121-000007-1", "character 1: expected 'SN-'"},
        {"SN-20261121x000007-1", "character 12: expected '-'"},
        {"SN-20261121-00000g-1", "character 13: '00000g' is no number in "
                                 "base 10"},
        {"SN-20261121-000007-2", "character 20: the check digit '2' is wrong"},
        {"SN-20261121-000008-1", "the check digit"},
        {"SN-20261121-000000-8", "number 0 is not in 1 ... "},
        {"SN-2026112x-000007-1", "character 4: '2026112x' is no such date"},
        {"SN-20261321-000007-1", "no such date"},
        {"SN-20260229-000007-1", "no such date"},
        {"SN-20261121-0000007-1", "zeros"},
        {"SN-20261121-99999999999999999999-1", "longer than 33"},
        {"SN-20261121-9999999999999999999-1", "is no number in base 10"},
        {"SN-20261121-000007-1 and more, longer than any", "longer than 33"},
        {"\xff\xfe", "form"},
    };
    const struct template_rules rules = case_rules();

    expect_verdicts(SAMPLE, &rules, rows, COUNT_OF(rows));
}

TEST(number_has_one_text_only)
{
    static const struct row wide[] = {
        {"20261121.000007", NULL},
        {"20261121.1000007", NULL},
        {"20261121.0000007", "more zeros"},
    };
    static const struct row hex[] = {
        {"20261121.beef", "no number in base 16"},
        {"20261121.BEEF", NULL},
    };
    const struct template_rules rules = case_rules();

    expect_verdicts("@{date}.@{seq, width=6}", &rules, wide, COUNT_OF(wide));
    expect_verdicts("@{date}.@{seq, base=16}", &rules, hex, COUNT_OF(hex));
}

/* Of the codes of six digits those of five are no part. */
TEST(widened_code_is_none_that_is_narrow)
{
    const struct template_rules rules = case_rules();
    struct template *template = case_make("@{date}@{shuffle, width=2}", &rules);
    int count = 0;

    for (int code = 0; code < 1000; code++) {
        char text[32];
        struct facts facts;

        snprintf(text, sizeof text, "20261121%03d", code);
        if (case_read(template, text, &facts, NULL) != SEQB_OK)
            continue;
        assert_in_range(facts.number, 101, 1000);
        count++;
    }
    assert_int_equal(count, 900);
    template_free(template);
}

TEST(other_key_is_none_of_this_sequence)
{
    static const struct row rows[] = {
        {"order/20261121/5", NULL},
        {"ordes/20261121/5", "character 1: expected 'order'"},
        {"orders/20261121/5", "expected 'order'"},
    };
    const struct template_rules listed = case_rules();
    struct template_rules any = case_rules();
    struct template *template;
    struct facts facts;

    expect_verdicts("@{key}/@{date}/@{seq}", &listed, rows, 2);
    any.key = NULL;
    template = case_make("@{key}/@{date}/@{seq}", &any);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        facts = (struct facts){.key = "order", .shard = -1};
        assert_int_equal(template_read(template, rows[i].text,
                                       strlen(rows[i].text), &facts, NULL),
                         i == 0 ? SEQB_OK : SEQB_FOREIGN);
    }
    template_free(template);
}

TEST(parameters_are_given_back)
{
    static const struct row rows[] = {
        {"010-6541-00001-20261121", NULL},
        {"01-6541-00001-20261121", "'01-' is no area: expected 3 "},
        {"01x-6541-00001-20261121", "'01x' is no area: expected 3 characters "
                                    "of alphabet digits"},
        {"010--00001-20261121", "form"},
        {"010-65_1-00001-20261121", "'65_1' is no code: expected 1 ... 32 "
                                    "characters of alphabet alnum"},
    };
    static const char text[] =
        "@{param, name=area, width=3, alphabet=digits}-@{param, name=code}"
        "-@{seq, width=5}-@{date}";
    const struct template_rules rules = case_rules();
    struct template *template = case_make(text, &rules);
    struct facts facts;

    expect_verdicts(text, &rules, rows, COUNT_OF(rows));
    assert_ok(case_read(template, rows[0].text, &facts, NULL));
    assert_int_equal(facts.number, 1);
    assert_int_equal(facts.stamp.digits, 20261121);
    assert_int_equal(facts.lengths[0], 3);
    assert_ptr_equal(facts.params[0], rows[0].text);
    assert_int_equal(facts.lengths[1], 4);
    assert_ptr_equal(facts.params[1], rows[0].text + 4);
    template_free(template);
}

TEST(stamp_must_exist_in_the_zone)
{
    static const struct row rows[] = {
        {"2026032901.7", NULL},
        {"2026032902.7", "there is no such date"}, /* clocks go from 2 to 3 */
        {"2026032903.7", NULL},
        {"2026102502.7", NULL}, /* the hour that comes twice */
        {"2026032924.7", "no such date"},
    };
    struct period_zone *zone = NULL;
    struct template_rules rules = case_rules();
    struct period_rules hour = {PERIOD_HOUR, NULL, 1, 1};

    assert_ok(period_zone_open("Europe/Berlin", &zone, NULL));
    hour.zone = zone;
    rules.period = &hour;
    expect_verdicts("@{date}.@{seq}", &rules, rows, COUNT_OF(rows));
    period_zone_close(zone);
}

TEST(date_without_a_period_must_exist_as_far_as_it_is_told)
{
    static const struct row days[] = {
        {"20260228-7", NULL},
        {"20260229-7", "no such date"},
        {"20261301-7", "no such date"},
    };
    static const struct row months[] = {
        {"202612-7", NULL},
        {"202613-7", "no such date"},
    };
    struct template_rules rules = case_rules();

    rules.period = NULL;
    expect_verdicts("@{date, format=%Y%m%d}-@{seq}", &rules, days,
                    COUNT_OF(days));
    expect_verdicts("@{date, format=%Y%m}-@{seq}", &rules, months,
                    COUNT_OF(months));
}

TEST(fields_that_disagree_are_refused)
{
    static const struct row rows[] = {
        {"20261121-7/007-26", NULL},
        {"20261121-7/008-26", "number 8, but another field of it says 7"},
        {"20261121-7/007-27", "no such date"},
    };
    const struct template_rules rules = case_rules();

    expect_verdicts("@{date}-@{seq}/@{seq, width=3}-@{date, format=%y}", &rules,
                    rows, COUNT_OF(rows));
}

TEST(ids_are_read_by_their_parts)
{
    static const struct row rows[] = {
        {"20261121000000-000001-0017", NULL},
        {"20261121000000-524287-4095", NULL},
        {"20261121000000-524288-0017", "number 524288 is not in 1 ... 524287"},
        {"20261121000000-000001-4096", "shard 4096 is not in 0 ... 4095"},
        {"20261121006000-000001-0017", "no such date"},
    };
    const struct template_rules rules = case_rules_of_ids();

    expect_verdicts("@{date}-@{seq, width=6}-@{shard, width=4}", &rules, rows,
                    COUNT_OF(rows));
}
