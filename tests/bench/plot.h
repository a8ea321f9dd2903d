/* SPDX-License-Identifier: Apache-2.0 */
/* A report's table as a picture: medians, a thin line from the least to the
 * largest, and each bar a dashed line. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

/* Whether there is anything to draw. */
bool plot_is_wanted(const json_t *table);

void plot_write(FILE *file, const json_t *table);

/* --- of the files plot*.c --- */

#define PLOT_WIDTH 960.0

/* Whether the column is drawn. */
bool plot_has_column(const json_t *table, size_t column);

/* Whether a cell has something to draw. */
bool plot_has_cell(const json_t *cell);

/* Widens `*least` and `*largest`, which begin with 0, to hold the column;
 * on a linear axis an outlier does not make all else small. */
void plot_bounds(const json_t *table, size_t column, double *least,
                 double *largest);

/* A tick's value: "20k", "1M", "0.5". */
void plot_tick_text(double value, char *out, size_t size);

void plot_bars(FILE *file, const json_t *table);
void plot_lines(FILE *file, const json_t *table);
