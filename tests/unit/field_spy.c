/* SPDX-License-Identifier: Apache-2.0 */
/* "order 42 20261121 -1 area:010 seq=042": key, number, stamp, shard, then the
 * parameters, then the fields. */
#include "unit/field_spy.h"

#include <string.h>

#include "platform/error.h"
#include "platform/text.h"
#include "support/test.h"

static void describe(const struct seqb_field_view *view, char *out, size_t size)
{
    (void)text_format(out, size, "%s %lld %lld %lld", view->key,
                      (long long)view->number, (long long)view->stamp.digits,
                      (long long)view->shard);
    for (size_t i = 0; i < view->param_count; i++)
        (void)text_append(out, size, " %s:%s", view->params[i].name,
                          view->params[i].value);
    for (size_t i = 0; i < view->field_count; i++)
        (void)text_append(out, size, " %s=%.*s", view->fields[i].name,
                          (int)view->fields[i].length, view->fields[i].text);
}

static enum seqb_status evaluate(void *context,
                                 const struct seqb_field_view *view, char *out,
                                 size_t size, struct seqb_error *err)
{
    struct field_spy *spy = context;
    const size_t length = strlen(spy->writes);

    spy->is_called = true;
    describe(view, spy->shown, sizeof spy->shown);
    if (spy->status != SEQB_OK)
        return error_set(err, spy->status, "the spy is tired");
    /* As one does that forgets the final 0, but not beyond what is there. */
    memcpy(out, spy->writes, length < size ? length + 1 : size);
    return SEQB_OK;
}

static enum seqb_status parse(void *context, const struct seqb_field_view *view,
                              const char *text, size_t length,
                              struct seqb_error *err)
{
    struct field_spy *spy = context;

    spy->is_called = true;
    describe(view, spy->shown, sizeof spy->shown);
    (void)text_format(spy->text, sizeof spy->text, "%.*s", (int)length, text);
    if (spy->status != SEQB_OK)
        return error_set(err, spy->status, "the spy knows better");
    return SEQB_OK;
}

struct seqb_field field_spy_of(const char *name, int32_t phase,
                               struct field_spy *spy)
{
    return (struct seqb_field){
        .name = name,
        .phase = phase,
        .min_length = 1,
        .max_length = 4,
        .alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        .context = spy,
        .evaluate = evaluate,
        .parse = parse,
    };
}

void field_spy_add(const struct seqb_field *field)
{
    struct seqb_error err = {SEQB_OK, ""};

    if (seqb_register_field(field, &err) != SEQB_OK)
        fail_msg("%s: %s", field->name, err.text);
}

struct template *field_spy_compile(const char *text,
                                   const struct template_rules *rules)
{
    static const struct template_rules plain = {.key = "order"};
    struct seqb_error err = {SEQB_OK, ""};
    struct template *template = NULL;

    if (template_make(text, rules == NULL ? &plain : rules, &template, &err) !=
        SEQB_OK)
        fail_msg("%s: %s", text, err.text);
    return template;
}
