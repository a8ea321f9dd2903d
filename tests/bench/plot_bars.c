/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of horizontal bars, in panels side by side: neighbours of one unit are
 * one panel, and each ratio is one of its own. */
#include <string.h>

#include "bench/cells.h"
#include "bench/plot.h"
#include "bench/svg.h"
#include "platform/text.h"

#define PANELS_MAX 8
#define TOP        72.0
#define BOTTOM     44.0
#define SIDE       16.0
#define GAP        20.0 /* between panels */
#define VALUE_ROOM 64.0 /* for the figure behind the longest bar */
#define THICKNESS  13.0
#define ROW_GAP    9.0

struct panel {
    size_t first; /* column */
    size_t count; /* of columns */
    struct svg_axis axis;
};

struct bars {
    FILE *file;
    const json_t *table;
    struct panel panels[PANELS_MAX];
    size_t panel_count;
    double left; /* where the panels begin */
    double band; /* height of a row */
    double height;
};

static bool is_same_panel(const json_t *table, size_t a, size_t b)
{
    const char *unit = text_of(table_column(table, a), "unit");

    return *unit != '\0' &&
           strcmp(unit, text_of(table_column(table, b), "unit")) == 0;
}

/* The panels' columns are neighbours but for those that are not drawn. */
static void panels_find(struct bars *bars)
{
    struct panel *panel = NULL;

    for (size_t i = 0; i < table_columns(bars->table); i++) {
        if (!plot_has_column(bars->table, i))
            continue;
        if (panel == NULL || !is_same_panel(bars->table, panel->first, i)) {
            if (bars->panel_count == PANELS_MAX)
                return;
            panel = &bars->panels[bars->panel_count++];
            panel->first = i;
        }
        panel->count = i - panel->first + 1;
    }
}

static size_t panel_bars(const struct bars *bars, const struct panel *panel)
{
    size_t drawn = 0;

    for (size_t i = 0; i < panel->count; i++)
        drawn += plot_has_column(bars->table, panel->first + i);
    return drawn;
}

static void panels_place(struct bars *bars)
{
    const double room = PLOT_WIDTH - bars->left - SIDE;
    const double width = room / (double)bars->panel_count;

    for (size_t i = 0; i < bars->panel_count; i++) {
        struct panel *panel = &bars->panels[i];
        const json_t *first = table_column(bars->table, panel->first);
        double least = 0;
        double largest = 0;

        panel->axis.is_log = strcmp(text_of(first, "plot"), "log") == 0;
        panel->axis.from = bars->left + width * (double)i;
        panel->axis.to = panel->axis.from + width - GAP - VALUE_ROOM;
        for (size_t j = 0; j < panel->count; j++) {
            if (plot_has_column(bars->table, panel->first + j))
                plot_bounds(bars->table, panel->first + j, &least, &largest);
        }
        svg_axis_fit(&panel->axis, least, largest);
    }
}

static void bars_measure(struct bars *bars)
{
    size_t most = 1;
    double widest = 0;

    panels_find(bars);
    for (size_t i = 0; i < bars->panel_count; i++) {
        const size_t drawn = panel_bars(bars, &bars->panels[i]);

        most = drawn > most ? drawn : most;
    }
    for (size_t row = 0; row < table_rows(bars->table); row++) {
        char caption[256];

        row_caption(bars->table, row, caption, sizeof caption);
        if (svg_width_of(caption) > widest)
            widest = svg_width_of(caption);
    }
    bars->left = SIDE + widest + 12;
    bars->band = THICKNESS * (double)most + ROW_GAP;
    bars->height = TOP + bars->band * (double)table_rows(bars->table) + BOTTOM;
    panels_place(bars);
}

/* --- drawing --- */

static void panel_axis(const struct bars *bars, const struct panel *panel)
{
    const json_t *first = table_column(bars->table, panel->first);
    const char *unit = text_of(first, "unit");
    const double end = bars->height - BOTTOM;
    char text[96];
    double tick;

    for (int i = 0; svg_axis_tick(&panel->axis, i, &tick); i++) {
        const double x = svg_axis_at(&panel->axis, tick);

        plot_tick_text(tick, text, sizeof text);
        svg_line(bars->file, i == 0 ? STROKE_AXIS : STROKE_GRID, x, TOP - 4, x,
                 end);
        svg_text(bars->file, "small", "middle", x, end + 15, text);
    }
    if (panel_bars(bars, panel) > 1)
        (void)text_copy(text, sizeof text, unit);
    else
        (void)text_format(text, sizeof text, "%s%s%s", text_of(first, "name"),
                          *unit == '\0' ? "" : ", ", unit);
    svg_text(bars->file, "", "middle", (panel->axis.from + panel->axis.to) / 2,
             end + 33, text);
}

static void draw_cell(const struct bars *bars, const struct panel *panel,
                      const json_t *cell, int colour, double y)
{
    const double middle = y + (THICKNESS - 2) / 2;
    const double x = svg_axis_at(&panel->axis, cell_median(cell));
    const double most = svg_axis_at(&panel->axis, cell_max(cell));
    char text[CELL_TEXT_SIZE];

    svg_box(bars->file, colour, panel->axis.from, y, x - panel->axis.from,
            THICKNESS - 2);
    if (cell_count(cell) > 1)
        svg_line(bars->file, STROKE_SPREAD,
                 svg_axis_at(&panel->axis, cell_min(cell)), middle, most,
                 middle);
    number_write(cell_median(cell), text);
    svg_text(bars->file, "small", "start", (most > x ? most : x) + 5,
             middle + 4, text);
}

static void draw_goal(const struct bars *bars, const struct panel *panel,
                      const json_t *cell, double y)
{
    const double x = svg_axis_at(&panel->axis, cell_bar(cell));

    svg_line(bars->file, STROKE_GOAL, x, y - 3, x, y + THICKNESS + 1);
}

/* Colours go by the drawn column, over all panels. */
static int colour_of(const json_t *table, size_t column)
{
    int colour = 0;

    for (size_t i = 0; i < column; i++)
        colour += plot_has_column(table, i);
    return colour;
}

static void draw_row(const struct bars *bars, const struct panel *panel,
                     size_t row)
{
    const double top = TOP + bars->band * (double)row + ROW_GAP / 2;
    double y = top;

    for (size_t i = panel->first; i < panel->first + panel->count; i++) {
        const json_t *cell = table_cell(bars->table, row, i);

        if (!plot_has_column(bars->table, i))
            continue;
        if (plot_has_cell(cell))
            draw_cell(bars, panel, cell, colour_of(bars->table, i), y);
        else
            svg_text(bars->file, "small", "start", panel->axis.from + 5,
                     y + THICKNESS - 3, text_of(cell, "text"));
        if (cell_has_bar(cell))
            draw_goal(bars, panel, cell, y);
        y += THICKNESS;
    }
}

static void draw_captions(const struct bars *bars)
{
    for (size_t row = 0; row < table_rows(bars->table); row++) {
        char caption[256];

        row_caption(bars->table, row, caption, sizeof caption);
        svg_text(bars->file, "", "end", bars->left - 8,
                 TOP + bars->band * ((double)row + 0.5) + 4, caption);
    }
}

/* Names the columns that share a panel, and the bars. */
static void draw_legend(const struct bars *bars)
{
    double x = SIDE;

    for (size_t i = 0; i < table_columns(bars->table); i++) {
        const char *name = text_of(table_column(bars->table, i), "name");

        if (!plot_has_column(bars->table, i))
            continue;
        svg_box(bars->file, colour_of(bars->table, i), x, 40, 10, 10);
        svg_text(bars->file, "small", "start", x + 15, 49, name);
        x += svg_width_of(name) + 36;
    }
    svg_line(bars->file, STROKE_GOAL, x + 4, 38, x + 4, 52);
    svg_text(bars->file, "small", "start", x + 14, 49, "bar");
    svg_line(bars->file, STROKE_SPREAD, x + 48, 45, x + 66, 45);
    svg_text(bars->file, "small", "start", x + 72, 49, "min ... max");
}

void plot_bars(FILE *file, const json_t *table)
{
    struct bars bars = {.file = file, .table = table};

    bars_measure(&bars);
    svg_begin(file, PLOT_WIDTH, bars.height, text_of(table, "title"));
    draw_legend(&bars);
    for (size_t i = 0; i < bars.panel_count; i++) {
        panel_axis(&bars, &bars.panels[i]);
        for (size_t row = 0; row < table_rows(table); row++)
            draw_row(&bars, &bars.panels[i], row);
    }
    draw_captions(&bars);
    svg_end(file);
}
