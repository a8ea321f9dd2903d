/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of keys; see key_limits.h. */
#include "daemon/access/key_limits.h"

#include <stdlib.h>
#include <string.h>

bool quota_limits_take(struct quota_limits *limits, const char *setting,
                       const char *value)
{
    const struct {
        const char *setting;
        int64_t *limit;
    } all[] = {
        {"max_connections", &limits->max_connections},
        {"max_count", &limits->max_count},
        {"rate", &limits->rate},
        {"burst", &limits->burst},
        {"daily_limit", &limits->daily_limit},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(setting, all[i].setting) == 0) {
            *all[i].limit = strtoll(value, NULL, 10);
            return true;
        }
    }
    return false;
}

static bool limit_begin(struct key_limits *all, const char *name)
{
    struct key_limit *at = realloc(all->at, (all->count + 1) * sizeof *at);

    if (at == NULL)
        return false;
    all->at = at;
    at[all->count] = (struct key_limit){.name = strdup(name)};
    return at[all->count].name != NULL && ++all->count > 0;
}

bool key_limits_take(struct key_limits *all, const char *setting,
                     const char *value)
{
    struct key_limit *limit = all->count > 0 ? &all->at[all->count - 1] : NULL;

    if (strcmp(setting, "name") == 0)
        return limit_begin(all, value);
    if (limit == NULL)
        return true;
    if (strcmp(setting, "keys") == 0)
        return words_add(&limit->keys, value);
    (void)quota_limits_take(&limit->limits, setting, value);
    return true;
}

const struct key_limit *key_limits_find(const struct key_limits *all,
                                        const char *key, size_t length)
{
    for (size_t i = 0; i < all->count; i++)
        if (words_match(&all->at[i].keys, key, length))
            return &all->at[i];
    return NULL;
}

void key_limits_free(struct key_limits *all)
{
    for (size_t i = 0; i < all->count; i++) {
        free(all->at[i].name);
        words_free(&all->at[i].keys);
    }
    free(all->at);
    *all = (struct key_limits){.count = 0};
}
