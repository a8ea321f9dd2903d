/* SPDX-License-Identifier: Apache-2.0 */
/* The limits of keys, as the topology has them. Pure. Private to the folder,
 * except through access.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/access/quota.h"
#include "daemon/access/words.h"

struct key_limit {
    char *name;
    struct words keys;          /* patterns; an empty list matches no key */
    struct quota_limits limits; /* of each key separately */
};

/* A zeroed list is empty. */
struct key_limits {
    struct key_limit *at;
    size_t count;
};

/* Sets the limit of that setting, such as "rate". False if the setting is not a
 * limit. */
bool quota_limits_take(struct quota_limits *limits, const char *setting,
                       const char *value);

/* Takes a setting of the section "key_limits", named without the prefix. "name"
 * begins a new entry; the others belong to the entry begun last. False if
 * memory is short. */
bool key_limits_take(struct key_limits *all, const char *setting,
                     const char *value);

/* The first one whose patterns the key matches, or NULL. */
const struct key_limit *key_limits_find(const struct key_limits *all,
                                        const char *key, size_t length);

void key_limits_free(struct key_limits *all);
