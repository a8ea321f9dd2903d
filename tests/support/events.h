/* SPDX-License-Identifier: Apache-2.0 */
/* The lines that the library logs, kept to be counted. */
#pragma once

#include <stddef.h>

/* Forgets all lines and keeps those that come. One that is no logfmt aborts the
 * program. */
void events_start(void);

/* Keeps no more; also after a test that failed. */
void events_stop(void);

/* Lines since events_start that contain both words; `b` may be "". A line
 * begins with its level, as "warn event=...". */
size_t events_count(const char *a, const char *b);

/* Prints all lines kept: a test that failed says what went before. */
void events_print(void);

/* Waits until there are `count` of those, and fails if there are more: a
 * worker tells what it did after it can be seen. The second one waits for any.
 */
void events_expect(const char *a, const char *b, size_t count);
void events_await(const char *a, const char *b);
