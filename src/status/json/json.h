/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs add to jansson. The front header of this folder. */
#pragma once

#include <jansson.h>

#include "status/status.h"

/* A string. Bytes that are not UTF-8 become U+FFFD, so that there is JSON
 * whatever a server said. NULL: out of memory. */
json_t *json_of_text(const char *text);

/* A struct as an object, by its table: null for what does not apply, a string
 * of digits for what may pass 2^53. NULL: out of memory. */
json_t *json_of_status(const struct status_field *fields, const void *status);
