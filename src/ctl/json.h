/* SPDX-License-Identifier: Apache-2.0 */
/* Values of JSON on stdout. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "status/json/json.h" /* seqctl makes and prints values */

/* Prints the value with jansson's flags, and frees it. False where stdout
 * failed, or after having said that memory is short, as it is for NULL: a value
 * could not be made. */
bool json_print(json_t *value, size_t flags);

/* The same, on a line. */
bool json_line_print(json_t *value);
