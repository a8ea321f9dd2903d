/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records every number that was issued, and knows at once if a number repeats.
 * It uses one bit for each number, in pages that exist only where numbers were
 * seen, so that ten million numbers need little more than a megabyte.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct oracle_page;

struct oracle_place {
    struct oracle_page *page; /* NULL: free */
};

struct oracle {
    struct oracle_place *table; /* hash table */
    size_t capacity;            /* of the table; a power of two */
    size_t pages;
    int64_t count;    /* numbers recorded */
    int64_t repeats;  /* how many of them were repeats */
    int64_t repeated; /* the first repeat; valid if there is one */
};

void oracle_init(struct oracle *oracle);
void oracle_fini(struct oracle *oracle);

/* Records numbers. Aborts the program when out of memory. */
void oracle_add(struct oracle *oracle, const int64_t *numbers, size_t n);
