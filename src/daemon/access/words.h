/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of one setting, in their order. Pure. Private to this folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Zeroed has none. */
struct words {
    char **at;
    size_t count;
};

/* Copies the text. False if memory is short. */
bool words_add(struct words *words, const char *text);

/* Whether a key is what one of them, as a pattern, stands for. */
bool words_match(const struct words *words, const char *key, size_t length);

void words_free(struct words *words);
