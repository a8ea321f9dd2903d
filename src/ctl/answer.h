/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's answers (maps) as JSON objects; table/table.h prints them as
 * rows for a person. status/status.h lists the fields of each map. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>
#include <jansson.h>

#include "ctl/ctl.h"
#include "ctl/table/table.h"
#include "status/status.h"

/* A JSON object of a map. `fields` need only name and kind. NULL: out of
 * memory. */
json_t *object_make(const struct status_field *fields, const redisReply *map);

/* Prints a named list of objects, as a member of an object that the caller
 * prints. Only one object is in memory at a time, since there may be 100,000.
 * False if stdout failed, or if memory ran out, which was reported. */
bool objects_print(enum status_of of, const struct rows *rows);

/* The object of a complaint: `error`, its `code`, and the `exit` code, whose
 * name is the `code` if the error has none. NULL: out of memory. */
json_t *complaint_object(enum ctl_exit result);
