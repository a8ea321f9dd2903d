/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a model store, for store.c and store_serve.c alone. */
#pragma once

#include "store.h"

#define STORE_BASE_CELL ""  /* where direct counters start that have no cell */
#define STORE_TIME      '@' /* what names of cells begin with that hold times */

static inline bool store_is_time(const struct store_cell *cell)
{
    return cell->counter[0] == STORE_TIME;
}

int64_t store_origin(const struct store *store, int32_t side);

/* The counter's cell, or NULL. */
struct store_cell *store_find(struct store *store, int32_t side,
                              const char *counter);

/* Puts the counter's cell, made if absent, at `value` and the side's origin. */
struct store_cell *store_put(struct store *store, int32_t side,
                             const char *counter, int64_t value);

void store_drop(struct store *store, int32_t side, struct store_cell *cell);

/* A claim that was swapped, or NULL; and putting it. */
struct store_row *store_row_find(struct store *store, int32_t side,
                                 const char *name);
void store_row_put(struct store *store, int32_t side, const char *name,
                   const char *text);
