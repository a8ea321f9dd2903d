/* SPDX-License-Identifier: Apache-2.0 */
/* Writing SVG; colours are classes, which a dark page swaps. */
#include "bench/svg.h"

#include <math.h>
#include <string.h>

#define CHARACTER 6.4 /* pixels, of 12 */
#define TICKS     5   /* about so many on a linear axis */
#define TICK_ROOM 30  /* pixels between two on a log axis, at least */

static const char style[] =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,"
    "sans-serif;fill:#1f2328}\n"
    ".title{font-size:14px;font-weight:600}\n"
    ".small{font-size:11px;fill:#59636e}\n"
    ".page{fill:#ffffff}\n"
    ".grid{stroke:#d1d9e0}.axis{stroke:#59636e}.spread{stroke:#1f2328}\n"
    ".goal{stroke:#d1242f;stroke-width:2.5;stroke-dasharray:4 2}\n"
    ".c0{color:#0969da}.c1{color:#bc4c00}.c2{color:#1a7f37}.c3{color:#8250df}\n"
    ".c4{color:#1b7c83}.c5{color:#bf3989}.c6{color:#59636e}.c7{color:#7d4e00}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#e6edf3}.small{fill:#9198a1}.page{fill:#0d1117}\n"
    ".grid{stroke:#30363d}.axis{stroke:#9198a1}.spread{stroke:#e6edf3}\n"
    ".goal{stroke:#ff7b72}\n"
    ".c0{color:#58a6ff}.c1{color:#f0883e}.c2{color:#3fb950}.c3{color:#bc8cff}\n"
    ".c4{color:#39c5cf}.c5{color:#f778ba}.c6{color:#9198a1}.c7{color:#d29922}\n"
    "}\n</style>\n";

static void write_escaped(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", file);
            break;
        case '&':
            fputs("&amp;", file);
            break;
        default:
            fputc(*text, file);
        }
    }
}

void svg_begin(FILE *file, double width, double height, const char *title)
{
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
            "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
            width, height, width, height);
    write_escaped(file, title);
    fprintf(file,
            "</title>\n%s<rect class=\"page\" width=\"%.0f\" height=\"%.0f\" "
            "rx=\"6\"/>\n",
            style, width, height);
    svg_text(file, "title", "start", 16, 24, title);
}

void svg_end(FILE *file)
{
    fputs("</svg>\n", file);
}

void svg_text(FILE *file, const char *text_style, const char *anchor, double x,
              double y, const char *text)
{
    fprintf(file,
            "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">",
            text_style, anchor, x, y);
    write_escaped(file, text);
    fputs("</text>\n", file);
}

void svg_line(FILE *file, enum svg_stroke stroke, double x1, double y1,
              double x2, double y2)
{
    static const char *const classes[] = {"grid", "axis", "spread", "goal"};

    fprintf(file,
            "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
            "y2=\"%.1f\"/>\n",
            classes[stroke], x1, y1, x2, y2);
}

void svg_box(FILE *file, int colour, double x, double y, double width,
             double height)
{
    fprintf(file,
            "<rect class=\"c%d\" fill=\"currentColor\" x=\"%.1f\" y=\"%.1f\" "
            "width=\"%.1f\" height=\"%.1f\"/>\n",
            colour % SVG_COLOURS, x, y, width > 0 ? width : 0, height);
}

void svg_dot(FILE *file, int colour, double x, double y)
{
    fprintf(file,
            "<circle class=\"c%d\" fill=\"currentColor\" cx=\"%.1f\" "
            "cy=\"%.1f\" r=\"3.5\"/>\n",
            colour % SVG_COLOURS, x, y);
}

void svg_join(FILE *file, int colour, double x1, double y1, double x2,
              double y2)
{
    fprintf(file,
            "<line class=\"c%d\" stroke=\"currentColor\" stroke-width=\"1.8\" "
            "x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
            colour % SVG_COLOURS, x1, y1, x2, y2);
}

double svg_width_of(const char *text)
{
    return CHARACTER * (double)strlen(text);
}

/* --- axes --- */

/* 1, 2 or 5 times a power of ten. */
static double round_step(double span)
{
    const double raw = span / TICKS;
    const double ten = pow(10, floor(log10(raw)));

    if (raw <= ten)
        return ten;
    if (raw <= 2 * ten)
        return 2 * ten;
    return raw <= 5 * ten ? 5 * ten : 10 * ten;
}

void svg_axis_fit(struct svg_axis *axis, double least, double largest)
{
    if (largest <= 0)
        largest = 1;
    if (axis->is_log) {
        if (least <= 0)
            least = largest / 1000;
        axis->low = pow(10, floor(log10(least) - 0.05));
        axis->high = pow(10, ceil(log10(largest) + 0.02));
        return;
    }
    axis->low = 0;
    axis->high =
        ceil(largest / round_step(largest) - 1e-9) * round_step(largest);
}

double svg_axis_at(const struct svg_axis *axis, double value)
{
    double share;

    if (value <= axis->low)
        return axis->from;
    if (value >= axis->high)
        return axis->to;
    if (axis->is_log)
        share = log10(value / axis->low) / log10(axis->high / axis->low);
    else
        share = (value - axis->low) / (axis->high - axis->low);
    return axis->from + share * (axis->to - axis->from);
}

/* Decades from one tick to the next. */
static double decades_apart(const struct svg_axis *axis)
{
    const double decade =
        fabs(axis->to - axis->from) / log10(axis->high / axis->low);

    return ceil(TICK_ROOM / decade);
}

bool svg_axis_tick(const struct svg_axis *axis, int n, double *out)
{
    if (axis->is_log)
        *out = axis->low * pow(10, n * decades_apart(axis));
    else
        *out = n * round_step(axis->high);
    return *out <= axis->high * 1.0001;
}
