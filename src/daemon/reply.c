/* SPDX-License-Identifier: Apache-2.0 */
/* The reply writers; see reply.h. Requests are parsed by resp.c. */
#include "daemon/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_SIZE 20 /* of INT64_MIN, its sign included */
#define HEAD_SIZE   (1 + DIGITS_SIZE + 2)
#define CODE_SIZE   24
#define TEXT_SIZE   (SEQB_ERROR_TEXT_SIZE + 64)

/* Writes `value` so that it ends at `end`; returns where it begins. */
static char *digits_before(char *end, int64_t value)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        *--end = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (value < 0)
        *--end = '-';
    return end;
}

/* A type's letter, an integer, a line end. */
static void reply_head(struct buffer *out, char type, int64_t value)
{
    char text[HEAD_SIZE];
    char *end = text + sizeof text - 2;
    char *begin = digits_before(end, value);

    *--begin = type;
    end[0] = '\r';
    end[1] = '\n';
    buffer_append(out, begin, (size_t)(end + 2 - begin));
}

/* Makes a line of it: nothing in it may end the reply early. */
static void text_tame(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\r' || *text == '\n')
            *text = ' ';
        else if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
    }
}

void reply_simple(struct buffer *out, const char *text)
{
    buffer_append(out, "+", 1);
    buffer_append(out, text, strlen(text));
    buffer_append(out, "\r\n", 2);
}

static void reply_error_line(struct buffer *out, const char *code,
                             const char *text)
{
    buffer_append(out, "-", 1);
    buffer_append(out, code, strlen(code));
    buffer_append(out, " ", 1);
    buffer_append(out, text, strlen(text));
    buffer_append(out, "\r\n", 2);
}

void reply_error(struct buffer *out, const char *code, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_tame(text);
    reply_error_line(out, code, text);
}

void reply_failure(struct buffer *out, const struct seqb_error *err)
{
    const char *name = seqb_status_name(err->status);
    char code[CODE_SIZE] = "";
    size_t length = 0;

    for (; *name != '\0' && length + 1 < sizeof code; name++)
        if (*name != '_')
            code[length++] = *name;
    reply_error(out, err->status == SEQB_INVALID ? "ERR" : code, "%s",
                err->text);
}

void reply_integer(struct buffer *out, int64_t value)
{
    reply_head(out, ':', value);
}

void reply_digits(struct buffer *out, int64_t value)
{
    char text[DIGITS_SIZE];
    char *end = text + sizeof text;
    char *begin = digits_before(end, value);

    reply_bulk(out, begin, (size_t)(end - begin));
}

void reply_bulk(struct buffer *out, const char *data, size_t length)
{
    reply_head(out, '$', (int64_t)length);
    buffer_append(out, data, length);
    buffer_append(out, "\r\n", 2);
}

void reply_string(struct buffer *out, const char *text)
{
    reply_bulk(out, text, strlen(text));
}

void reply_null(struct buffer *out, bool is_resp3)
{
    if (is_resp3)
        buffer_append(out, "_\r\n", 3);
    else
        buffer_append(out, "$-1\r\n", 5);
}

void reply_array(struct buffer *out, size_t count)
{
    reply_head(out, '*', (int64_t)count);
}

void reply_map(struct buffer *out, size_t count, bool is_resp3)
{
    if (is_resp3)
        reply_head(out, '%', (int64_t)count);
    else
        reply_array(out, 2 * count);
}

void reply_field_string(struct buffer *out, const char *name, const char *text)
{
    reply_string(out, name);
    reply_string(out, text);
}

void reply_field_integer(struct buffer *out, const char *name, int64_t value)
{
    reply_string(out, name);
    reply_integer(out, value);
}
