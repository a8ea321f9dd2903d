/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of bounded size. */
#include "platform/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_OTHERS   "._:-"
#define KEY_MAX      64
#define NAME_MAX_LEN 32
#define DISTANCE_MAX 64

bool text_copy(char *to, size_t size, const char *from)
{
    const size_t length = strnlen(from, size);
    const bool fits = length < size;

    if (size == 0)
        return false;
    memcpy(to, from, fits ? length : size - 1);
    to[fits ? length : size - 1] = '\0';
    return fits;
}

bool text_format(char *to, size_t size, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(to, size, format, args);
    va_end(args);
    return length >= 0 && (size_t)length < size;
}

bool text_join(char *to, size_t size, const char *const *parts, size_t count)
{
    size_t used = 0;

    for (size_t i = 0; i < count; i++) {
        if (!text_copy(to + used, size - used, parts[i]))
            return false;
        used += strlen(to + used);
    }
    return true;
}

bool text_append(char *to, size_t size, const char *format, ...)
{
    const size_t used = strnlen(to, size);
    va_list args;
    int length;

    if (used >= size)
        return false;
    va_start(args, format);
    length = vsnprintf(to + used, size - used, format, args);
    va_end(args);
    return length >= 0 && (size_t)length < size - used;
}

size_t text_part(const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);

    if (length <= most)
        return length;
    length = most;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

bool text_append_count(char *to, size_t size, int64_t number)
{
    int64_t unit = 1;
    bool fits;

    while (number / unit >= 1000)
        unit *= 1000;
    fits = text_append(to, size, "%lld", (long long)(number / unit));
    for (unit /= 1000; unit > 0; unit /= 1000)
        fits =
            text_append(to, size, ",%03lld", (long long)(number / unit % 1000));
    return fits;
}

char *text_copy_of(const char *from)
{
    return strdup(from);
}

bool text_to_int64(const char *text, size_t length, int64_t *out)
{
    const bool is_negative = length > 0 && text[0] == '-';
    int64_t value = 0;

    if (length == (size_t)is_negative)
        return false;
    for (size_t i = is_negative; i < length; i++) {
        const int digit = text[i] - '0';

        if (digit < 0 || digit > 9)
            return false;
        /* Counts downwards, since -INT64_MIN does not fit. */
        if (value < (INT64_MIN + digit) / 10)
            return false;
        value = value * 10 - digit;
    }
    if (!is_negative && value == INT64_MIN)
        return false;
    *out = is_negative ? value : -value;
    return true;
}

/* Independent of the locale. */
static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9');
}

/* The length of the leading part that consists of letters, digits and `others`;
 * at most `max` + 1. */
static size_t length_made_of(const char *text, const char *others, size_t max)
{
    size_t length = 0;

    while (length <= max && text[length] != '\0' &&
           (is_letter_or_digit(text[length]) ||
            strchr(others, text[length]) != NULL))
        length++;
    return length;
}

static bool is_made_of(const char *text, const char *others, size_t max)
{
    const size_t length = length_made_of(text, others, max);

    return length > 0 && length <= max && text[length] == '\0';
}

bool text_is_key(const char *text)
{
    return is_made_of(text, KEY_OTHERS, KEY_MAX);
}

size_t text_key_length(const char *text)
{
    const size_t length = length_made_of(text, KEY_OTHERS, KEY_MAX);

    return length > KEY_MAX ? 0 : length;
}

bool text_is_pattern(const char *text)
{
    return is_made_of(text, "._:-*?", KEY_MAX);
}

bool text_is_name(const char *text)
{
    return is_made_of(text, "_-", NAME_MAX_LEN);
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance, one row of the table at a time. */
int text_distance(const char *a, const char *b)
{
    const size_t na = strnlen(a, DISTANCE_MAX);
    const size_t nb = strnlen(b, DISTANCE_MAX);
    int row[DISTANCE_MAX + 1];

    for (size_t j = 0; j <= nb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];

        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            const int replaced = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = min_int(replaced, min_int(row[j] + 1, row[j - 1] + 1));
        }
    }
    return row[nb];
}
