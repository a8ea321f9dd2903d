/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a table of a report: its columns, and what a cell's samples say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define CELL_TEXT_SIZE 64

/* A string of an object, "" if it has none. */
const char *text_of(const json_t *object, const char *key);

size_t table_columns(const json_t *table);
const json_t *table_column(const json_t *table, size_t i);
size_t table_rows(const json_t *table);
const json_t *table_cell(const json_t *table, size_t row, size_t column);

/* A label's text is shown as it is; what is none has a unit, or is a ratio. */
bool column_is_label(const json_t *column);

/* All that the labels of a row say, as a caption. */
void row_caption(const json_t *table, size_t row, char *out, size_t size);

size_t cell_count(const json_t *cell); /* samples */
double cell_median(const json_t *cell);
double cell_min(const json_t *cell);
double cell_max(const json_t *cell);

bool cell_has_bar(const json_t *cell);
double cell_bar(const json_t *cell);

/* By the median; a bar without a sample is missed. */
bool cell_is_met(const json_t *column, const json_t *cell);

/* Three digits or four that count, and thousands apart: "0.87", "1,003,000". A
 * bar is written as it is. */
void number_write(double value, char out[static CELL_TEXT_SIZE]);
void bar_write(double value, char out[static CELL_TEXT_SIZE]);
