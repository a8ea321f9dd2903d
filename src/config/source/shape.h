/* SPDX-License-Identifier: Apache-2.0 */
/* Finds groups of a topology that differ only in their keys. For this folder
 * alone. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SPACE      " \t\r\n"
#define SHAPES_MAX 64 /* number of groups that others are compared with */

/* A group in the text, from its opening to its closing brace. */
struct group {
    const char *begin;
    /* Without its quotes; NULL: no key, or not one plain text. */
    const char *key;
    size_t key_length;
    const char *end;
    size_t at; /* index in the list */
    int line;
};

/* Zeroed is empty. The text must outlive it. */
struct shapes {
    struct group groups[SHAPES_MAX];
    size_t count;
    size_t last; /* index of the group found or added last */
};

/* Returns the end of the token at `at`: a string, a name, or one character.
 * NULL: a string without closing quote. */
const char *token_end(const char *at);

/* Whether the token of `length` bytes at `at` is `name`. */
bool token_is(const char *at, size_t length, const char *name);

/* The change of nesting depth by a character: 1 for an opening bracket, -1 for
 * a closing one, else 0. */
int token_depth(char c);

/* `at` points behind a setting's name. Returns where its value begins; NULL: no
 * '=' or ':' follows. */
const char *value_begin(const char *at);

/* Reads the group that begins at `at`. `key` is the name of the setting that
 * holds its key. False if the group has no end. */
bool group_read(const char *at, const char *key, struct group *out);

/* Looks for an earlier group that differs from the group at `at` only in its
 * key. Returns the earlier group, and fills `out` with the group at `at`. NULL:
 * none is alike. */
const struct group *shapes_find(struct shapes *shapes, const char *at,
                                struct group *out);

/* Does nothing if the group has no key, or SHAPES_MAX are there. */
void shapes_add(struct shapes *shapes, const struct group *group);
