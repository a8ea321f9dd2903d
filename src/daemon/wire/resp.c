/* SPDX-License-Identifier: Apache-2.0 */
/* The request parser; see wire.h. Replies are written by reply.c. */
#include "daemon/wire/wire.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The most digits of a length: far beyond every limit, and sums of such lengths
 * do not overflow. */
#define DIGITS_MAX 10

/* Bytes of the longest bulk string without content. A partial request with less
 * room left than this is too big already, and is refused at once. */
#define EMPTY_BULK_MAX (1 + 1 + DIGITS_MAX + 2 + 2)

#define WORD_DIGITS_MAX 20
#define SHOWN_MAX       64 /* bytes of a client's word in an error */

#define BAD_COUNT   "Protocol error: invalid multibulk length"
#define BAD_LENGTH  "Protocol error: invalid bulk length"
#define NO_BULK     "Protocol error: expected '$'"
#define NO_LINE_END "Protocol error: expected CRLF after a bulk string"
#define BIG_REQUEST "Protocol error: too big request"
#define BIG_INLINE  "Protocol error: too big inline request"
#define MANY_INLINE "Protocol error: too many arguments in an inline request"

struct input {
    const char *data;
    size_t length;
    size_t at; /* parsed so far */
};

static enum resp_result broken(struct resp_request *out, const char *error)
{
    out->error = error;
    return RESP_BROKEN;
}

/* Parses CR LF. */
static enum resp_result input_line_end(struct input *in)
{
    size_t left = in->length - in->at;

    if (left >= 1 && in->data[in->at] != '\r')
        return RESP_BROKEN;
    if (left < 2)
        return RESP_PARTIAL;
    if (in->data[in->at + 1] != '\n')
        return RESP_BROKEN;
    in->at += 2;
    return RESP_COMPLETE;
}

/* Parses a decimal integer and its line end. */
static enum resp_result input_integer(struct input *in, long long *out)
{
    bool is_negative = in->at < in->length && in->data[in->at] == '-';
    long long value = 0;
    int digits = 0;

    in->at += is_negative;
    for (; in->at < in->length; in->at++, digits++) {
        unsigned digit = (unsigned)(in->data[in->at] - '0');

        if (digit > 9)
            break;
        if (digits == DIGITS_MAX)
            return RESP_BROKEN;
        value = value * 10 + digit;
    }
    if (digits == 0)
        return in->at < in->length ? RESP_BROKEN : RESP_PARTIAL;
    *out = is_negative ? -value : value;
    return input_line_end(in);
}

static enum resp_result parse_bulk(struct input *in, struct resp_request *out)
{
    struct resp_slice *argument = &out->argv[out->argc];
    long long length = 0;
    enum resp_result result = RESP_PARTIAL;

    if (in->at + EMPTY_BULK_MAX > RESP_REQUEST_MAX)
        return broken(out, BIG_REQUEST);
    if (in->at == in->length)
        return RESP_PARTIAL;
    if (in->data[in->at] != '$')
        return broken(out, NO_BULK);
    in->at++;
    result = input_integer(in, &length);
    if (result == RESP_PARTIAL)
        return RESP_PARTIAL;
    if (result == RESP_BROKEN || length < 0 || length > RESP_BULK_MAX)
        return broken(out, BAD_LENGTH);
    if (in->at + (size_t)length + 2 > RESP_REQUEST_MAX)
        return broken(out, BIG_REQUEST);
    if (in->length - in->at < (size_t)length)
        return RESP_PARTIAL;
    *argument = (struct resp_slice){in->data + in->at, (size_t)length};
    in->at += (size_t)length;
    result = input_line_end(in);
    return result == RESP_BROKEN ? broken(out, NO_LINE_END) : result;
}

static enum resp_result parse_array(struct input *in, struct resp_request *out)
{
    long long count = 0;
    enum resp_result result = RESP_PARTIAL;

    in->at = 1; /* the '*' */
    result = input_integer(in, &count);
    if (result == RESP_PARTIAL)
        return RESP_PARTIAL;
    if (result == RESP_BROKEN || count > RESP_ARGUMENTS_MAX)
        return broken(out, BAD_COUNT);
    for (out->argc = 0; (long long)out->argc < count; out->argc++) {
        result = parse_bulk(in, out);
        if (result != RESP_COMPLETE)
            return result;
    }
    out->size = in->at;
    return RESP_COMPLETE;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static enum resp_result split_words(const char *line, size_t length,
                                    struct resp_request *out)
{
    size_t at = 0;

    out->argc = 0;
    for (;;) {
        size_t start = 0;

        while (at < length && is_blank(line[at]))
            at++;
        if (at == length)
            return RESP_COMPLETE;
        if (out->argc == RESP_ARGUMENTS_MAX)
            return broken(out, MANY_INLINE);
        start = at;
        while (at < length && !is_blank(line[at]))
            at++;
        out->argv[out->argc++] = (struct resp_slice){line + start, at - start};
    }
}

static enum resp_result parse_inline(const struct input *in,
                                     struct resp_request *out)
{
    size_t reach = in->length < RESP_INLINE_MAX ? in->length : RESP_INLINE_MAX;
    const char *end = memchr(in->data, '\n', reach);

    if (end == NULL)
        return reach == RESP_INLINE_MAX ? broken(out, BIG_INLINE)
                                        : RESP_PARTIAL;
    out->size = (size_t)(end - in->data) + 1;
    return split_words(in->data, out->size - 1, out);
}

enum resp_result resp_parse(const char *data, size_t length,
                            struct resp_request *out)
{
    struct input in = {data, length, 0};

    if (length == 0)
        return RESP_PARTIAL;
    return data[0] == '*' ? parse_array(&in, out) : parse_inline(&in, out);
}

/* The length of the common prefix of both. */
static size_t bytes_alike(const char *a, const char *b, size_t length)
{
    size_t at = 0;

    while (length - at >= sizeof(uint64_t)) {
        uint64_t x;
        uint64_t y;

        memcpy(&x, a + at, sizeof x);
        memcpy(&y, b + at, sizeof y);
        if (x != y)
            break;
        at += sizeof x;
    }
    while (at < length && a[at] == b[at])
        at++;
    return at;
}

/* Data that equals itself shifted by `size` bytes repeats every `size`
 * bytes. */
size_t resp_repeats(const char *data, size_t length, size_t size)
{
    return bytes_alike(data, data + size, length - size) / size;
}

/* --- words --- */

bool word_is(struct resp_slice word, const char *text)
{
    return word.length == strlen(text) &&
           strncasecmp(word.data, text, word.length) == 0;
}

bool word_to_integer(struct resp_slice word, long long *out)
{
    char text[WORD_DIGITS_MAX + 1];
    char *end = NULL;

    if (word.length == 0 || word.length > WORD_DIGITS_MAX)
        return false;
    if (strchr("-0123456789", word.data[0]) == NULL)
        return false;
    memcpy(text, word.data, word.length);
    text[word.length] = '\0';
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end == text + word.length;
}

int word_shown(struct resp_slice word)
{
    return (int)(word.length < SHOWN_MAX ? word.length : SHOWN_MAX);
}

bool word_copy(struct resp_slice word, char *out, size_t size)
{
    if (word.length >= size || memchr(word.data, '\0', word.length) != NULL)
        return false;
    memcpy(out, word.data, word.length);
    out[word.length] = '\0';
    return true;
}

void word_lower(const char *text, char *out, size_t size)
{
    size_t length = 0;

    for (; text[length] != '\0' && length + 1 < size; length++)
        out[length] = (char)tolower((unsigned char)text[length]);
    out[length] = '\0';
}
