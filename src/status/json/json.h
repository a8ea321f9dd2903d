/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs add to jansson. The front header of this folder. */
#pragma once

#include <jansson.h>

/* A string. Bytes that are not UTF-8 become U+FFFD, so that there is JSON
 * whatever a server said. NULL: out of memory. */
json_t *json_of_text(const char *text);
