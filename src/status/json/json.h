/* SPDX-License-Identifier: Apache-2.0 */
/* Additions to jansson that both programs share. This is the front header of
 * the folder. */
#pragma once

#include <jansson.h>

#include "status/status.h"

/* A JSON string. Bytes that are not UTF-8 become U+FFFD, so that any text of a
 * server gives valid JSON. NULL: out of memory. */
json_t *json_of_text(const char *text);

/* The value's text, to be freed with free(). NULL: out of memory, or no value.
 * json_dumps() of jansson 2.14 leaves out parts of keys if memory is short. */
char *json_to_text(const json_t *value, size_t flags);

/* A struct as a JSON object, by its table: null for a field that does not
 * apply, a string of digits for a number that may be above 2^53. NULL: out of
 * memory. */
json_t *json_of_status(const struct status_field *fields, const void *status);

/* The client libraries that are in use, as texts; NULL if memory is short. */
json_t *json_of_libraries(void);
