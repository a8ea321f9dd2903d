/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rows of seqb_counters a page lists (struct seqb_page), and how they are
 * added to it. The engine reads the rows whose names are at or above `from` and
 * below `to`, in the order of bytes. Pure.
 */
#pragma once

#include <stdint.h>

#include <seqbroker/backend.h>

struct sql_range {
    char from[SEQB_COUNTER_SIZE + 1];
    char to[SEQB_COUNTER_SIZE];
};

/* Empties the page and answers the range of its rows. SEQB_INVALID for a prefix
 * that no page can have; `where` begins messages. */
enum seqb_status sql_page_begin(struct seqb_page *page, struct sql_range *out,
                                const char *where, struct seqb_error *err);

/* Adds the next row. `value` is negative if it is not a number, `name` is NULL
 * if it is not a text. SEQB_CORRUPT if the row is damaged or out of order. */
enum seqb_status sql_page_add(struct seqb_page *page, const char *name,
                              int64_t value, const char *where,
                              struct seqb_error *err);
