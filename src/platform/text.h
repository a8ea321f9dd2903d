/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of bounded size: copy, append, compare, check. Only text_copy_of
 * allocates. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies as much as fits, and always ends with a 0. False if the text was
 * cut. */
bool text_copy(char *to, size_t size, const char *from);

/* Formats into `to`, and always ends with a 0. False if the text was cut. */
bool text_format(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes the texts one behind the other, faster than text_format. */
bool text_join(char *to, size_t size, const char *const *parts, size_t count);

/* Appends to the text in `to`. False if the result was cut. */
bool text_append(char *to, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The number of leading bytes, at most `most`, that do not end within a UTF-8
 * character. */
size_t text_part(const char *text, size_t most);

/* Appends a number that is not negative, with separators: "1,200". */
bool text_append_count(char *to, size_t size, int64_t number);

/* A copy on the heap; NULL if out of memory. Free it with free(). */
char *text_copy_of(const char *from);

/* Parses a whole decimal int64 with an optional '-'. False if the text is
 * anything else or does not fit. */
bool text_to_int64(const char *text, size_t length, int64_t *out);

/* A sequence key: [A-Za-z0-9._:-]{1,64}. */
bool text_is_key(const char *text);

/* The length of the key at the begin of a text, up to a character that no key
 * has. 0: there is none, or it is longer than a key may be. */
size_t text_key_length(const char *text);

/* A pattern for keys: [A-Za-z0-9._:*?-]{1,64}. */
bool text_is_pattern(const char *text);

/* The name of a broker, backend or pool: [A-Za-z0-9_-]{1,32}. */
bool text_is_name(const char *text);

/* The number of single-letter edits between two words, for "did you mean". */
int text_distance(const char *a, const char *b);
