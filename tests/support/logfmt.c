/* SPDX-License-Identifier: Apache-2.0 */
/* Reads word by word; it takes nothing from the code that writes. */
#include "support/logfmt.h"

#include <stdbool.h>
#include <string.h>

#define KEYS_MAX 32

struct key {
    const char *begin;
    size_t length;
};

static bool is_hex(const char *text, size_t count)
{
    return strspn(text, "0123456789abcdef") >= count;
}

/* The end of the escape that begins here, or NULL. */
static const char *escape_end(const char *at)
{
    if (at[1] == 'u' && is_hex(at + 2, 4))
        return at + 6;
    return at[1] != '\0' && strchr("\"\\nrtbf", at[1]) != NULL ? at + 2 : NULL;
}

/* The end of the quoted value that begins here, or NULL. */
static const char *quoted_end(const char *at)
{
    for (at++; at != NULL && *at != '"';) {
        if ((unsigned char)*at < ' ')
            return NULL; /* the end of the line, too */
        at = *at == '\\' ? escape_end(at) : at + 1;
    }
    return at != NULL ? at + 1 : NULL;
}

static const char *bare_end(const char *at)
{
    const char *begin = at;

    while (*at > ' ' && *at <= '~' && strchr("\"=\\", *at) == NULL)
        at++;
    return at > begin ? at : NULL;
}

static size_t key_length(const char *at)
{
    return strspn(at, "abcdefghijklmnopqrstuvwxyz_");
}

static bool key_is_new(const struct key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (keys[i].length == keys[count].length &&
            memcmp(keys[i].begin, keys[count].begin, keys[count].length) == 0)
            return false;
    }
    return true;
}

const char *logfmt_complaint(const char *line)
{
    struct key keys[KEYS_MAX];

    if (strncmp(line, "event=", strlen("event=")) != 0)
        return "it does not begin with event=";
    for (size_t count = 0; count < KEYS_MAX; count++) {
        keys[count] = (struct key){line, key_length(line)};
        line += keys[count].length;
        if (keys[count].length == 0 || *line++ != '=')
            return "a word is no key=value";
        if (!key_is_new(keys, count))
            return "a key is there twice";
        line = *line == '"' ? quoted_end(line) : bare_end(line);
        if (line == NULL)
            return "a value is not whole, or lacks its quotes";
        if (*line == '\0')
            return NULL;
        if (*line++ != ' ')
            return "no space follows a value";
    }
    return "it has too many words";
}
