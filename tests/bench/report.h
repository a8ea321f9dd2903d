/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a bench program reports: tables of samples, printed as markdown while
 * it runs, and written at its end as NAME.json into the folder that
 * $SEQB_BENCH_DIR names, if it does. bench_page makes the page of those files.
 */
#pragma once

#include <stddef.h>

/* Which way a bar is met. */
enum report_bar { BAR_NONE, BAR_AT_LEAST, BAR_AT_MOST };

/* How a column is drawn; each panel of a plot holds neighbours of one unit. */
enum report_plot { PLOT_NOT, PLOT_LINEAR, PLOT_LOG };

struct report_column {
    const char *name;
    const char *unit; /* NULL: a label, text as it is; "": a ratio */
    enum report_bar bar;
    enum report_plot plot;
};

enum report_shape {
    SHAPE_BARS,  /* drawn as a bar a cell */
    SHAPE_LINES, /* drawn as a line a row: the plotted columns are its points */
    SHAPE_WIDE   /* bars; of many columns, so that a bar stands in its cell */
};

struct report_table {
    const char *id; /* unique over all programs: it names the plot */
    const char *title;
    const char *note; /* one sentence of what each cell is, or NULL */
    enum report_shape shape;
    const struct report_column *columns;
    size_t column_count;
};

/* What all bench programs take: [SPAN [RUNS]]. */
struct report_arguments {
    double span; /* of one run, in ... */
    int runs;
    const char *unit; /* ... these; NULL: SECONDS_A_RUN */
};

struct report;

/* Reads the arguments over the defaults in `*arguments`; ends the program with
 * 2 where they are none. Never NULL. */
struct report *report_open(int argc, char **argv,
                           struct report_arguments *arguments);

/* The program's exit code: 1 if the file could not be written. Frees it. */
int report_close(struct report *report);

/* Begins a table, whose descriptor must live as long as it is filled. */
void report_table(struct report *report, const struct report_table *table);

/* Begins a row, fills its cells, ends and prints it. A cell is a label, or one
 * sample or more; a text instead of samples is shown as it is. Of rows that are
 * measured in turn all are begun first, and selected by number, from 0. */
void report_row(struct report *report);
void report_select(struct report *report, size_t row);
void report_text(struct report *report, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void report_sample(struct report *report, size_t column, double value);
void report_bar(struct report *report, size_t column, double bar);
void report_row_end(struct report *report);

/* The same for the first so many rows, which were measured in turn. */
void report_rows_end(struct report *report, size_t rows);

/* A sample and its bar, which NO_BAR leaves out; below 0: it did not come. */
#define NO_BAR (-1)
void report_figure(struct report *report, size_t column, double value,
                   double bar);

/* The median of the samples of a cell in the row that is being filled. */
double report_median(const struct report *report, size_t column);
