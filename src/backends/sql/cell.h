/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of a cell in a SQL store, which counts in windows that another store
 * leased: what the cell's row means for a reservation, an install and a raise.
 * The engine reads and locks the row, and writes the result in the same
 * transaction. Pure.
 *
 * A cell is a row of seqb_counters. Its value is the number of offsets that are
 * used. Its origin is "<window>:<size>:<origin>", where <origin> is the store's
 * origin with its incarnation, as the engine's SQL makes it. A cell that was
 * dropped has window 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define SQL_CELL_NOW_SIZE    256 /* a store's origin with its incarnation */
#define SQL_CELL_PREFIX_SIZE 48  /* "<window>:<size>:" */
#define SQL_CELL_ORIGIN_SIZE (SQL_CELL_PREFIX_SIZE + SQL_CELL_NOW_SIZE)

struct sql_cell {
    enum {
        SQL_CELL_ABSENT, /* or dropped */
        SQL_CELL_BOUND,
        SQL_CELL_FOREIGN, /* its origin is not the store's current one */
        SQL_CELL_DAMAGED
    } state;
    int64_t window; /* this and the next two: 0 if absent or damaged */
    int64_t size;
    int64_t used;
};

/* The result of a reservation, an install or a raise. */
struct sql_cell_answer {
    enum seqb_status status;
    const char *why;         /* if not SEQB_OK; static */
    int64_t window;          /* the cell's window; SEQB_NO_WINDOW: none */
    struct seqb_block block; /* of a reservation */
    bool is_write;           /* write `cell`, bound to the store */
    struct sql_cell cell;
};

/* Whether a counter of that name is a cell. */
bool sql_name_is_cell(const char *counter);

/* The text before the origin in a cell of that window. */
void sql_cell_prefix(int64_t window, int64_t size,
                     char out[SQL_CELL_PREFIX_SIZE]);

/* Interprets the row found under a cell's name: its value, negative if it is
 * not a number, and its origin column, NULL if there is none. `now` is the
 * store's origin with its incarnation. */
struct sql_cell sql_cell_found(int64_t value, const char *origin,
                               const char *now);

struct sql_cell_answer sql_cell_take(const struct sql_cell *cell,
                                     const struct seqb_request *request);
struct sql_cell_answer sql_cell_install(const struct sql_cell *cell,
                                        const struct seqb_window *window);

/* The answer's `window` is what a raise answers. */
struct sql_cell_answer sql_cell_drop(const struct sql_cell *cell,
                                     int64_t floor);
