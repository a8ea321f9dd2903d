/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the lines that the library logs, so that tests can count them. */
#pragma once

#include <stddef.h>

/* Forgets all lines, and keeps new ones from now on. A line that is not logfmt
 * aborts the program. */
void events_start(void);

/* Keeps no more lines. Call it after a failed test, too. */
void events_stop(void);

/* The number of lines since events_start that contain both words; `b` may be
 * "". A line begins with its level, as in "warn event=...". */
size_t events_count(const char *a, const char *b);

/* Prints all lines kept, to explain a failed test. */
void events_print(void);

/* events_expect waits until there are `count` such lines, and fails if there
 * are more. It must wait, because a worker logs what it did after the effect is
 * visible. events_await waits for any number above 0. */
void events_expect(const char *a, const char *b, size_t count);
void events_await(const char *a, const char *b);
