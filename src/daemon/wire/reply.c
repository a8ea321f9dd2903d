/* SPDX-License-Identifier: Apache-2.0 */
/* The reply writers; see wire.h. Requests are parsed by resp.c. */
#include "daemon/wire/wire.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DIGITS_SIZE 20 /* of INT64_MIN, its sign included */
#define HEAD_SIZE   (1 + DIGITS_SIZE + 2)
#define TEXT_SIZE   (SEQB_ERROR_TEXT_SIZE + 64)

/* 00, 01, ... 99: numbers are written two digits at a time. */
static const char pairs[] = "0001020304050607080910111213141516171819"
                            "2021222324252627282930313233343536373839"
                            "4041424344454647484950515253545556575859"
                            "6061626364656667686970717273747576777879"
                            "8081828384858687888990919293949596979899";

/* Counts decimal digits: the number of bits gives the count to within one. */
static size_t digits_count(uint64_t value)
{
    static const uint64_t powers[] = {0U,
                                      10U,
                                      100U,
                                      1000U,
                                      10000U,
                                      100000U,
                                      1000000U,
                                      10000000U,
                                      100000000U,
                                      1000000000U,
                                      10000000000U,
                                      100000000000U,
                                      1000000000000U,
                                      10000000000000U,
                                      100000000000000U,
                                      1000000000000000U,
                                      10000000000000000U,
                                      100000000000000000U,
                                      1000000000000000000U,
                                      10000000000000000000U};
    const unsigned bits = 64U - (unsigned)__builtin_clzll(value | 1);
    const unsigned guess = bits * 1233 >> 12; /* bits * log10(2) */

    return guess + (value >= powers[guess]);
}

/* Writes an integer, at most DIGITS_SIZE bytes. Returns where it ends. */
static char *put_integer(char *to, int64_t value)
{
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char *end = NULL;
    char *at = NULL;

    if (value < 0)
        *to++ = '-';
    end = to + digits_count(rest);
    for (at = end; rest >= 100; rest /= 100) {
        at -= 2;
        memcpy(at, pairs + rest % 100 * 2, 2);
    }
    if (rest >= 10)
        memcpy(at - 2, pairs + rest * 2, 2);
    else
        at[-1] = (char)('0' + rest);
    return end;
}

static char *put_line_end(char *to)
{
    *to++ = '\r';
    *to++ = '\n';
    return to;
}

/* A type's letter, an integer, a line end. */
static char *put_head(char *to, char type, int64_t value)
{
    *to++ = type;
    return put_line_end(put_integer(to, value));
}

/* An integer as a bulk string. */
static char *put_digits(char *to, int64_t value)
{
    char text[DIGITS_SIZE];
    const size_t length = (size_t)(put_integer(text, value) - text);

    to = put_head(to, '$', (int64_t)length);
    memcpy(to, text, length);
    return put_line_end(to + length);
}

static void reply_head(struct buffer *out, char type, int64_t value)
{
    char *room = buffer_reserve(out, HEAD_SIZE);

    if (room != NULL)
        buffer_extend(out, (size_t)(put_head(room, type, value) - room));
}

/* Makes the text one line, so that nothing in it ends the reply early. */
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
    buffer_append_text(out, text);
    buffer_append(out, "\r\n", 2);
}

static void reply_error_line(struct buffer *out, const char *code,
                             const char *text)
{
    buffer_append(out, "-", 1);
    buffer_append_text(out, code);
    buffer_append(out, " ", 1);
    buffer_append_text(out, text);
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

void reply_code(enum seqb_status status, char out[REPLY_CODE_SIZE])
{
    const char *name =
        status == SEQB_INVALID ? "ERR" : seqb_status_name(status);
    size_t length = 0;

    for (; *name != '\0' && length + 1 < REPLY_CODE_SIZE; name++)
        if (*name != '_')
            out[length++] = *name;
    out[length] = '\0';
}

void reply_failure(struct buffer *out, const struct seqb_error *err)
{
    char code[REPLY_CODE_SIZE];

    reply_code(err->status, code);
    reply_error(out, code, "%s", err->text);
}

void reply_integer(struct buffer *out, int64_t value)
{
    reply_head(out, ':', value);
}

void reply_numbers(struct buffer *out, const int64_t *values, size_t count,
                   bool is_text)
{
    char *room = buffer_reserve(out, count * REPLY_NUMBER_MAX);
    char *at = room;

    if (room == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        at = is_text ? put_digits(at, values[i]) : put_head(at, ':', values[i]);
    buffer_extend(out, (size_t)(at - room));
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

void reply_verbatim(struct buffer *out, const char *text, size_t length,
                    bool is_resp3)
{
    static const char kind[] = "txt:";
    const size_t kind_length = sizeof kind - 1;

    if (!is_resp3) {
        reply_bulk(out, text, length);
        return;
    }
    reply_head(out, '=', (int64_t)(kind_length + length));
    buffer_append(out, kind, kind_length);
    buffer_append(out, text, length);
    buffer_append(out, "\r\n", 2);
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

void reply_set(struct buffer *out, size_t count, bool is_resp3)
{
    reply_head(out, is_resp3 ? '~' : '*', (int64_t)count);
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

void reply_field_number(struct buffer *out, const char *name, int64_t value,
                        bool is_text)
{
    reply_string(out, name);
    reply_numbers(out, &value, 1, is_text);
}
