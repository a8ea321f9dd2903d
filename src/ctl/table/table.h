/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's answers (maps) as rows of a table for a person: which rows, in
 * which order, and how they are printed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <hiredis/hiredis.h>

#include "status/status.h"

/* How output is shown to a person. */
struct view {
    FILE *to;
    size_t width;    /* characters of a line; ignored if is_wide alone */
    bool is_wide;    /* all columns; nothing is cut or wrapped ... */
    bool is_bounded; /* ... but a screen cuts lines: what does not fit is left
                        out or wrapped */
    bool is_colored;
};

/* For text_wrap. */
size_t view_wrap(const struct view *view);

/* Some maps of a list. The list owns the maps. */
struct rows {
    redisReply **row; /* freed by rows_fini */
    size_t count;
};

/* Takes all maps of a list; NULL: none. False, reported: out of memory. */
bool rows_init(struct rows *rows, const redisReply *list);

void rows_fini(struct rows *rows);

/* Keeps the rows in which one of the two fields equals the name, or matches it
 * as a glob. The second field may be NULL. */
void rows_keep(struct rows *rows, const char *glob, const char *field,
               const char *other);

/* Keeps the rows whose pool is that of a row of `others`, or matches the
 * glob. */
void rows_keep_pools(struct rows *rows, const char *glob,
                     const struct rows *others);

/* Drops the partitions that are up and give no reason. */
void rows_drop_up(struct rows *rows);

/* An order of sequences: "rate", "stock", ... */
struct row_order;

/* NULL: there is no such order. The result is static. */
const struct row_order *row_order_find(const char *name);

/* "rate, stock, ..." */
const char *row_order_names(void);

void rows_sort(struct rows *rows, const struct row_order *order);

/* Prints the table, and below it why partitions are not up. False if stdout
 * failed, or if memory ran out, which was reported. */
bool table_print(const struct view *view, enum status_of of,
                 const struct rows *rows, bool name_pool);

/* Shortens a name to `width` characters: "order~2026". Keeps both ends, since
 * they distinguish it from the others. */
void name_cut(char *name, size_t width);

/* "3m12s"; "-" if negative. */
void age_format(char *to, size_t size, int64_t ms);

/* "14.9 MiB". */
void bytes_format(char *to, size_t size, int64_t bytes);

/* ms since 1970, by this machine's clock. */
int64_t moment_now(void);

/* ms since 1970 as "2026-11-21T08:15:00Z". */
void moment_format(char *to, size_t size, int64_t ms);
