/* SPDX-License-Identifier: Apache-2.0 */
/* Templates compiled, written and read without a broker. */
#include "template_case.h"

#include <string.h>

#include "number/fields/fields.h"
#include "support/test.h"

#define SECRET "a secret of the tests"

static const struct shuffle_key *shared_key(void)
{
    static struct shuffle_key key;

    shuffle_key_make(SECRET, strlen(SECRET), &key);
    return &key;
}

struct template_rules case_rules(void)
{
    static const struct period_rules day = {PERIOD_DAY, NULL, 1, 1};

    return (struct template_rules){
        .key = "order", .period = &day, .shuffle_key = shared_key()};
}

struct template_rules case_rules_of_ids(void)
{
    static const struct period_rules second = {PERIOD_SECOND, NULL, 1, 1};
    static const struct bits_layout ids = {INT64_C(1577836800000), 1000, 32, 12,
                                           19};

    return (struct template_rules){.key = "waybill",
                                   .period = &second,
                                   .ids = &ids,
                                   .shuffle_key = shared_key()};
}

struct template *case_make(const char *text, const struct template_rules *rules)
{
    struct template *template = NULL;
    struct seqb_error err = {.text = ""};

    if (template_make(text, rules, &template, &err) != SEQB_OK)
        print_error("%s: %s\n", text, err.text);
    assert_non_null(template);
    return template;
}

void case_facts(const struct template *template, int64_t number,
                const struct seqb_param *params, size_t count,
                struct facts *out)
{
    const struct period_rules *period = template->rules.period;
    struct period_span span = {.stamp = 0};

    *out = (struct facts){
        .key = template->rules.key, .shard = -1, .number = number};
    if (period != NULL) {
        period_span_at(period, INT64_C(1795219200000), &span);
        out->stamp =
            (struct seqb_stamp){span.stamp, span.begin_ms, span.end_ms};
    } else {
        period_span_at(&template->moment, INT64_C(1795219200000), &span);
        out->stamp.ends_ms = INT64_MAX;
    }
    date_fields_of(template->unit, span.stamp, &out->date);
    assert_ok(params_resolve(template, params, count, out, NULL));
}

void case_set_day(struct facts *facts, int64_t stamp)
{
    facts->stamp = (struct seqb_stamp){.digits = stamp};
}

enum seqb_status case_write(const struct template *template,
                            const struct facts *facts, char *out,
                            struct seqb_error *err)
{
    struct draft draft;
    const enum seqb_status status =
        template_begin(template, facts, &draft, err);

    return status == SEQB_OK ? template_write(&draft, out, err) : status;
}

enum seqb_status case_read(const struct template *template, const char *text,
                           struct facts *out, struct seqb_error *err)
{
    *out = (struct facts){.key = template->rules.key, .shard = -1};
    return template_read(template, text, strlen(text), out, err);
}
