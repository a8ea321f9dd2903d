/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule of a cell in a SQL store, which counts in windows that another store
 * leased: what its row means for a reservation, an install and a raise. An
 * engine reads and locks the row, and writes what is decided in the same
 * transaction. Pure.
 *
 * A cell is a row of seqb_counters. Its value is how many offsets are used; in
 * the place of an origin it has "<window>:<size>:<origin>", where the origin is
 * that of the store with its incarnation, as the engine's SQL makes it. A cell
 * that was dropped has window 0.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define SQL_CELL_NOW_SIZE    256 /* of a store's origin with its incarnation */
#define SQL_CELL_PREFIX_SIZE 48  /* of "<window>:<size>:" */
#define SQL_CELL_ORIGIN_SIZE (SQL_CELL_PREFIX_SIZE + SQL_CELL_NOW_SIZE)

struct sql_cell {
    enum {
        SQL_CELL_ABSENT, /* or dropped */
        SQL_CELL_BOUND,
        SQL_CELL_FOREIGN, /* its origin is not that of the store now */
        SQL_CELL_DAMAGED
    } state;
    int64_t window; /* this and what follows: 0 if absent or damaged */
    int64_t size;
    int64_t used;
};

/* What reservations, installs and raises get. */
struct sql_cell_answer {
    enum seqb_status status;
    const char *why;         /* if not SEQB_OK; static */
    int64_t window;          /* that stands; SEQB_NO_WINDOW: none */
    struct seqb_block block; /* of a reservation */
    bool is_write;           /* `cell` is to be written, bound to the store */
    struct sql_cell cell;
};

/* Whether a counter of that name is a cell. */
bool sql_name_is_cell(const char *counter);

/* What stands before the origin in a cell of that window. */
void sql_cell_prefix(int64_t window, int64_t size,
                     char out[SQL_CELL_PREFIX_SIZE]);

/* The row that was found under a cell's name: its value, negative if it is no
 * number, and what it has in the place of an origin, NULL if nothing. `now` is
 * the store's origin with its incarnation. */
struct sql_cell sql_cell_found(int64_t value, const char *origin,
                               const char *now);

struct sql_cell_answer sql_cell_take(const struct sql_cell *cell,
                                     const struct seqb_request *request);
struct sql_cell_answer sql_cell_install(const struct sql_cell *cell,
                                        const struct seqb_window *window);

/* Its `window` is what a raise answers. */
struct sql_cell_answer sql_cell_drop(const struct sql_cell *cell,
                                     int64_t floor);
