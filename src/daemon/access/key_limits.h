/* SPDX-License-Identifier: Apache-2.0 */
/* How many numbers of which keys may be taken, as a topology says it. Pure.
 * Private to the folder, but by access.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/access/quota.h"
#include "daemon/access/words.h"

struct key_limit {
    char *name;
    struct words keys;          /* patterns; none: no key */
    struct quota_limits limits; /* of each key by itself */
};

/* Zeroed has none. */
struct key_limits {
    struct key_limit *at;
    size_t count;
};

/* Takes a limit by its setting's name, as "rate"; false: it is another one. */
bool quota_limits_take(struct quota_limits *limits, const char *setting,
                       const char *value);

/* Takes a setting behind "key_limits.": "name" begins one, the others are of
 * that one. False if memory is short. */
bool key_limits_take(struct key_limits *all, const char *setting,
                     const char *value);

/* The first one whose patterns the key matches, or NULL. */
const struct key_limit *key_limits_find(const struct key_limits *all,
                                        const char *key, size_t length);

void key_limits_free(struct key_limits *all);
