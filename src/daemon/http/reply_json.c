/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the replies of commands; see reply_json.h. */
#include "daemon/http/reply_json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "status/json/json.h"

struct reader {
    const char *at;
    size_t left;
};

/* Reads a type's letter and the integer behind it, a value or a length, and
 * moves behind their line. False at the end. */
static bool head_read(struct reader *reader, char *type, long long *value)
{
    const char *end =
        reader->left > 0 ? memchr(reader->at, '\n', reader->left) : NULL;

    if (end == NULL)
        return false;
    *type = *reader->at;
    *value = strtoll(reader->at + 1, NULL, 10);
    end++;
    reader->left -= (size_t)(end - reader->at);
    reader->at = end;
    return true;
}

static json_t *text_read(struct reader *reader, size_t length)
{
    json_t *text = NULL;
    char *copy = NULL;

    if (length + 2 > reader->left)
        return NULL;
    copy = strndup(reader->at, length);
    reader->at += length + 2;
    reader->left -= length + 2;
    if (copy == NULL)
        return NULL;
    text = json_of_text(copy);
    free(copy);
    return text;
}

static json_t *scalar_read(struct reader *reader)
{
    char type = '\0';
    long long value = 0;

    if (!head_read(reader, &type, &value))
        return NULL;
    if (type == ':')
        return json_integer(value);
    return type == '$' && value >= 0 ? text_read(reader, (size_t)value) : NULL;
}

static json_t *map_read(struct reader *reader, long long count)
{
    json_t *map = json_object();

    for (long long i = 0; i < count; i++) {
        json_t *name = scalar_read(reader);
        const bool is_set = json_is_string(name) &&
                            json_object_set_new(map, json_string_value(name),
                                                scalar_read(reader)) == 0;

        json_decref(name);
        if (is_set)
            continue;
        json_decref(map);
        return NULL;
    }
    return map;
}

json_t *reply_json(const char *reply, size_t length)
{
    struct reader reader = {reply, length};
    char type = '\0';
    long long count = 0;

    if (!head_read(&reader, &type, &count) || type != '%')
        return NULL;
    return map_read(&reader, count);
}

/* --- lists, in parts --- */

/* Whether JSON has the text as it is. */
static bool is_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
            return false;
    return true;
}

static bool plain_add(struct evbuffer *out, const char *text, size_t length)
{
    return evbuffer_add(out, "\"", 1) == 0 &&
           evbuffer_add(out, text, length) == 0 &&
           evbuffer_add(out, "\"", 1) == 0;
}

static bool item_add(struct evbuffer *out, struct reader *reader)
{
    struct reader ahead = *reader;
    char type = '\0';
    long long value = 0;
    json_t *item = NULL;
    char *text = NULL;
    bool is_added = false;

    if (head_read(&ahead, &type, &value) && type == '$' && value >= 0 &&
        (size_t)value + 2 <= ahead.left && is_plain(ahead.at, (size_t)value)) {
        *reader = (struct reader){ahead.at + value + 2,
                                  ahead.left - (size_t)value - 2};
        return plain_add(out, ahead.at, (size_t)value);
    }
    item = scalar_read(reader);
    text = item != NULL ? json_dumps(item, JSON_ENCODE_ANY) : NULL;
    is_added = text != NULL && evbuffer_add(out, text, strlen(text)) == 0;
    free(text);
    json_decref(item);
    return is_added;
}

bool reply_json_add(struct evbuffer *out, const char *part, size_t length,
                    bool *is_first)
{
    struct reader reader = {part, length};
    char type = '\0';
    long long count = 0;

    if (*is_first && length > 0 && !head_read(&reader, &type, &count))
        return false;
    while (reader.left > 0) {
        if (!*is_first && evbuffer_add(out, ",", 1) != 0)
            return false;
        *is_first = false;
        if (!item_add(out, &reader))
            return false;
    }
    return true;
}
