/* SPDX-License-Identifier: Apache-2.0 */
/* The fields whose text is given: static text, the caller's parameters, and the
 * sequence's key. */
#include "number/fields/fields.h"

#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define LETTERS_OF_KEYS "._:-"
#define MAX_INITIAL     32

static enum seqb_status read_same(const struct spread *spread, size_t i,
                                  const char *wanted, size_t length,
                                  struct seqb_error *err)
{
    const char *text = spread->text + spread->starts[i];

    if (length == spread->starts[i + 1] - spread->starts[i] &&
        memcmp(text, wanted, length) == 0)
        return SEQB_OK;
    return read_fail(spread, i, err, "expected '%.*s'", (int)length, wanted);
}

/* --- static text --- */

static enum seqb_status read_text(const struct spread *spread, size_t i,
                                  struct facts *facts, struct seqb_error *err)
{
    const struct text_piece *text = &spread->template->pieces[i].text;

    (void)facts;
    return read_same(spread, i, spread->template->text + text->at, text->length,
                     err);
}

/* --- the key --- */

static bool make_key(struct compile *compile, struct piece *piece)
{
    const char *key = compile->template->rules.key;

    letters_add(&piece->letters, LETTERS_DIGITS LETTERS_UPPER LETTERS_LOWER,
                strlen(LETTERS_DIGITS LETTERS_UPPER LETTERS_LOWER));
    letters_add(&piece->letters, LETTERS_OF_KEYS, strlen(LETTERS_OF_KEYS));
    piece->min = key == NULL ? 1 : strlen(key);
    piece->max = key == NULL ? SEQB_KEY_MAX : strlen(key);
    if (key != NULL) {
        piece->letters = (struct letters){{0}};
        letters_add(&piece->letters, key, piece->max);
    }
    return true;
}

static enum seqb_status write_key(const struct piece *piece,
                                  const struct spread *spread, char *out,
                                  size_t *length, struct seqb_error *err)
{
    (void)err;
    *length = strnlen(spread->facts->key, piece->max);
    memcpy(out, spread->facts->key, *length);
    return SEQB_OK;
}

static enum seqb_status read_key(const struct spread *spread, size_t i,
                                 struct facts *facts, struct seqb_error *err)
{
    return read_same(spread, i, facts->key, strlen(facts->key), err);
}

/* --- parameters --- */

static const struct {
    const char *name;
    const char *letters;
} alphabets[] = {
    {"alnum", LETTERS_DIGITS LETTERS_UPPER LETTERS_LOWER},
    {"digits", LETTERS_DIGITS},
    {"upper", LETTERS_UPPER},
    {"alpha", LETTERS_UPPER LETTERS_LOWER},
    {"upnum", LETTERS_DIGITS LETTERS_UPPER},
};

static const char *const alphabet_names[] = {"alnum", "digits", "upper",
                                             "alpha", "upnum",  NULL};

static bool name_is_legal(struct word name)
{
    struct letters letters = {{0}};

    letters_add(&letters, LETTERS_UPPER LETTERS_LOWER,
                strlen(LETTERS_UPPER LETTERS_LOWER));
    if (name.length > SEQB_PARAM_NAME_MAX ||
        !letters_have(&letters, name.text[0]))
        return false;
    letters_add(&letters, LETTERS_DIGITS "_-", strlen(LETTERS_DIGITS "_-"));
    for (size_t i = 1; i < name.length; i++) {
        if (!letters_have(&letters, name.text[i]))
            return false;
    }
    return true;
}

static bool make_name(struct compile *compile, struct piece *piece)
{
    const struct option *option = compile_option(compile, "name");
    struct template *template = compile->template;
    struct param_piece *param = &piece->param;

    if (option == NULL)
        return compile_fail(compile, compile->field.column,
                            "param needs a name");
    if (!name_is_legal(option->value))
        return compile_fail(compile, option->value.column,
                            "a parameter's name is a letter and up to %d "
                            "letters, digits, _ and -",
                            SEQB_PARAM_NAME_MAX - 1);
    memcpy(param->name, option->value.text, option->value.length);
    for (size_t i = 0; i < template->param_count; i++) {
        if (strcmp(template->params[i]->param.name, param->name) == 0)
            return compile_fail(compile, option->value.column,
                                "there is a parameter '%s' already",
                                param->name);
    }
    if (template->param_count == SEQB_PARAM_MAX)
        return compile_fail(compile, compile->field.column,
                            "more than %d parameters", SEQB_PARAM_MAX);
    param->index = template->param_count;
    template->params[template->param_count++] = piece;
    return true;
}

static bool make_lengths(struct compile *compile, struct piece *piece)
{
    int64_t width = 0;
    int64_t max = MAX_INITIAL;

    if (!compile_integer(compile, "width", 1, SEQB_PARAM_VALUE_MAX, &width) ||
        !compile_integer(compile, "max", 1, SEQB_PARAM_VALUE_MAX, &max))
        return false;
    if (width > 0 && compile_option(compile, "max") != NULL)
        return compile_fail(compile, compile->field.column,
                            "'width' is its exact length, 'max' the greatest "
                            "one: not both");
    piece->min = width > 0 ? (size_t)width : 1;
    piece->max = width > 0 ? (size_t)width : (size_t)max;
    return true;
}

bool param_fits(const struct piece *piece, const char *value, size_t length)
{
    if (length < piece->min || length > piece->max)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!letters_have(&piece->letters, value[i]))
            return false;
    }
    return true;
}

/* The alphabet in words. */
static const char *alphabet_of(const struct piece *piece)
{
    for (size_t i = 0; i < sizeof alphabets / sizeof alphabets[0]; i++) {
        struct letters letters = {{0}};

        letters_add(&letters, alphabets[i].letters,
                    strlen(alphabets[i].letters));
        if (memcmp(&letters, &piece->letters, sizeof letters) == 0)
            return alphabets[i].name;
    }
    return "";
}

void param_describe(const struct piece *piece, char *out, size_t size)
{
    if (piece_varies(piece))
        (void)text_format(out, size, "%zu ... %zu characters of alphabet %s",
                          piece->min, piece->max, alphabet_of(piece));
    else
        (void)text_format(out, size, "%zu characters of alphabet %s",
                          piece->max, alphabet_of(piece));
}

static bool make_default(struct compile *compile, struct piece *piece)
{
    const struct option *option = compile_option(compile, "default");
    char expected[64];

    if (option == NULL)
        return true;
    if (!param_fits(piece, option->value.text, option->value.length)) {
        param_describe(piece, expected, sizeof expected);
        return compile_fail(
            compile, option->value.column, "the default '%.*s' is not of %s",
            (int)option->value.length, option->value.text, expected);
    }
    memcpy(piece->param.value, option->value.text, option->value.length);
    return true;
}

static bool make_param(struct compile *compile, struct piece *piece)
{
    int alphabet = 0;

    if (!make_name(compile, piece) || !make_lengths(compile, piece) ||
        !compile_choice(compile, "alphabet", alphabet_names, &alphabet))
        return false;
    letters_add(&piece->letters, alphabets[alphabet].letters,
                strlen(alphabets[alphabet].letters));
    return make_default(compile, piece);
}

static enum seqb_status write_param(const struct piece *piece,
                                    const struct spread *spread, char *out,
                                    size_t *length, struct seqb_error *err)
{
    const size_t index = piece->param.index;

    (void)err;
    *length = spread->facts->lengths[index];
    memcpy(out, spread->facts->params[index], *length);
    return SEQB_OK;
}

static enum seqb_status read_param(const struct spread *spread, size_t i,
                                   struct facts *facts, struct seqb_error *err)
{
    const struct piece *piece = &spread->template->pieces[i];
    const char *text = spread->text + spread->starts[i];
    const size_t length = spread->starts[i + 1] - spread->starts[i];
    char expected[64];

    if (!param_fits(piece, text, length)) {
        param_describe(piece, expected, sizeof expected);
        return read_fail(spread, i, err, "'%.*s' is no %s: expected %s",
                         (int)length, text, piece->param.name, expected);
    }
    facts->params[piece->param.index] = text;
    facts->lengths[piece->param.index] = length;
    return SEQB_OK;
}

static const char *const no_options[] = {NULL};
static const char *const param_options[] = {"name",     "width",   "max",
                                            "alphabet", "default", NULL};

const struct field field_text = {"text", no_options, READ_FIRST, true,
                                 NULL,   NULL,       read_text};
const struct field field_key = {"key",    no_options, READ_FIRST, true,
                                make_key, write_key,  read_key};
const struct field field_param = {"param",    param_options, READ_FIRST, true,
                                  make_param, write_param,   read_param};
