/* SPDX-License-Identifier: Apache-2.0 */
/* A status as one JSON object; members and list elements are on lines of their
 * own. */
#include <stdio.h>

#include "ctl/answer.h"
#include "ctl/client.h"
#include "ctl/json.h"
#include "ctl/status/status.h"

static json_t *libraries_make(const redisReply *libraries)
{
    json_t *list = json_array();

    for (size_t i = 0; libraries != NULL && i < libraries->elements; i++) {
        const char *library = libraries->element[i]->str;

        if (json_array_append_new(
                list, json_of_text(library != NULL ? library : "")) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* null: no sequence needs the clock. */
static json_t *clock_make(const redisReply *clock)
{
    return clock == NULL
               ? json_null()
               : object_make(status_tables[STATUS_OF_CLOCK].fields, clock);
}

static bool lessors_object(const struct selection *selection)
{
    if (!selection->has_lessors)
        return true;
    fputs(",\n  ", stdout);
    return objects_print(STATUS_OF_LESSORS, &selection->lessors);
}

bool status_object(const redisReply *status, const struct selection *selection)
{
    fputs("{\n  ", stdout);
    if (!json_print(object_make(status_tables[STATUS_OF_BROKER].fields, status),
                    JSON_EMBED))
        return false;
    fputs(",\n  \"libraries\": ", stdout);
    if (!json_print(libraries_make(reply_array(status, "libraries")), 0))
        return false;
    fputs(",\n  \"clock\": ", stdout);
    if (!json_print(clock_make(reply_array(status, "clock")), 0))
        return false;
    fputs(",\n  ", stdout);
    if (!objects_print(STATUS_OF_PARTITIONS, &selection->partitions) ||
        !lessors_object(selection))
        return false;
    fputs(",\n  ", stdout);
    if (!objects_print(STATUS_OF_SEQUENCES, &selection->sequences))
        return false;
    printf(",\n  \"sequences_left_out\": %zu\n}\n", selection->left_out);
    return true;
}
