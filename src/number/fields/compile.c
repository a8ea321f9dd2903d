/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the fields, to compile their options and to refuse a text. It
 * knows no field. */
#include "number/fields/fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define CHOICES_SIZE 96

bool word_equals(struct word word, const char *text)
{
    return word.length == strlen(text) &&
           memcmp(word.text, text, word.length) == 0;
}

bool compile_fail(struct compile *compile, size_t column, const char *format,
                  ...)
{
    char what[SEQB_ERROR_TEXT_SIZE / 2];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    (void)error_set(compile->err, SEQB_INVALID, "column %zu: %s", column, what);
    return false;
}

const struct option *compile_option(const struct compile *compile,
                                    const char *name)
{
    for (size_t i = 0; i < compile->option_count; i++) {
        if (word_equals(compile->options[i].name, name))
            return &compile->options[i];
    }
    return NULL;
}

bool compile_integer(struct compile *compile, const char *name, int64_t low,
                     int64_t high, int64_t *out)
{
    const struct option *option = compile_option(compile, name);

    if (option == NULL)
        return true;
    if (text_to_int64(option->value.text, option->value.length, out) &&
        *out >= low && *out <= high)
        return true;
    return compile_fail(compile, option->value.column,
                        "'%s' is %lld ... %lld, not '%.*s'", name,
                        (long long)low, (long long)high,
                        (int)option->value.length, option->value.text);
}

bool compile_choice(struct compile *compile, const char *name,
                    const char *const *words, int *out)
{
    const struct option *option = compile_option(compile, name);
    char choices[CHOICES_SIZE] = "";

    if (option == NULL)
        return true;
    for (int i = 0; words[i] != NULL; i++) {
        if (word_equals(option->value, words[i])) {
            *out = i;
            return true;
        }
        (void)text_append(choices, sizeof choices, "%s%s", i == 0 ? "" : ", ",
                          words[i]);
    }
    return compile_fail(compile, option->value.column,
                        "'%s' is one of %s, not '%.*s'", name, choices,
                        (int)option->value.length, option->value.text);
}

enum seqb_status read_fail(const struct spread *spread, size_t i,
                           struct seqb_error *err, const char *format, ...)
{
    char what[SEQB_ERROR_TEXT_SIZE / 2];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return error_set(err, SEQB_FOREIGN, "character %zu: %s",
                     spread->starts[i] + 1, what);
}
