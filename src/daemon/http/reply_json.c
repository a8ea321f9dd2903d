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
    const char *end = memchr(reader->at, '\n', reader->left);

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

static json_t *list_read(struct reader *reader, long long count)
{
    json_t *list = json_array();

    for (long long i = 0; i < count; i++) {
        if (json_array_append_new(list, scalar_read(reader)) == 0)
            continue;
        json_decref(list);
        return NULL;
    }
    return list;
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

    if (!head_read(&reader, &type, &count))
        return NULL;
    if (type == '*')
        return list_read(&reader, count);
    return type == '%' ? map_read(&reader, count) : NULL;
}
