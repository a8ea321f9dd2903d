/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a model store, for store.c and store_serve.c alone. */
#pragma once

#include "store.h"

#define STORE_BASE_CELL "" /* the base: where new direct counters begin */
/* First character of the names of cells that hold times. */
#define STORE_TIME      '@'

static inline bool store_is_time(const struct store_cell *cell)
{
    return cell->counter[0] == STORE_TIME;
}

int64_t store_origin(const struct store *store, int32_t side);

/* The counter's cell; NULL: none. */
struct store_cell *store_find(struct store *store, int32_t side,
                              const char *counter);

/* Sets the counter's cell to `value` and to the side's origin. Creates it if
 * necessary. */
struct store_cell *store_put(struct store *store, int32_t side,
                             const char *counter, int64_t value);

void store_drop(struct store *store, int32_t side, struct store_cell *cell);

/* store_row_find returns the text that a swap stored; NULL: none. store_row_put
 * stores one. */
struct store_row *store_row_find(struct store *store, int32_t side,
                                 const char *name);
void store_row_put(struct store *store, int32_t side, const char *name,
                   const char *text);
