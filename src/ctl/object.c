/* SPDX-License-Identifier: Apache-2.0 */
/* One field, all fields, all maps; see object.h. */
#include "ctl/object.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "ctl/client.h"
#include "ctl/json.h"

static void text_print(const redisReply *map, const char *name, bool is_maybe)
{
    const char *text = reply_text(map, name);

    if (is_maybe && *text == '\0')
        fputs("null", stdout);
    else
        json_string(stdout, text);
}

static void integer_print(const redisReply *map, const char *name,
                          bool is_maybe)
{
    if (is_maybe && reply_field(map, name) == NULL)
        fputs("null", stdout);
    else
        printf("%" PRId64, reply_integer(map, name));
}

static void big_print(const redisReply *map, const char *name, bool is_maybe)
{
    if (is_maybe && reply_field(map, name) == NULL)
        fputs("null", stdout);
    else
        printf("\"%" PRId64 "\"", reply_integer(map, name));
}

static void member_print(const struct field *field, const redisReply *map)
{
    json_string(stdout, field->name);
    fputs(": ", stdout);
    switch (field->member) {
    case MEMBER_TEXT:
    case MEMBER_MAYBE_TEXT:
        text_print(map, field->name, field->member == MEMBER_MAYBE_TEXT);
        return;
    case MEMBER_INTEGER:
    case MEMBER_MAYBE_INTEGER:
        integer_print(map, field->name, field->member == MEMBER_MAYBE_INTEGER);
        return;
    case MEMBER_BIG:
    case MEMBER_MAYBE_BIG:
        big_print(map, field->name, field->member == MEMBER_MAYBE_BIG);
        return;
    case MEMBER_BOOLEAN:
        fputs(reply_integer(map, field->name) != 0 ? "true" : "false", stdout);
        return;
    }
}

void members_print(const struct field *fields, const redisReply *map)
{
    for (size_t i = 0; fields[i].name != NULL; i++) {
        if (i > 0)
            fputs(", ", stdout);
        member_print(&fields[i], map);
    }
}

void objects_print(const char *name, const struct field *fields,
                   const redisReply *rows)
{
    json_string(stdout, name);
    fputs(": [", stdout);
    for (size_t i = 0; i < rows->elements; i++) {
        fputs(i > 0 ? ",\n    {" : "\n    {", stdout);
        members_print(fields, rows->element[i]);
        putchar('}');
    }
    fputs(rows->elements > 0 ? "\n  ]" : "]", stdout);
}
