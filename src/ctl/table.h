/* SPDX-License-Identifier: Apache-2.0 */
/* A list of maps that the daemon answered, as a table for a person: one row a
 * map, its fields found by name. What columns there are is the caller's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>
#include <libsmartcols/libsmartcols.h>

/* How a table shows a field. */
enum show {
    SHOW_TEXT,
    SHOW_INTEGER,
    SHOW_SOME,      /* an integer; the column is left out where all are 0 */
    SHOW_MAYBE,     /* either; the column is left out where no row has it */
    SHOW_AGE,       /* ms, as 3m12s; -1: none */
    SHOW_SINCE,     /* the age of a moment, ms since 1970; 0: none */
    SHOW_MOMENT,    /* the moment itself */
    SHOW_DATE,      /* ms from now; -1: none */
    SHOW_LATENCY,   /* us, as 1.2ms */
    SHOW_OFFSET,    /* ms, as +1.2s; left out as SHOW_MAYBE */
    SHOW_ROOM,      /* how many of its template's numbers; likewise left out */
    SHOW_REFILL,    /* how many numbers it asked for, and why so many */
    SHOW_WHY,       /* the reason; what its settings lose if it is well */
    SHOW_PARTITION, /* with the pool's name where there are several */
};

struct column {
    const char *title; /* NULL ends a list of columns */
    const char *field;
    enum show show;
    int flags; /* of libsmartcols */
};

/* Prints it on stdout. False, after having said so: out of memory. */
bool table_print(const struct column *columns, const redisReply *rows,
                 bool name_pool);

/* "3m12s"; "-" below 0. */
void age_format(char *to, size_t size, int64_t ms);

/* "2026-11-21T08:15:00Z" of ms since 1970. */
void moment_format(char *to, size_t size, int64_t ms);
