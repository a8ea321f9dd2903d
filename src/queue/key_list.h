/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of some sequences, for a line of the log. */
#pragma once

#include <stddef.h>

#define KEY_LIST_SIZE 200 /* bytes for the keys */

/* Zeroed is empty. */
struct key_list {
    char names[KEY_LIST_SIZE]; /* separated by commas; of many, the first */
    size_t named;
    size_t count;
};

void key_list_add(struct key_list *list, const char *key);

/* What follows the names: ",..." if some are left out. */
const char *key_list_rest(const struct key_list *list);
