/* SPDX-License-Identifier: Apache-2.0 */
/* Words are drawn from lists in which right ones stand more than once. */
#include "unit/random_template.h"

#include <string.h>

#include "platform/text.h"
#include "support/test.h"

#define PIECES 7

static const struct round_kind kinds[] = {
    {"order", PERIOD_NONE, NULL, 0, 0, NULL},
    {NULL, PERIOD_NONE, "Europe/Berlin", 0, 0, NULL},
    {"a.b-c", PERIOD_SECOND, "Europe/Berlin", 0, 0, NULL},
    {"order", PERIOD_DAY, "Pacific/Apia", 0, 0, NULL},
    {"order", PERIOD_WEEK, NULL, 0, 0, NULL},
    {NULL, PERIOD_MONTH, NULL, 0, 0, NULL},
    {"order", PERIOD_QUARTER, "Europe/Berlin", 4, 6, NULL},
    {"order", PERIOD_YEAR, NULL, 0, 0, NULL},
    {"order", PERIOD_SECOND, NULL, 0, 0, &round_ids},
    {"order", PERIOD_MINUTE, NULL, 0, 0, &round_ids_alone},
    {"order", PERIOD_HOUR, NULL, 0, 0, &round_ids_hour},
};

const struct round_kind *random_kind(uint64_t *seed)
{
    return &kinds[round_below(seed, COUNT_OF(kinds))];
}

struct random_option {
    const char *name;
    const char *values[9]; /* ended by NULL */
};

#define BASE                                                                   \
    {                                                                          \
        "base",                                                                \
        {                                                                      \
            "10", "16", "32", "36", "58", "62", "2", "060", NULL               \
        }                                                                      \
    }
#define WIDTH                                                                  \
    {                                                                          \
        "width",                                                               \
        {                                                                      \
            "1", "2", "3", "5", "6", "12", "19", "33", NULL                    \
        }                                                                      \
    }

static const struct random_field {
    const char *name;
    struct random_option options[5];
} fields[] = {
    {"seq", {WIDTH, BASE, {"overflow", {"refuse", "widen", NULL}}}},
    {"shuffle", {WIDTH, BASE, {"overflow", {"refuse", "widen", NULL}}}},
    {"date",
     {{"format",
       {"%Y%m%d", "%y%m%d%H%M%S", "%G-%V", "%Y%q", "%H:%M", "%Y-%j",
        "%Y%m%d%%%u", "ä%Y%mß", NULL}}}},
    {"param",
     {{"name", {"a", "b", "c", "area", "shop", "seq", "shard", "9", NULL}},
      {"width", {"1", "2", "3", "64", "65", NULL}},
      {"max", {"1", "4", "9", "64", "0", NULL}},
      {"alphabet", {"digits", "upper", "alpha", "alnum", "upnum", "x", NULL}},
      {"default", {"A", "12", "aZ", "-", NULL}}}},
    {"key", {{NULL, {NULL}}}},
    {"shard", {WIDTH, BASE}},
    {"check",
     {{"algorithm",
       {"luhn", "luhn-36", "damm", "verhoeff", "iso7064-mod97", "iso7064-mod37",
        "gs1", "jd", NULL}},
      {"over", {"seq", "digits", "all", NULL}}}},
    {"fix0", {{NULL, {NULL}}}},
    {"var0", {{NULL, {NULL}}}},
    {"any0", {{NULL, {NULL}}}},
    {"fix3", {{NULL, {NULL}}}},
    {"var3", {{NULL, {NULL}}}},
    {"fix5", {{NULL, {NULL}}}},
    {"var5", {{NULL, {NULL}}}},
    {"fix9", {{NULL, {NULL}}}},
    {"var9", {{NULL, {NULL}}}},
    {"any9", {{NULL, {NULL}}}},
    {"own", {{NULL, {NULL}}}},
    {"", {{NULL, {NULL}}}},
};

static const char *const texts[] = {
    "-", "-", "-", "/", ".", "A", "abc", "7", "+", "#=",   ":",     "@",
    "}", "{", ",", " ", "x", "0", "@@{", "Ã", "ä", "@@@{", "@{se}", "_",
};

static void append(char *out, const char *text)
{
    (void)text_append(out, RANDOM_TEMPLATE_SIZE, "%s", text);
}

static void append_option(uint64_t *seed, const struct random_option *option,
                          char *out)
{
    size_t count = 0;

    while (option->values[count] != NULL)
        count++;
    append(out, round_below(seed, 2) == 0 ? ", " : ",");
    append(out, option->name);
    append(out, round_below(seed, 64) == 0 ? "" : "=");
    if (round_below(seed, 64) > 0)
        append(out, option->values[round_below(seed, count)]);
}

static void append_field(uint64_t *seed, const struct random_field *field,
                         char *out)
{
    /* What most of them need is the first. */
    const bool has_need =
        strcmp(field->name, "param") == 0 || strcmp(field->name, "check") == 0;

    append(out, "@{");
    append(out, field->name);
    for (size_t i = 0; i < COUNT_OF(field->options); i++) {
        if (field->options[i].name != NULL &&
            (round_below(seed, 4) == 0 ||
             (i == 0 && (has_need || round_below(seed, 2) == 0))))
            append_option(seed, &field->options[i], out);
    }
    append(out, round_below(seed, 64) == 0 ? "" : "}");
}

void random_template(uint64_t *seed, char out[RANDOM_TEMPLATE_SIZE])
{
    const size_t count = 1 + round_below(seed, PIECES);
    /* All have a number, and most a date and a shard. */
    size_t needed[] = {round_below(seed, 2), 2, 5};

    out[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(needed); i++) {
        if (i == 0 || round_below(seed, 2) == 0)
            append_field(seed, &fields[needed[i]], out);
        append(out, texts[round_below(seed, 5)]);
    }
    for (size_t i = 0; i < count; i++) {
        const size_t text = round_below(seed, 2 * COUNT_OF(texts));

        if (text < COUNT_OF(texts))
            append(out, texts[text]);
        else
            append_field(seed, &fields[round_below(seed, COUNT_OF(fields))],
                         out);
    }
    if (round_below(seed, 64) == 0)
        (void)memset(out + strlen(out), 'y', 1 + round_below(seed, 2));
}
