/* SPDX-License-Identifier: Apache-2.0 */
/* The values of a setting that is a list, in order. Pure. Private to this
 * folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A zeroed list is empty. */
struct words {
    char **at;
    size_t count;
};

/* Copies the text. False if memory is short. */
bool words_add(struct words *words, const char *text);

/* Whether a key matches one of the texts, read as patterns. */
bool words_match(const struct words *words, const char *key, size_t length);

void words_free(struct words *words);
