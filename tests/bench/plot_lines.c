/* SPDX-License-Identifier: Apache-2.0 */
/* A line a row over the drawn columns: percentiles, on a log axis. */
#include "bench/cells.h"
#include "bench/plot.h"
#include "bench/svg.h"

#define TOP    52.0
#define BOTTOM 52.0
#define LEFT   72.0
#define INSIDE 320.0 /* height of the axes */
#define LEGEND 20.0  /* a line of it */
#define POINTS 16

struct lines {
    FILE *file;
    const json_t *table;
    size_t columns[POINTS]; /* that are drawn */
    size_t count;
    double right; /* end of the axes */
    struct svg_axis axis;
};

static void lines_measure(struct lines *lines)
{
    double least = 0;
    double largest = 0;
    double widest = 0;

    for (size_t i = 0; i < table_columns(lines->table); i++) {
        if (!plot_has_column(lines->table, i) || lines->count == POINTS)
            continue;
        lines->columns[lines->count++] = i;
        plot_bounds(lines->table, i, &least, &largest);
    }
    for (size_t row = 0; row < table_rows(lines->table); row++) {
        char caption[256];

        row_caption(lines->table, row, caption, sizeof caption);
        if (svg_width_of(caption) > widest)
            widest = svg_width_of(caption);
    }
    lines->right = PLOT_WIDTH - widest - 48;
    lines->axis =
        (struct svg_axis){.from = TOP + INSIDE, .to = TOP, .is_log = true};
    svg_axis_fit(&lines->axis, least, largest);
}

static double x_of(const struct lines *lines, size_t point)
{
    const double step = (lines->right - LEFT) / (double)lines->count;

    return LEFT + step * ((double)point + 0.5);
}

static void draw_axes(const struct lines *lines)
{
    const json_t *first = table_column(lines->table, lines->columns[0]);
    char text[32];
    double tick;

    for (int i = 0; svg_axis_tick(&lines->axis, i, &tick); i++) {
        const double y = svg_axis_at(&lines->axis, tick);

        plot_tick_text(tick, text, sizeof text);
        svg_line(lines->file, i == 0 ? STROKE_AXIS : STROKE_GRID, LEFT, y,
                 lines->right, y);
        svg_text(lines->file, "small", "end", LEFT - 8, y + 4, text);
    }
    svg_text(lines->file, "", "end", LEFT - 8, TOP - 10,
             text_of(first, "unit"));
    for (size_t i = 0; i < lines->count; i++)
        svg_text(
            lines->file, "", "middle", x_of(lines, i), TOP + INSIDE + 20,
            text_of(table_column(lines->table, lines->columns[i]), "name"));
    svg_text(lines->file, "small", "middle", (LEFT + lines->right) / 2,
             TOP + INSIDE + 40,
             "medians of the runs; thin: min ... max; dashed: bar");
}

static void draw_goals(const struct lines *lines, size_t row)
{
    for (size_t i = 0; i < lines->count; i++) {
        const json_t *cell = table_cell(lines->table, row, lines->columns[i]);
        const double x = x_of(lines, i);
        double y;

        if (!cell_has_bar(cell))
            continue;
        y = svg_axis_at(&lines->axis, cell_bar(cell));
        svg_line(lines->file, STROKE_GOAL, x - 34, y, x + 34, y);
    }
}

/* The rows' points stand a little beside each other. */
static void draw_row(const struct lines *lines, size_t row)
{
    const int colour = (int)row;
    const double beside =
        5 * ((double)row - (double)(table_rows(lines->table) - 1) / 2);
    double before_x = 0;
    double before_y = 0;

    for (size_t i = 0; i < lines->count; i++) {
        const json_t *cell = table_cell(lines->table, row, lines->columns[i]);
        const double x = x_of(lines, i) + beside;
        const double y = svg_axis_at(&lines->axis, cell_median(cell));

        svg_line(lines->file, STROKE_SPREAD, x,
                 svg_axis_at(&lines->axis, cell_min(cell)), x,
                 svg_axis_at(&lines->axis, cell_max(cell)));
        if (i > 0)
            svg_join(lines->file, colour, before_x, before_y, x, y);
        svg_dot(lines->file, colour, x, y);
        before_x = x;
        before_y = y;
    }
}

static void draw_legend(const struct lines *lines)
{
    for (size_t row = 0; row < table_rows(lines->table); row++) {
        const double y = TOP + 16 + LEGEND * (double)row;
        char caption[256];

        row_caption(lines->table, row, caption, sizeof caption);
        svg_dot(lines->file, (int)row, lines->right + 20, y - 4);
        svg_text(lines->file, "", "start", lines->right + 30, y, caption);
    }
}

void plot_lines(FILE *file, const json_t *table)
{
    struct lines lines = {.file = file, .table = table};

    lines_measure(&lines);
    svg_begin(file, PLOT_WIDTH, TOP + INSIDE + BOTTOM, text_of(table, "title"));
    draw_axes(&lines);
    for (size_t row = 0; row < table_rows(table); row++)
        draw_goals(&lines, row);
    for (size_t row = 0; row < table_rows(table); row++)
        draw_row(&lines, row);
    draw_legend(&lines);
    svg_end(file);
}
