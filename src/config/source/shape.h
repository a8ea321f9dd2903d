/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that are the same text but for their keys. Of this folder alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

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

/* Zeroed holds none. The text outlives it. */
struct shapes {
    struct group groups[SHAPES_MAX];
    size_t count;
    size_t last; /* that was found or added */
};

/* Past a text, a name, or one character; NULL: a text has no end. */
const char *token_end(const char *at);

/* Whether a token is that name. */
bool token_is(const char *at, size_t length, const char *name);

/* How much deeper a character leads: 1, 0, -1. */
int token_depth(char c);

/* `at` is behind a name: where its value begins; NULL: it has none. */
const char *value_begin(const char *at);

/* Reads the group that begins at `at`, whose key is the setting of that name.
 * False: it has no end. */
bool group_read(const char *at, const char *key, struct group *out);

/* Of an earlier group that is like the one at `at`, which `out` then is; NULL:
 * there is none. */
const struct group *shapes_find(struct shapes *shapes, const char *at,
                                struct group *out);

/* Does nothing for a group without a key, or if there are too many. */
void shapes_add(struct shapes *shapes, const struct group *group);
