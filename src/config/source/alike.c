/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology of 100,000 sequences has few different kinds of them. A group that
 * differs from an earlier one only in its key is left out of the text that
 * libconfig parses. Anything unusual stays in the text, for libconfig to judge.
 */
#include "config/source/source.h"

#include <stdlib.h>
#include <string.h>

#include "config/source/shape.h"

/* The state of reading one text. */
struct reading {
    const char *at;
    const char *key; /* name of the setting that holds the key */
    int line;
    char *out;          /* where to write next */
    const char *copied; /* the text before this is written or left out */
    struct shapes shapes;
};

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

/* Leaves out the text from the comma to the group's end, except for its
 * newlines, so that line numbers do not change. */
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

/* Reads up to the list's end, or to something that is not a group. False: no
 * memory. */
static bool read_groups(struct reading *reading, struct alike *alike)
{
    const char *comma = NULL;
    struct group group;

    for (size_t i = 0;; i++) {
        const struct group *of;

        skip_space(reading);
        of = comma == NULL ? NULL /* the first group */
                           : shapes_find(&reading->shapes, reading->at, &group);
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
            shapes_add(&reading->shapes, &group);
        if (of != NULL && !note(alike, &group, of))
            return false;
        if (of != NULL)
            leave_out(reading, comma, &group);
        if (*reading->at == ')')
            return true;
        comma = reading->at++;
    }
}

/* Returns the position behind the bracket that opens the list; NULL: no such
 * list. */
static const char *list_begin(const char *at, const char *list)
{
    int depth = 0;

    while (at != NULL && *at != '\0') {
        const char *end = token_end(at);

        if (end != NULL && depth == 0 &&
            token_is(at, (size_t)(end - at), list)) {
            end = value_begin(end);
            return end != NULL && *end == '(' ? end + 1 : NULL;
        }
        depth += token_depth(*at);
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
