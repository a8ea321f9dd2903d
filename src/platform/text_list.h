/* SPDX-License-Identifier: Apache-2.0 */
/* A list on one line, "a; b; and 3 more", in a buffer that may be short. Each
 * entry is written as a whole, or counted. */
#pragma once

#include <stddef.h>

struct text_list {
    char *out; /* the caller's */
    size_t size;
    const char *between; /* between two entries */
    size_t left_out;
};

/* `size` is at least 1. */
void text_list_init(struct text_list *list, char *out, size_t size,
                    const char *between);

/* Adds the entry if it fits and all before it did. The first entry is cut
 * rather than left out. */
void text_list_add(struct text_list *list, const char *entry);

/* Appends the number of entries that were left out, if any. Nothing may be
 * added after that. */
void text_list_finish(struct text_list *list);
