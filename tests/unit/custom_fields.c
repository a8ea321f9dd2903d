/* SPDX-License-Identifier: Apache-2.0 */
/* A digest of a view, as text: by FNV-1a, stirred, so that every letter depends
 * on every byte of it. */
#include "unit/custom_fields.h"

#include <stdint.h>
#include <string.h>

#include "number/number.h"
#include "platform/error.h"
#include "support/test.h"

#define DIGITS "0123456789"
#define LENGTH 64

struct own_kind {
    const char *name; /* its last letter is the phase */
    size_t min;
    size_t max;
    const char *alphabet;
    bool is_known_again;
};

static struct own_kind kinds[] = {
    {"fix0", 3, 3, DIGITS, true},  {"var0", 1, 6, "abc", true},
    {"any0", 2, 2, DIGITS, false}, {"fix3", 4, 4, DIGITS, true},
    {"var3", 0, 5, "+*", true},    {"fix5", 2, 2, "VWXYZ", true},
    {"var5", 1, 9, "xyz", true},   {"fix9", 1, 1, DIGITS, true},
    {"var9", 0, 12, "#=", true},   {"any9", 64, 64, "01", false},
};

static int32_t phase_of(const struct own_kind *kind)
{
    return kind->name[strlen(kind->name) - 1] - '0';
}

static bool is_param(const struct seqb_field_view *view, const char *name)
{
    for (size_t i = 0; i < view->param_count; i++) {
        if (strcmp(view->params[i].name, name) == 0)
            return true;
    }
    return false;
}

/* That of a field of a view: what is not registered here is built in. A
 * parameter may have the name of either. */
static int32_t phase_of_field(const struct seqb_field_view *view,
                              const struct seqb_field_text *field)
{
    if (is_param(view, field->name))
        return 0;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (strcmp(field->name, kinds[i].name) == 0)
            return phase_of(&kinds[i]);
    }
    return strcmp(field->name, "check") == 0 ? SEQB_PHASE_CHECK : 0;
}

static uint64_t mix_bytes(uint64_t digest, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < length; i++)
        digest = (digest ^ at[i]) * UINT64_C(1099511628211);
    return (digest ^ length) * UINT64_C(1099511628211);
}

static uint64_t mix_number(uint64_t digest, uint64_t number)
{
    return ((digest ^ number) * UINT64_C(1099511628211)) ^ digest >> 29;
}

static uint64_t mix_text(uint64_t digest, const char *text)
{
    return mix_bytes(digest, text, strlen(text));
}

static uint64_t digest_of(const struct own_kind *kind,
                          const struct seqb_field_view *view)
{
    uint64_t digest = mix_text(UINT64_C(14695981039346656037), view->key);

    digest = mix_number(digest, (uint64_t)view->number);
    digest = mix_number(digest, (uint64_t)view->stamp.digits);
    digest = mix_number(digest, (uint64_t)view->stamp.begins_ms);
    digest = mix_number(digest, (uint64_t)view->stamp.ends_ms);
    digest = mix_number(digest, (uint64_t)view->shard);
    for (size_t i = 0; i < view->param_count; i++) {
        digest = mix_text(digest, view->params[i].name);
        digest = mix_text(digest, view->params[i].value);
    }
    for (size_t i = 0; i < view->field_count; i++) {
        const struct seqb_field_text *field = &view->fields[i];

        if (is_param(view, field->name) ||
            phase_of_field(view, field) >= phase_of(kind))
            continue;
        digest = mix_text(digest, field->name);
        digest = mix_bytes(digest, field->text, field->length);
    }
    return digest;
}

static size_t write_digest(const struct own_kind *kind,
                           const struct seqb_field_view *view, char *out)
{
    const size_t letters = strlen(kind->alphabet);
    uint64_t digest = digest_of(kind, view);
    const size_t length =
        kind->min + (size_t)(digest >> 33) % (kind->max - kind->min + 1);

    for (size_t i = 0; i < length; i++) {
        digest = mix_number(digest, i);
        out[i] = kind->alphabet[(digest >> 33) % letters];
    }
    out[length] = '\0';
    return length;
}

static enum seqb_status evaluate(void *context,
                                 const struct seqb_field_view *view, char *out,
                                 size_t size, struct seqb_error *err)
{
    const struct own_kind *kind = context;

    if (size != kind->max + 1)
        return error_set(err, SEQB_INVALID, "field %s: its size is %zu",
                         kind->name, size);
    for (size_t i = 0; i < view->field_count; i++) {
        if (phase_of_field(view, &view->fields[i]) >= phase_of(kind))
            return error_set(err, SEQB_INVALID, "field %s: it is shown %s",
                             kind->name, view->fields[i].name);
    }
    (void)write_digest(kind, view, out);
    return SEQB_OK;
}

static enum seqb_status parse(void *context, const struct seqb_field_view *view,
                              const char *text, size_t length,
                              struct seqb_error *err)
{
    const struct own_kind *kind = context;
    char right[LENGTH + 1];

    if (write_digest(kind, view, right) == length &&
        memcmp(right, text, length) == 0)
        return SEQB_OK;
    return error_set(err, SEQB_FOREIGN, "field %s: '%.*s' should be '%s'",
                     kind->name, (int)length, text, right);
}

bool own_fields_register(void)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const struct seqb_field field = {
            .name = kinds[i].name,
            .phase = phase_of(&kinds[i]),
            .min_length = kinds[i].min,
            .max_length = kinds[i].max,
            .alphabet = kinds[i].alphabet,
            .context = &kinds[i],
            .evaluate = evaluate,
            .parse = kinds[i].is_known_again ? parse : NULL,
        };

        if (number_register(&field, NULL) != SEQB_OK)
            return false;
    }
    return true;
}
