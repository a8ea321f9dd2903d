/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that the daemon answered as JSON objects; table/table.h has them as rows
 * for a person. Which fields a map has is in status/status.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>
#include <jansson.h>

#include "ctl/ctl.h"
#include "ctl/table/table.h"
#include "status/status.h"

/* An object of JSON; of a field its name and kind are needed. NULL: out of
 * memory. */
json_t *object_make(const struct status_field *fields, const redisReply *map);

/* Prints a list of objects, with its name, as a member of an object that the
 * caller prints. One object is made at a time: there may be 100,000. False
 * where stdout failed, or after having said that memory is short. */
bool objects_print(enum status_of of, const struct rows *rows);

/* What was complained of: `error`, its `code`, and the `exit` code, which give
 * the code a name where the error has none. NULL: out of memory. */
json_t *complaint_object(enum ctl_exit result);
