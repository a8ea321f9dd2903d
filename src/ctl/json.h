/* SPDX-License-Identifier: Apache-2.0 */
/* What seqctl adds to jansson: strings of any bytes, and values on stdout. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* A string. Bytes that are not UTF-8 become U+FFFD, so that there is JSON
 * whatever a server said. NULL: out of memory. */
json_t *json_of_text(const char *text);

/* Prints the value with jansson's flags, and frees it. False where stdout
 * failed, or after having said that memory is short, as it is for NULL: a value
 * could not be made. */
bool json_print(json_t *value, size_t flags);

/* The same, on a line. */
bool json_line_print(json_t *value);
