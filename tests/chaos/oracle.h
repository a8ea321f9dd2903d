/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hears of every number that was handed out, and knows at once if one came
 * before: a bit a number, in pages that exist where numbers were seen, so
 * that ten million numbers need little more than a megabyte.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct oracle_page;

struct oracle_place {
    struct oracle_page *page; /* NULL: free */
};

struct oracle {
    struct oracle_place *table; /* by hash */
    size_t capacity;            /* of the table; a power of two */
    size_t pages;
    int64_t count;    /* numbers heard of */
    int64_t repeats;  /* of them, those that had come before */
    int64_t repeated; /* the first of those; read only if there is one */
};

void oracle_init(struct oracle *oracle);
void oracle_fini(struct oracle *oracle);

/* Ends the program when out of memory. */
void oracle_add(struct oracle *oracle, const int64_t *numbers, size_t n);
