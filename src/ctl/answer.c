/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a map as members of a JSON object; see answer.h. */
#include "ctl/answer.h"

#include <inttypes.h>
#include <stdio.h>

#include "ctl/client.h"
#include "ctl/complain.h"
#include "ctl/json.h"

#define DIGITS_SIZE 24

/* A field that is missing does not apply, or a daemon of another version does
 * not know it. */
static json_t *value_make(const struct status_field *field,
                          const redisReply *map)
{
    const int64_t integer = reply_integer(map, field->name);
    char digits[DIGITS_SIZE];

    if (reply_field(map, field->name) == NULL)
        return json_null();
    if (status_is_text(field))
        return json_of_text(reply_text(map, field->name));
    if (field->kind == STATUS_BOOLEAN)
        return json_boolean(integer != 0);
    if (field->kind != STATUS_BIG)
        return json_integer(integer);
    snprintf(digits, sizeof digits, "%" PRId64, integer);
    return json_string(digits);
}

json_t *object_make(const struct status_field *fields, const redisReply *map)
{
    json_t *object = json_object();

    for (; fields->name != NULL; fields++) {
        if (json_object_set_new(object, fields->name,
                                value_make(fields, map)) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

bool objects_print(enum status_of of, const struct rows *rows)
{
    printf("\"%s\": [", status_tables[of].name);
    for (size_t i = 0; i < rows->count; i++) {
        fputs(i > 0 ? ",\n    " : "\n    ", stdout);
        if (!json_print(object_make(status_tables[of].fields, rows->row[i]), 0))
            return false;
    }
    fputs(rows->count > 0 ? "\n  ]" : "]", stdout);
    return true;
}

static const char *code_of(enum ctl_exit result)
{
    if (complaint_code()[0] != '\0')
        return complaint_code();
    if (result == CTL_USAGE)
        return "USAGE";
    return result == CTL_UNREACHABLE ? "UNREACHABLE" : "FAILED";
}

json_t *complaint_object(enum ctl_exit result)
{
    return json_pack("{so so si}", "error", json_of_text(complaint_text()),
                     "code", json_of_text(code_of(result)), "exit",
                     (int)result);
}
