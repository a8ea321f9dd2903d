/* SPDX-License-Identifier: Apache-2.0 */
/* The strokes of a plot: text, lines, boxes and axes as SVG, in colours that
 * are readable on a light and on a dark page. Lengths are pixels. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#define SVG_COLOURS 8

/* Begins a picture with a title, ends it. */
void svg_begin(FILE *file, double width, double height, const char *title);
void svg_end(FILE *file);

/* `style`: "", "title", "small"; `anchor`: "start", "middle", "end". */
void svg_text(FILE *file, const char *style, const char *anchor, double x,
              double y, const char *text);

enum svg_stroke { STROKE_GRID, STROKE_AXIS, STROKE_SPREAD, STROKE_GOAL };

void svg_line(FILE *file, enum svg_stroke stroke, double x1, double y1,
              double x2, double y2);

/* In a colour, 0 ... SVG_COLOURS - 1; a larger one begins anew. */
void svg_box(FILE *file, int colour, double x, double y, double width,
             double height);
void svg_dot(FILE *file, int colour, double x, double y);
void svg_join(FILE *file, int colour, double x1, double y1, double x2,
              double y2);

/* About how wide a text is. */
double svg_width_of(const char *text);

/* Where values stand: `low` at pixel `from`, `high` at pixel `to`. */
struct svg_axis {
    double from;
    double to;
    double low;
    double high;
    bool is_log;
};

/* Round bounds around the values; those of a log axis are powers of ten. */
void svg_axis_fit(struct svg_axis *axis, double least, double largest);
double svg_axis_at(const struct svg_axis *axis, double value);

/* The n-th value to be marked on it; false when there are no more. */
bool svg_axis_tick(const struct svg_axis *axis, int n, double *out);
