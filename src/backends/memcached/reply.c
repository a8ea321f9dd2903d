/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of memcached's replies. */
#include "backends/memcached/reply.h"

#include <string.h>

#include "backends/memcached/cell.h"

#define ITEM_SIZE_MAX ((uint64_t)1 << 30) /* memcached's own limit */

struct span {
    const char *text;
    size_t length;
};

static const struct {
    const char *word;
    enum memcached_code code;
} codes[] = {
    {"VA", MEMCACHED_VALUE},           {"HD", MEMCACHED_DONE},
    {"EN", MEMCACHED_ABSENT},          {"NF", MEMCACHED_ABSENT},
    {"NS", MEMCACHED_NOT_STORED},      {"EX", MEMCACHED_CHANGED},
    {"ERROR", MEMCACHED_ERROR},        {"CLIENT_ERROR", MEMCACHED_ERROR},
    {"SERVER_ERROR", MEMCACHED_ERROR},
};

bool memcached_reply_begins(const struct memcached_reply *reply,
                            const char *word)
{
    const size_t length = strlen(word);

    return reply->text != NULL && reply->length >= length &&
           memcmp(reply->text, word, length) == 0 &&
           (reply->length == length || reply->text[length] == ' ');
}

static enum memcached_code line_code(const struct memcached_reply *reply)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (memcached_reply_begins(reply, codes[i].word))
            return codes[i].code;
    }
    return MEMCACHED_LINE;
}

/* Removes the first word of `line`; an empty word is the end. */
static struct span word_take(struct span *line)
{
    struct span word = {line->text, 0};

    while (word.length < line->length && word.text[word.length] != ' ')
        word.length++;
    line->text += word.length;
    line->length -= word.length;
    if (line->length > 0) { /* skip the space */
        line->text++;
        line->length--;
    }
    return word;
}

/* Parses the item's fields that were requested; others are skipped, since every
 * server adds its own. */
static bool fields_parse(struct span line, struct memcached_reply *out)
{
    while (line.length > 0) {
        const struct span word = word_take(&line);
        uint64_t number;

        if (word.length == 0 || (word.text[0] != 'f' && word.text[0] != 'c'))
            continue;
        if (!memcached_number(word.text + 1, word.length - 1, &number))
            return false;
        if (word.text[0] == 'c') {
            out->has_cas = true;
            out->cas = number;
            continue;
        }
        if (number > UINT32_MAX)
            return false;
        out->has_flags = true;
        out->flags = (uint32_t)number;
    }
    return true;
}

/* Parses the value after the line; the line has `out->size` bytes. */
static enum memcached_parsed value_parse(const char *data, size_t length,
                                         uint64_t value_length,
                                         struct memcached_reply *out)
{
    const size_t begin = out->size;

    if (value_length > ITEM_SIZE_MAX)
        return MEMCACHED_BROKEN;
    out->length = (size_t)value_length;
    if (value_length > MEMCACHED_VALUE_MAX) {
        out->text = NULL;
        out->rest = out->length + 2;
        return MEMCACHED_COMPLETE;
    }
    if (length - begin < out->length + 2)
        return MEMCACHED_PARTIAL;
    out->text = data + begin;
    out->size += out->length + 2;
    return memcmp(out->text + out->length, "\r\n", 2) == 0 ? MEMCACHED_COMPLETE
                                                           : MEMCACHED_BROKEN;
}

/* Splits off the line. Its text is used in messages, so it must be a text
 * without control characters. */
static enum memcached_parsed line_parse(const char *data, size_t length,
                                        struct memcached_reply *out)
{
    const size_t most =
        length < MEMCACHED_LINE_MAX ? length : MEMCACHED_LINE_MAX;
    const char *end = most > 0 ? memchr(data, '\n', most) : NULL;

    if (end == NULL)
        return most < MEMCACHED_LINE_MAX ? MEMCACHED_PARTIAL : MEMCACHED_BROKEN;
    out->size = (size_t)(end - data) + 1;
    if (out->size < 2 || end[-1] != '\r')
        return MEMCACHED_BROKEN;
    out->text = data;
    out->length = out->size - 2;
    for (size_t i = 0; i < out->length; i++) {
        if ((unsigned char)data[i] < ' ' || data[i] == 0x7f)
            return MEMCACHED_BROKEN;
    }
    return MEMCACHED_COMPLETE;
}

enum memcached_parsed memcached_reply_parse(const char *data, size_t length,
                                            struct memcached_reply *out)
{
    enum memcached_parsed parsed;
    struct span line;
    struct span word;
    uint64_t value_length = 0;

    *out = (struct memcached_reply){.code = MEMCACHED_LINE};
    parsed = line_parse(data, length, out);
    if (parsed != MEMCACHED_COMPLETE)
        return parsed;
    out->code = line_code(out);
    if (out->code != MEMCACHED_VALUE)
        return MEMCACHED_COMPLETE;
    line = (struct span){out->text, out->length};
    (void)word_take(&line);
    word = word_take(&line);
    if (!memcached_number(word.text, word.length, &value_length) ||
        !fields_parse(line, out))
        return MEMCACHED_BROKEN;
    return value_parse(data, length, value_length, out);
}
