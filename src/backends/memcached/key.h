/* SPDX-License-Identifier: Apache-2.0 */
/* The key of a counter or a claim in a memcached server. Pure. */
#pragma once

#include <stdbool.h>

#define MEMCACHED_KEY_MAX 250 /* bytes of a key as it is sent */

struct memcached_key {
    char name[MEMCACHED_KEY_MAX + 1]; /* the item's name, for messages */
    char text[MEMCACHED_KEY_MAX + 1]; /* as it is sent ... */
    const char *flag;                 /* ... followed by " b" if it is base64 */
};

/* Makes "<prefix>:<kind><name>". It is sent as base64 if it has spaces or
 * control characters, which would end the key. False if it is too long. */
bool memcached_key_make(const char *prefix, const char *kind, const char *name,
                        struct memcached_key *out);
