/* SPDX-License-Identifier: Apache-2.0 */
/* JSON values on stdout. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "status/json/json.h" /* seqctl makes and prints values */

/* Prints the value with jansson's flags, and frees it. A NULL value could not
 * be made for lack of memory. False if stdout failed, or if memory ran out,
 * which was reported. */
bool json_print(json_t *value, size_t flags);

/* Prints the value on one line; see json_print. */
bool json_line_print(json_t *value);
