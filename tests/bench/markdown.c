/* SPDX-License-Identifier: Apache-2.0 */
/* Cells as text. */
#include "bench/markdown.h"

#include <string.h>

#include "bench/cells.h"

static bool is_wide(const json_t *table)
{
    return strcmp(text_of(table, "shape"), "wide") == 0;
}

static bool has_bar_column(const json_t *table, const json_t *column)
{
    return !is_wide(table) && *text_of(column, "bar") != '\0';
}

void markdown_head(FILE *file, const json_t *table)
{
    size_t shown = 0;

    for (size_t i = 0; i < table_columns(table); i++) {
        const json_t *column = table_column(table, i);
        const char *unit = text_of(column, "unit");

        fprintf(file, "| %s%s%s ", text_of(column, "name"),
                *unit == '\0' ? "" : ", ", unit);
        shown++;
        if (has_bar_column(table, column)) {
            fprintf(file, "| bar ");
            shown++;
        }
    }
    fprintf(file, "|\n");
    for (size_t i = 0; i < shown; i++)
        fprintf(file, "|---");
    fprintf(file, "|\n");
}

static const char *sign_of(const json_t *column)
{
    return strcmp(text_of(column, "bar"), "at most") == 0 ? "<=" : ">=";
}

static void figure_write(FILE *file, const json_t *cell)
{
    char middle[CELL_TEXT_SIZE];
    char least[CELL_TEXT_SIZE];
    char largest[CELL_TEXT_SIZE];

    if (cell_count(cell) == 0) {
        fputs(text_of(cell, "text"), file);
        return;
    }
    number_write(cell_median(cell), middle);
    number_write(cell_min(cell), least);
    number_write(cell_max(cell), largest);
    if (cell_count(cell) == 1)
        fprintf(file, "%s", middle);
    else
        fprintf(file, "%s (%s ... %s)", middle, least, largest);
}

static void bar_cell(FILE *file, const json_t *column, const json_t *cell)
{
    char bar[CELL_TEXT_SIZE];

    if (!cell_has_bar(cell))
        return;
    bar_write(cell_bar(cell), bar);
    fprintf(file, "%s %s%s", sign_of(column), bar,
            cell_is_met(column, cell) ? "" : " **missed**");
}

static void wide_bar_cell(FILE *file, const json_t *column, const json_t *cell)
{
    char bar[CELL_TEXT_SIZE];

    if (!cell_has_bar(cell))
        return;
    bar_write(cell_bar(cell), bar);
    fprintf(file, " / %s%s", bar, cell_is_met(column, cell) ? "" : " (!)");
}

void markdown_row(FILE *file, const json_t *table, const json_t *row)
{
    for (size_t i = 0; i < table_columns(table); i++) {
        const json_t *column = table_column(table, i);
        const json_t *cell = json_array_get(row, i);

        fprintf(file, "| ");
        figure_write(file, cell);
        if (is_wide(table))
            wide_bar_cell(file, column, cell);
        if (has_bar_column(table, column)) {
            fprintf(file, " | ");
            bar_cell(file, column, cell);
        }
        fprintf(file, " ");
    }
    fprintf(file, "|\n");
}

/* --- all bars --- */

static void wide_summary(FILE *file, const json_t *table)
{
    size_t bars = 0;
    size_t met = 0;

    for (size_t row = 0; row < table_rows(table); row++) {
        for (size_t i = 0; i < table_columns(table); i++) {
            const json_t *cell = table_cell(table, row, i);

            if (!cell_has_bar(cell))
                continue;
            bars++;
            met += cell_is_met(table_column(table, i), cell);
        }
    }
    if (bars > 0)
        fprintf(file, "| %s | %zu bars | %zu met | %s |\n",
                text_of(table, "title"), bars, met,
                met == bars ? "yes" : "**no**");
}

static void bar_line(FILE *file, const json_t *table, size_t row, size_t i)
{
    const json_t *column = table_column(table, i);
    const json_t *cell = table_cell(table, row, i);
    const char *unit = text_of(column, "unit");
    char caption[256];
    char bar[CELL_TEXT_SIZE];

    row_caption(table, row, caption, sizeof caption);
    bar_write(cell_bar(cell), bar);
    fprintf(file, "| %s: %s, %s | %s %s%s%s | ", text_of(table, "title"),
            caption, text_of(column, "name"), sign_of(column), bar,
            *unit == '\0' ? "" : " ", unit);
    figure_write(file, cell);
    fprintf(file, " | %s |\n", cell_is_met(column, cell) ? "yes" : "**no**");
}

void markdown_bars(FILE *file, const json_t *table)
{
    if (is_wide(table)) {
        wide_summary(file, table);
        return;
    }
    for (size_t row = 0; row < table_rows(table); row++) {
        for (size_t i = 0; i < table_columns(table); i++) {
            if (cell_has_bar(table_cell(table, row, i)))
                bar_line(file, table, row, i);
        }
    }
}
