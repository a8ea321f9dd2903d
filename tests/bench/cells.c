/* SPDX-License-Identifier: Apache-2.0 */
/* Looking things up in the JSON of a report. */
#include "bench/cells.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bench/sorted.h"
#include "platform/text.h"

#define SAMPLES_MAX 128

const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

size_t table_columns(const json_t *table)
{
    return json_array_size(json_object_get(table, "columns"));
}

const json_t *table_column(const json_t *table, size_t i)
{
    return json_array_get(json_object_get(table, "columns"), i);
}

size_t table_rows(const json_t *table)
{
    return json_array_size(json_object_get(table, "rows"));
}

const json_t *table_cell(const json_t *table, size_t row, size_t column)
{
    return json_array_get(json_array_get(json_object_get(table, "rows"), row),
                          column);
}

bool column_is_label(const json_t *column)
{
    return json_object_get(column, "unit") == NULL;
}

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789,.")] == '\0';
}

/* A bare number is preceded by what it is of. */
void row_caption(const json_t *table, size_t row, char *out, size_t size)
{
    (void)text_copy(out, size, "");
    for (size_t i = 0; i < table_columns(table); i++) {
        const json_t *column = table_column(table, i);
        const char *text = text_of(table_cell(table, row, i), "text");

        if (!column_is_label(column) || *text == '\0')
            continue;
        if (*out != '\0')
            (void)text_append(out, size, ", ");
        if (is_number(text))
            (void)text_append(out, size, "%s ", text_of(column, "name"));
        (void)text_append(out, size, "%s", text);
    }
}

/* --- samples --- */

size_t cell_count(const json_t *cell)
{
    return json_array_size(json_object_get(cell, "samples"));
}

/* Their value at a share of their order, 0 ... 1. */
static double cell_at(const json_t *cell, double share)
{
    const json_t *samples = json_object_get(cell, "samples");
    double values[SAMPLES_MAX];
    size_t count = json_array_size(samples);

    if (count == 0)
        return 0;
    if (count > SAMPLES_MAX)
        count = SAMPLES_MAX;
    for (size_t i = 0; i < count; i++)
        values[i] = json_number_value(json_array_get(samples, i));
    samples_sort(values, count);
    return values[(size_t)(share * (double)(count - 1) + 0.5)];
}

double cell_median(const json_t *cell)
{
    return cell_at(cell, 0.5);
}

double cell_min(const json_t *cell)
{
    return cell_at(cell, 0);
}

double cell_max(const json_t *cell)
{
    return cell_at(cell, 1);
}

bool cell_has_bar(const json_t *cell)
{
    return json_object_get(cell, "bar") != NULL;
}

double cell_bar(const json_t *cell)
{
    return json_number_value(json_object_get(cell, "bar"));
}

bool cell_is_met(const json_t *column, const json_t *cell)
{
    if (cell_count(cell) == 0)
        return false;
    return strcmp(text_of(column, "bar"), "at most") == 0
               ? cell_median(cell) <= cell_bar(cell)
               : cell_median(cell) >= cell_bar(cell);
}

/* --- text --- */

static void thousands_apart(int64_t value, char *out)
{
    char digits[32];
    size_t used = 0;

    (void)text_format(digits, sizeof digits, "%lld", (long long)value);
    for (size_t left = strlen(digits), i = 0; left > 0; left--, i++) {
        out[used++] = digits[i];
        if (left % 3 == 1 && left > 1)
            out[used++] = ',';
    }
    out[used] = '\0';
}

/* Four digits that count. */
static double rounded(double value)
{
    double unit = 1;

    while (value / unit >= 10000)
        unit *= 10;
    return floor(value / unit + 0.5) * unit;
}

void number_write(double value, char out[static CELL_TEXT_SIZE])
{
    int decimals = 0;

    if (value >= 999.5) {
        thousands_apart((int64_t)rounded(value), out);
        return;
    }
    if (value > 0)
        decimals = (value < 1 ? 1 : 2) - (int)floor(log10(value));
    (void)text_format(out, CELL_TEXT_SIZE, "%.*f", decimals < 6 ? decimals : 6,
                      value);
}

void bar_write(double value, char out[static CELL_TEXT_SIZE])
{
    if (value >= 1000)
        thousands_apart((int64_t)value, out);
    else
        (void)text_format(out, CELL_TEXT_SIZE, "%g", value);
}
