/* SPDX-License-Identifier: Apache-2.0 */
/* JSON text on a stream, one value at a time. */
#pragma once

#include <stdio.h>

/* A string in quotes. Bytes that are not UTF-8 become U+FFFD, so that the
 * output is JSON whatever a server said. */
void json_string(FILE *to, const char *text);
