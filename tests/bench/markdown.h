/* SPDX-License-Identifier: Apache-2.0 */
/* A report's table as markdown: a median and, of several samples, the least
 * and the largest; a bar beside its figure, and whether it was missed. */
#pragma once

#include <stdio.h>

#include <jansson.h>

void markdown_head(FILE *file, const json_t *table);
void markdown_row(FILE *file, const json_t *table, const json_t *row);

/* A row a bar of that table, for a list of all bars: what, the bar, the
 * figure, whether it is met. Of a wide table one row says how many are. */
void markdown_bars(FILE *file, const json_t *table);
