/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of settings that the daemon keeps. NULL: the setting has no value. */
#pragma once

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Keeps a copy of the value on the heap, and frees what was kept before. False
 * if memory is short; the setting then has no value. */
static inline bool setting_keep(char **setting, const char *value)
{
    free(*setting);
    *setting = strdup(value);
    return *setting != NULL;
}

static inline bool setting_is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}
