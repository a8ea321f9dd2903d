/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of bounded size: copy, append, compare, check. No allocation but
 * text_copy_of. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies as much as fits, always ends with 0; false if it was cut. */
bool text_copy(char *to, size_t size, const char *from);

/* Formats into `to`, always ends with 0; false if it was cut. */
bool text_format(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of texts one behind the other, which is faster. */
bool text_join(char *to, size_t size, const char *const *parts, size_t count);

/* Appends to what stands in `to`; false if it was cut. */
bool text_append(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* How many bytes of a text are at most `most`, and no part of a character of
 * UTF-8 is left behind. */
size_t text_part(const char *text, size_t most);

/* Appends a number that is not negative as people write it, "1,200". */
bool text_append_count(char *to, size_t size, int64_t number);

/* A copy on the heap, NULL when out of memory. Free with free(). */
char *text_copy_of(const char *from);

/* Parses a whole decimal int64, an optional '-' before it; false if it is
 * anything else or does not fit. */
bool text_to_int64(const char *text, size_t length, int64_t *out);

/* A sequence key: [A-Za-z0-9._:-]{1,64}. */
bool text_is_key(const char *text);

/* How long the key is that a text begins with, up to a letter that no key has;
 * 0: it begins with none, or with more than a key may have. */
size_t text_key_length(const char *text);

/* What stands for many keys: [A-Za-z0-9._:*?-]{1,64}. */
bool text_is_pattern(const char *text);

/* The name of a broker, backend or pool: [A-Za-z0-9_-]{1,32}. */
bool text_is_name(const char *text);

/* Number of single-letter edits between two words, for "did you mean". */
int text_distance(const char *a, const char *b);
