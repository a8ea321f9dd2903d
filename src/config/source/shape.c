/* SPDX-License-Identifier: Apache-2.0 */
/* Compares groups as texts. A small lexer finds their keys; it does not know
 * comments, which scan.c removed. */
#include "config/source/shape.h"

#include <string.h>

#include "config/source/source.h"
#include "platform/text.h"

bool token_is(const char *at, size_t length, const char *name)
{
    return strncmp(at, name, length) == 0 && name[length] == '\0';
}

/* Returns the position behind the closing quote; NULL: there is none. */
static const char *string_end(const char *at)
{
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
        if (*at == '\0')
            return NULL;
    }
    return at + 1;
}

const char *value_begin(const char *at)
{
    at += strspn(at, SPACE);
    if (*at != '=' && *at != ':')
        return NULL;
    at++;
    return at + strspn(at, SPACE);
}

/* Takes the value behind the key's name as the key, if the value is a single
 * string. libconfig joins adjacent strings to one, so a string that another one
 * follows is not taken. */
static void key_take(struct group *group, const char *at)
{
    const char *quote = value_begin(at);
    size_t length;

    if (quote == NULL || *quote != '"')
        return;
    length = text_key_length(quote + 1);
    if (length == 0 || quote[length + 1] != '"' ||
        strcspn(quote + length + 2, ";,}") > 0)
        return;
    group->key = quote + 1;
    group->key_length = length;
}

const char *token_end(const char *at)
{
    if (*at == '"')
        return string_end(at);
    do
        at++;
    while (source_is_letter(at[-1]) && source_is_letter(*at));
    return at;
}

int token_depth(char c)
{
    if (c == '\0')
        return 0;
    return (strchr("{([", c) != NULL) - (strchr("})]", c) != NULL);
}

bool group_read(const char *at, const char *key, struct group *out)
{
    int depth = 0;

    *out = (struct group){.begin = at};
    do {
        const char *end = *at == '\0' ? NULL : token_end(at);

        if (end == NULL)
            return false;
        if (depth == 1 && out->key == NULL &&
            token_is(at, (size_t)(end - at), key))
            key_take(out, end);
        depth += token_depth(*at);
        at = end;
    } while (depth > 0);
    out->end = at;
    return true;
}

/* Whether the group at `at` differs from the shape only in its key. If so,
 * `out` becomes the group at `at`. */
static bool is_alike(const struct group *shape, const char *at,
                     struct group *out)
{
    const size_t head = (size_t)(shape->key - shape->begin);
    const char *tail = shape->key + shape->key_length;
    const size_t tail_length = (size_t)(shape->end - tail);
    size_t length;

    if (strncmp(at, shape->begin, head) != 0)
        return false;
    length = text_key_length(at + head);
    if (length == 0 || strncmp(at + head + length, tail, tail_length) != 0)
        return false;
    *out = (struct group){.begin = at,
                          .key = at + head,
                          .key_length = length,
                          .end = at + head + length + tail_length};
    return true;
}

const struct group *shapes_find(struct shapes *shapes, const char *at,
                                struct group *out)
{
    for (size_t i = 0; i < shapes->count; i++) {
        const size_t next = (shapes->last + i) % shapes->count;

        if (!is_alike(&shapes->groups[next], at, out))
            continue;
        shapes->last = next;
        return &shapes->groups[next];
    }
    return NULL;
}

void shapes_add(struct shapes *shapes, const struct group *group)
{
    if (group->key == NULL || shapes->count == SHAPES_MAX)
        return;
    shapes->last = shapes->count;
    shapes->groups[shapes->count++] = *group;
}
