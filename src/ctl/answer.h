/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that the daemon answered: as rows of a table for a person, or as JSON
 * objects. Which fields a map has is the caller's table. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>
#include <libsmartcols/libsmartcols.h>

/* What JSON makes of a field. */
enum member {
    MEMBER_TEXT,
    MEMBER_INTEGER,
    MEMBER_BIG, /* may pass 2^53, where JSON readers round: a string */
    MEMBER_BOOLEAN,
    MEMBER_MAYBE_TEXT,    /* null where the map has none, or it is empty */
    MEMBER_MAYBE_INTEGER, /* null where the map has none */
    MEMBER_MAYBE_BIG,     /* likewise */
};

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

struct field {
    const char *name; /* NULL ends a list of fields */
    enum member member;
    const char *title; /* of its column; NULL: it has none */
    enum show show;
    int flags; /* of libsmartcols */
};

/* A field that no table shows. */
#define JSON_ONLY(name, member)                                                \
    {                                                                          \
        name, member, NULL, SHOW_TEXT, 0                                       \
    }

/* Prints it on stdout. False, after having said so: out of memory. */
bool table_print(const struct field *fields, const redisReply *rows,
                 bool name_pool);

/* What stands between the braces of one object. */
void members_print(const struct field *fields, const redisReply *map);

/* A list of objects, with its name, as a member of the object at hand. */
void objects_print(const char *name, const struct field *fields,
                   const redisReply *rows);

/* "3m12s"; "-" below 0. */
void age_format(char *to, size_t size, int64_t ms);

/* "2026-11-21T08:15:00Z" of ms since 1970. */
void moment_format(char *to, size_t size, int64_t ms);
