/* SPDX-License-Identifier: Apache-2.0 */
/* Maps that the daemon answered: as rows of a table for a person, or as JSON
 * objects. Which fields a map has is in status/status.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>
#include <jansson.h>

#include "status/status.h"

/* Prints it on stdout. False where that failed, or after having said that
 * memory is short. */
bool table_print(enum status_of of, const redisReply *rows, bool name_pool);

/* An object of JSON; of a field its name and kind are needed. NULL: out of
 * memory. */
json_t *object_make(const struct status_field *fields, const redisReply *map);

/* Prints a list of objects, with its name, as a member of an object that the
 * caller prints. One object is made at a time: there may be 100,000. False as
 * table_print. */
bool objects_print(enum status_of of, const redisReply *rows);

/* "3m12s"; "-" below 0. */
void age_format(char *to, size_t size, int64_t ms);

/* "2026-11-21T08:15:00Z" of ms since 1970. */
void moment_format(char *to, size_t size, int64_t ms);
