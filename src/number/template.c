/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a template: words, pieces, and the rules of a whole template, so
 * that no two numbers can have the same text. */
#include <stdlib.h>
#include <string.h>

#include "number/fields/fields.h"
#include "platform/error.h"
#include "platform/text.h"

#define TEMPLATE_MAX 1024 /* bytes */
#define FIELD_BEGIN  "@{"

/* The compiler's position. */
struct reader {
    const char *text;
    size_t length;
    size_t at;
};

static bool reader_sees(const struct reader *reader, const char *what)
{
    const size_t length = strlen(what);

    return reader->length - reader->at >= length &&
           memcmp(reader->text + reader->at, what, length) == 0;
}

static size_t column_at(const struct reader *reader)
{
    return reader->at + 1;
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->length && reader->text[reader->at] == ' ')
        reader->at++;
}

/* Reads up to one of the characters `ends`, and trims trailing blanks. */
static struct word read_word(struct reader *reader, const char *ends)
{
    struct word word;

    skip_blanks(reader);
    word.text = reader->text + reader->at;
    word.column = column_at(reader);
    while (reader->at < reader->length &&
           strchr(ends, reader->text[reader->at]) == NULL)
        reader->at++;
    word.length = (size_t)(reader->text + reader->at - word.text);
    while (word.length > 0 && word.text[word.length - 1] == ' ')
        word.length--;
    return word;
}

static bool option_is_known(const struct field *field, struct word name)
{
    for (size_t i = 0; field->options[i] != NULL; i++) {
        if (word_equals(name, field->options[i]))
            return true;
    }
    return false;
}

static bool refuse_option(struct compile *compile, const struct field *field,
                          struct word name)
{
    char known[128] = "";

    for (size_t i = 0; field->options[i] != NULL; i++)
        (void)text_append(known, sizeof known, "%s%s", i == 0 ? "" : ", ",
                          field->options[i]);
    return compile_fail(compile, name.column,
                        "%s has no option '%.*s', expected %s", field->name,
                        (int)name.length, name.text,
                        known[0] == '\0' ? "'}'" : known);
}

/* Reads one "name = value" behind the comma. */
static bool read_option(struct compile *compile, struct reader *reader,
                        const struct field *field)
{
    struct option *option = &compile->options[compile->option_count];

    if (compile->option_count == OPTIONS_MAX)
        return compile_fail(compile, column_at(reader), "too many options");
    option->name = read_word(reader, "=,}");
    if (!option_is_known(field, option->name))
        return refuse_option(compile, field, option->name);
    if (!reader_sees(reader, "="))
        return compile_fail(compile, column_at(reader),
                            "expected '=' and a value behind '%.*s'",
                            (int)option->name.length, option->name.text);
    reader->at++;
    option->value = read_word(reader, ",}");
    if (option->value.length == 0)
        return compile_fail(compile, option->value.column,
                            "'%.*s' has no value", (int)option->name.length,
                            option->name.text);
    compile->option_count++;
    return true;
}

static bool read_options(struct compile *compile, struct reader *reader,
                         const struct field *field)
{
    compile->option_count = 0;
    while (reader_sees(reader, ",")) {
        reader->at++;
        if (!read_option(compile, reader, field))
            return false;
    }
    if (!reader_sees(reader, "}"))
        return compile_fail(compile, compile->field.column,
                            "the field has no end: expected '}'");
    reader->at++;
    for (size_t i = 0; i < compile->option_count; i++) {
        const struct word name = compile->options[i].name;

        for (size_t j = 0; j < i; j++) {
            if (compile->options[j].name.length == name.length &&
                memcmp(compile->options[j].name.text, name.text, name.length) ==
                    0)
                return compile_fail(compile, name.column, "'%.*s' comes twice",
                                    (int)name.length, name.text);
        }
    }
    return true;
}

static struct piece *piece_add(struct compile *compile, size_t column)
{
    struct template *template = compile->template;
    struct piece *piece;

    if (template->piece_count == PIECES_MAX) {
        (void)compile_fail(compile, column,
                           "more than %d pieces: the template is too long",
                           PIECES_MAX);
        return NULL;
    }
    piece = &template->pieces[template->piece_count++];
    piece->column = column;
    return piece;
}

static bool refuse_field(struct compile *compile)
{
    const struct word name = compile->field;
    char known[128] = "";

    for (size_t i = 0; field_at(i) != NULL; i++)
        (void)text_append(known, sizeof known, "%s%s", i == 0 ? "" : ", ",
                          field_at(i)->name);
    return compile_fail(compile, name.column,
                        "there is no field '%.*s': expected one of %s, or one "
                        "that was registered before",
                        (int)name.length, name.text, known);
}

/* A parameter must not have the name of a field. */
static bool check_param(struct compile *compile)
{
    const struct option *name = compile_option(compile, "name");

    if (name == NULL ||
        (field_find(name->value) == NULL && custom_find(name->value) == NULL))
        return true;
    return compile_fail(compile, name->value.column,
                        "'%.*s' is a field: a parameter needs another name",
                        (int)name->value.length, name->value.text);
}

/* Reads a field behind @{. */
static bool read_field(struct compile *compile, struct reader *reader)
{
    const struct field *field;
    struct piece *piece;

    compile->field = read_word(reader, ",}");
    field = field_find(compile->field);
    if (field == NULL && custom_find(compile->field) != NULL)
        field = &field_custom;
    if (field == NULL)
        return refuse_field(compile);
    if (!read_options(compile, reader, field))
        return false;
    piece = piece_add(compile, compile->field.column);
    if (piece == NULL)
        return false;
    piece->field = field;
    if (field == &field_param && !check_param(compile))
        return false;
    return field->make(compile, piece);
}

/* Appends a character of static text to the last piece. */
static bool add_character(struct compile *compile, size_t column, char c)
{
    struct template *template = compile->template;
    struct piece *last = template->piece_count == 0
                             ? NULL
                             : &template->pieces[template->piece_count - 1];

    if (template->text_length == sizeof template->text)
        return compile_fail(compile, column,
                            "the texts are longer than %d bytes",
                            SEQB_TEXT_MAX);
    if (last == NULL || last->field != &field_text) {
        last = piece_add(compile, column);
        if (last == NULL)
            return false;
        last->field = &field_text;
        last->text.at = template->text_length;
    }
    template->text[template->text_length++] = c;
    last->text.length++;
    last->min++;
    last->max++;
    letters_add(&last->letters, &c, 1);
    return true;
}

static bool read_character(struct compile *compile, struct reader *reader)
{
    const size_t column = column_at(reader);

    return add_character(compile, column, reader->text[reader->at++]);
}

static bool read_pieces(struct compile *compile, struct reader *reader)
{
    while (reader->at < reader->length) {
        const bool is_escaped = reader_sees(reader, "@" FIELD_BEGIN);

        if (!is_escaped && reader_sees(reader, FIELD_BEGIN)) {
            reader->at += 2;
            if (!read_field(compile, reader))
                return false;
            continue;
        }
        reader->at += is_escaped;
        if (!read_character(compile, reader))
            return false;
        /* The second brace of an escaped one begins no field. */
        if (is_escaped && !read_character(compile, reader))
            return false;
    }
    return true;
}

static bool check_characters(struct compile *compile, const char *text)
{
    for (size_t i = 0; text[i] != '\0'; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return compile_fail(compile, i + 1,
                                "a control character has no place in a text");
    }
    return true;
}

static bool compile_all(struct compile *compile, const char *text)
{
    struct reader reader = {.text = text, .length = strlen(text)};

    if (reader.length > TEMPLATE_MAX)
        return compile_fail(compile, TEMPLATE_MAX + 1,
                            "the template is longer than %d bytes",
                            TEMPLATE_MAX);
    return check_characters(compile, text) && read_pieces(compile, &reader) &&
           template_check(compile, reader.length + 1);
}

static size_t size_of(size_t pieces)
{
    return sizeof(struct template) + pieces * sizeof(struct piece);
}

/* Shrinks the template to its size: there may be one for each sequence. */
static struct template *template_fit(struct template *template)
{
    struct template *out = realloc(template, size_of(template->piece_count));

    if (out == NULL)
        return template;
    for (size_t i = 0; i < out->piece_count; i++) {
        if (out->pieces[i].field == &field_param)
            out->params[out->pieces[i].param.index] = &out->pieces[i];
    }
    return out;
}

enum seqb_status template_make(const char *text,
                               const struct template_rules *rules,
                               struct template **out, struct seqb_error *err)
{
    struct seqb_error error = {.text = ""};
    struct template *template = calloc(1, size_of(PIECES_MAX));
    struct compile compile = {.template = template, .err = &error};

    if (template == NULL)
        return error_set(err, SEQB_NO_MEMORY, "template: out of memory");
    template->rules = *rules;
    template->moment = (struct period_rules){PERIOD_SECOND, rules->zone, 1, 1};
    template->unit =
        rules->period == NULL ? PERIOD_SECOND : rules->period->unit;
    if (!compile_all(&compile, text)) {
        template_free(template);
        return error_copy(err, &error);
    }
    *out = template_fit(template);
    return SEQB_OK;
}

void template_free(struct template *template)
{
    if (template == NULL)
        return;
    for (size_t i = 0; i < template->piece_count; i++) {
        if (template->pieces[i].field == &field_shuffle)
            free(template->pieces[i].seq.shuffles);
    }
    free(template->stamped);
    free(template);
}
