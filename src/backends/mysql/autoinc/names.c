/* SPDX-License-Identifier: Apache-2.0 */
/* The names of tables: readable if possible, and no two differ only in case. */
#include "backends/mysql/autoinc/names.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "backends/sql/sql.h"
#include "platform/text.h"

#define LOWER      "abcdefghijklmnopqrstuvwxyz"
#define UPPER      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS     "0123456789"
#define LITERAL    LOWER UPPER DIGITS "_$-"
#define KEY        LOWER DIGITS "_.:-" /* no upper case: names may ignore it */
#define GENERATION '~' /* in a pool's internal name, before its number */

/* A server uses up to 5 bytes of a file name for a character: a longer name may
 * be refused by a file system that permits 255 bytes. */
#define FORMATTED_MAX 48
#define READABLE_MAX  40 /* of the counter's name in a table's own name */
#define PARTITION_MAX 6  /* digits */

struct parts {
    const char *key;
    char partition[PARTITION_MAX + 1];
};

bool mysql_has_table(const char *counter)
{
    const char *partition = strchr(counter, '/');
    const char *key = partition != NULL ? strchr(partition + 1, '/') : NULL;

    return key != NULL && strchr(key + 1, '/') == NULL &&
           !sql_name_is_stamped(counter) && !sql_name_is_cell(counter);
}

bool mysql_format_is_valid(const char *format)
{
    int keys = 0;
    int partitions = 0;

    while (*format != '\0') {
        if (strncmp(format, "%s", 2) == 0)
            keys++;
        else if (strncmp(format, "%d", 2) == 0)
            partitions++;
        else if (strchr(LITERAL, *format) == NULL)
            return false;
        format += *format == '%' ? 2 : 1;
    }
    return keys == 1 && partitions == 1;
}

/* Splits "<pool>/<partition>/<key>"; false if the name has another form, if a
 * formatted name may not contain the key, or if the pool is of a later
 * generation: the format does not contain the pool, so the table would be that
 * of the first generation. */
static bool counter_split(const char *counter, struct parts *out)
{
    const char *partition = strchr(counter, '/');
    const char *generation = strchr(counter, GENERATION);
    size_t digits;

    if (partition == NULL || (generation != NULL && generation < partition))
        return false;
    digits = strspn(++partition, DIGITS);
    if (digits == 0 || digits > PARTITION_MAX || partition[digits] != '/')
        return false;
    memcpy(out->partition, partition, digits);
    out->partition[digits] = '\0';
    out->key = partition + digits + 1;
    return *out->key != '\0' && out->key[strspn(out->key, KEY)] == '\0';
}

static bool name_format(const char *format, const struct parts *parts,
                        char out[MYSQL_TABLE_SIZE])
{
    bool fits = true;

    out[0] = '\0';
    while (fits && *format != '\0') {
        if (*format != '%')
            fits = text_append(out, FORMATTED_MAX + 1, "%c", *format);
        else
            fits =
                text_append(out, FORMATTED_MAX + 1, "%s",
                            format[1] == 's' ? parts->key : parts->partition);
        format += *format == '%' ? 2 : 1;
    }
    return fits;
}

/* FNV-1a over 64 bits. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (; *text != '\0'; text++) {
        hash ^= (unsigned char)*text;
        hash *= UINT64_C(1099511628211);
    }
    return hash;
}

static char readable(char c)
{
    const char *upper = c == '\0' ? NULL : strchr(UPPER, c);

    if (upper != NULL)
        return LOWER[upper - UPPER];
    if (strchr(LOWER DIGITS, c) != NULL)
        return c;
    return '_';
}

static void name_custom(const char *counter, char out[MYSQL_TABLE_SIZE])
{
    char words[READABLE_MAX + 1];
    size_t length = 0;

    for (; length < READABLE_MAX && counter[length] != '\0'; length++)
        words[length] = readable(counter[length]);
    words[length] = '\0';
    (void)text_format(out, MYSQL_TABLE_SIZE, "seqb_%s_%016" PRIx64, words,
                      hash_of(counter));
}

void mysql_table_name(const char *format, const char *counter,
                      char out[MYSQL_TABLE_SIZE])
{
    struct parts parts;

    if (!counter_split(counter, &parts) || !name_format(format, &parts, out))
        name_custom(counter, out);
}
