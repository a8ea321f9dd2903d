/* SPDX-License-Identifier: Apache-2.0 */
/* What both kinds of picture need. */
#include "bench/plot.h"

#include <string.h>

#include "bench/cells.h"
#include "platform/text.h"

#define OUTLIER 1.5 /* times the median: what is farther is not drawn whole */

bool plot_has_column(const json_t *table, size_t column)
{
    return *text_of(table_column(table, column), "plot") != '\0';
}

bool plot_has_cell(const json_t *cell)
{
    return cell_count(cell) > 0;
}

bool plot_is_wanted(const json_t *table)
{
    for (size_t i = 0; i < table_columns(table); i++) {
        if (plot_has_column(table, i))
            return table_rows(table) > 0;
    }
    return false;
}

static void widen(double value, double *least, double *largest)
{
    if (value > *largest)
        *largest = value;
    if (value > 0 && (*least <= 0 || value < *least))
        *least = value;
}

void plot_bounds(const json_t *table, size_t column, double *least,
                 double *largest)
{
    const bool is_log =
        strcmp(text_of(table_column(table, column), "plot"), "log") == 0;

    for (size_t row = 0; row < table_rows(table); row++) {
        const json_t *cell = table_cell(table, row, column);
        const double most = OUTLIER * cell_median(cell);

        if (cell_has_bar(cell))
            widen(cell_bar(cell), least, largest);
        if (!plot_has_cell(cell))
            continue;
        widen(cell_min(cell), least, largest);
        widen(is_log || cell_max(cell) < most ? cell_max(cell) : most, least,
              largest);
    }
}

void plot_tick_text(double value, char *out, size_t size)
{
    static const struct {
        double of;
        const char *letter;
    } scales[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};

    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        if (value < scales[i].of)
            continue;
        (void)text_format(out, size, "%g%s", value / scales[i].of,
                          scales[i].letter);
        return;
    }
    (void)text_format(out, size, "%g", value);
}

void plot_write(FILE *file, const json_t *table)
{
    if (strcmp(text_of(table, "shape"), "lines") == 0)
        plot_lines(file, table);
    else
        plot_bars(file, table);
}
