/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology of 100,000 sequences has few kinds of them. A group that stands in
 * the list already, but for the text of its key, is left out of what libconfig
 * reads. Whatever is unusual stays, and is libconfig's to judge.
 */
#include "config/source/source.h"

#include <seqbroker/seqbroker.h>

#include <stdlib.h>
#include <string.h>

#include "platform/text.h"

#define SPACE      " \t\r\n"
#define SHAPES_MAX 64 /* groups that others are compared with */

/* A group as it stands in the text, braces and all. */
struct group {
    const char *begin;
    const char *key; /* within its quotes; NULL: there is none, or an odd one */
    size_t key_length;
    const char *end;
    size_t at; /* in the list */
    int line;
};

/* One text being read. */
struct reading {
    const char *at;
    const char *key; /* the setting's name */
    int line;
    char *out;          /* where to write */
    const char *copied; /* the text up to here is written, or left out */
    struct group shapes[SHAPES_MAX];
    size_t shape_count;
    size_t last; /* the shape of the group before */
};

static bool is_name(const char *at, size_t length, const char *name)
{
    return strncmp(at, name, length) == 0 && name[length] == '\0';
}

/* Past the closing quote; NULL: there is none. */
static const char *string_end(const char *at)
{
    for (at++; *at != '"'; at++) {
        at += *at == '\\';
        if (*at == '\0')
            return NULL;
    }
    return at + 1;
}

/* `at` is behind a name: where its value begins; NULL: it has none. */
static const char *value_begin(const char *at)
{
    at += strspn(at, SPACE);
    if (*at != '=' && *at != ':')
        return NULL;
    at++;
    return at + strspn(at, SPACE);
}

/* Takes the value behind the key's name, if it is one text. Texts that stand
 * side by side are one for libconfig. */
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

/* Past a text, a name, or one character; NULL: a text has no end. */
static const char *token_end(const char *at)
{
    if (*at == '"')
        return string_end(at);
    do
        at++;
    while (source_is_letter(at[-1]) && source_is_letter(*at));
    return at;
}

static int depth_of(char c)
{
    if (c == '\0')
        return 0;
    return (strchr("{([", c) != NULL) - (strchr("})]", c) != NULL);
}

/* False: it has no end. */
static bool group_read(const char *at, const char *key, struct group *out)
{
    int depth = 0;

    *out = (struct group){.begin = at};
    do {
        const char *end = *at == '\0' ? NULL : token_end(at);

        if (end == NULL)
            return false;
        if (depth == 1 && out->key == NULL &&
            is_name(at, (size_t)(end - at), key))
            key_take(out, end);
        depth += depth_of(*at);
        at = end;
    } while (depth > 0);
    out->end = at;
    return true;
}

/* Whether the group that begins at `at` is the shape with another key: then
 * `out` is it. */
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

/* Of an earlier group that is like the one at `reading->at`, which `out` then
 * is; NULL: there is none. */
static const struct group *shape_find(struct reading *reading,
                                      struct group *out)
{
    for (size_t i = 0; i < reading->shape_count; i++) {
        const size_t at = (reading->last + i) % reading->shape_count;

        if (!is_alike(&reading->shapes[at], reading->at, out))
            continue;
        reading->last = at;
        return &reading->shapes[at];
    }
    return NULL;
}

static void shape_add(struct reading *reading, const struct group *group)
{
    if (group->key == NULL || reading->shape_count == SHAPES_MAX)
        return;
    reading->last = reading->shape_count;
    reading->shapes[reading->shape_count++] = *group;
}

static bool note(struct alike *alike, const struct group *group,
                 const struct group *of)
{
    if (alike->count == alike->capacity) {
        const size_t wanted = alike->capacity == 0 ? 64 : 2 * alike->capacity;
        struct alike_group *larger =
            realloc(alike->groups, wanted * sizeof *larger);

        if (larger == NULL)
            return false;
        alike->groups = larger;
        alike->capacity = wanted;
    }
    alike->groups[alike->count++] = (struct alike_group){
        .at = group->at,
        .of = of->at,
        .lines = group->line - of->line,
        .key = group->key,
        .length = group->key_length,
    };
    return true;
}

static void copy_until(struct reading *reading, const char *end)
{
    const size_t length = (size_t)(end - reading->copied);

    memcpy(reading->out, reading->copied, length);
    reading->out += length;
    reading->copied = end;
}

static int lines_between(const char *at, const char *end)
{
    int lines = 0;

    for (; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        lines++;
    return lines;
}

/* Of what is left out, from the comma on, only the ends of lines stay. */
static void leave_out(struct reading *reading, const char *comma,
                      const struct group *group)
{
    const int lines = lines_between(comma, group->end);

    copy_until(reading, comma);
    memset(reading->out, '\n', (size_t)lines);
    reading->out += lines;
    reading->copied = group->end;
}

static void skip_space(struct reading *reading)
{
    const size_t length = strspn(reading->at, SPACE);

    reading->line += lines_between(reading->at, reading->at + length);
    reading->at += length;
}

/* Up to the list's end, or to what is no group. False: no memory. */
static bool read_groups(struct reading *reading, struct alike *alike)
{
    const char *comma = NULL;
    struct group group;

    for (size_t i = 0;; i++) {
        const struct group *of;

        skip_space(reading);
        of = shape_find(reading, &group);
        if (of == NULL && (*reading->at != '{' ||
                           !group_read(reading->at, reading->key, &group)))
            return true;
        group.at = i;
        group.line = reading->line;
        reading->line += lines_between(group.begin, group.end);
        reading->at = group.end;
        skip_space(reading);
        if (*reading->at != ',' && *reading->at != ')')
            return true;
        if (of == NULL)
            shape_add(reading, &group);
        if (of != NULL && !note(alike, &group, of))
            return false;
        if (of != NULL)
            leave_out(reading, comma, &group);
        if (*reading->at == ')')
            return true;
        comma = reading->at++;
    }
}

/* Behind the bracket that opens the list; NULL: there is none. */
static const char *list_begin(const char *at, const char *list)
{
    int depth = 0;

    while (at != NULL && *at != '\0') {
        const char *end = token_end(at);

        if (end != NULL && depth == 0 &&
            is_name(at, (size_t)(end - at), list)) {
            end = value_begin(end);
            return end != NULL && *end == '(' ? end + 1 : NULL;
        }
        depth += depth_of(*at);
        at = end;
    }
    return NULL;
}

bool alike_find(struct alike *alike, const char *text, const char *list,
                const char *key)
{
    const char *begin = list_begin(text, list);
    struct reading reading = {.at = begin, .key = key, .copied = text};

    *alike = (struct alike){.text = NULL};
    if (begin == NULL)
        return false;
    alike->text = malloc(strlen(text) + 1);
    if (alike->text == NULL)
        return false;
    reading.out = alike->text;
    if (!read_groups(&reading, alike))
        return false;
    copy_until(&reading, reading.copied + strlen(reading.copied) + 1);
    return alike->count > 0;
}

void alike_free(struct alike *alike)
{
    free(alike->text);
    free(alike->groups);
}
