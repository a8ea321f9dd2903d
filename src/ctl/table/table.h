/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that the daemon answered, as rows of a table for a person: which of
 * them, in what order, and how they are printed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hiredis/hiredis.h>

#include "status/status.h"

/* How things are shown to a person. */
struct view {
    FILE *to;
    size_t width; /* characters of a line; of a wide view it bounds nothing */
    bool is_wide; /* all columns, and nothing cut or wrapped */
    bool is_colored;
};

/* Some maps of a list. The maps are the list's. */
struct rows {
    redisReply **row; /* for rows_fini */
    size_t count;
};

/* All of a list; NULL: none. False: out of memory, which was said. */
bool rows_init(struct rows *rows, const redisReply *list);

void rows_fini(struct rows *rows);

/* Keeps those whose value of one of the fields is the name, or matches it as a
 * glob. The second field may be NULL. */
void rows_keep(struct rows *rows, const char *glob, const char *field,
               const char *other);

/* Keeps those whose pool is that of a row of `others`, or matches the glob. */
void rows_keep_pools(struct rows *rows, const char *glob,
                     const struct rows *others);

/* An order of sequences: "rate", "stock", ... */
struct row_order;

/* NULL: there is no such order. Static. */
const struct row_order *row_order_find(const char *name);

/* "rate, stock, ..." */
const char *row_order_names(void);

void rows_sort(struct rows *rows, const struct row_order *order);

/* Prints it, and below it why partitions are not up. False where that failed,
 * or after having said that memory is short. */
bool table_print(const struct view *view, enum status_of of,
                 const struct rows *rows, bool name_pool);

/* "3m12s"; "-" below 0. */
void age_format(char *to, size_t size, int64_t ms);

/* ms since 1970, by this machine's clock. */
int64_t moment_now(void);

/* "2026-11-21T08:15:00Z" of ms since 1970. */
void moment_format(char *to, size_t size, int64_t ms);
