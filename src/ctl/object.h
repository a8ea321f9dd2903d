/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that the daemon answered, as JSON objects on stdout. Which fields one
 * has is the caller's. */
#pragma once

#include <hiredis/hiredis.h>

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

struct field {
    const char *name; /* NULL ends a list of fields */
    enum member member;
};

/* What stands between the braces of one object. */
void members_print(const struct field *fields, const redisReply *map);

/* A list of objects, with its name, as a member of the object at hand. */
void objects_print(const char *name, const struct field *fields,
                   const redisReply *rows);
