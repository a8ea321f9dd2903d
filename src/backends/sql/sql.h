/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engines for SQL stores share: the rules of a row (row.h), of a cell
 * (cell.h) and of a guard (guard.h), the names of marks (mark.h), the rows of a
 * page (page.h), and a general path for requests that the engine's own
 * statement could not serve. The general path takes two round trips: the first
 * locks and reads the rows, the second writes and commits what the rule
 * decided. Everything specific to a store is in its dialect.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/backend.h>

#include "backends/sql/epoch.h"
#include "backends/sql/guard.h"
#include "backends/sql/mark.h"
#include "backends/sql/page.h"
#include "backends/sql/row.h"

#define SQL_REQUESTS_MAX 1024

/* The operations of a store. */
struct sql_dialect {
    /* Begins a call that must end within the options' `timeout_ms`. NULL:
     * nothing needs to be done. */
    enum seqb_status (*begin)(struct seqb_backend *backend,
                              struct seqb_error *err);

    /*
     * Serves those requests of the batch that the engine's own statement can:
     * SEQB_OK with a block, each only if its row is bound to the store as it is
     * at the moment of the addition. The others stay SEQB_AGAIN, or fail alone.
     * If this function fails, none of its answers is valid. NULL: all requests
     * take the general path.
     */
    enum seqb_status (*take)(struct seqb_backend *backend,
                             struct seqb_error *err);

    /*
     * Puts the window into its cell by the engine's own statement, if the cell
     * is in the window `over`, is bound to the store as it is at the write, and
     * is not damaged. sql_cell_install does the same with the rows locked,
     * whatever values the cell has left. `*is_done`: the window is in the cell,
     * durably; if false, nothing was changed. SEQB_UNCERTAIN if that is not
     * known. NULL: sql_cell_install serves all.
     */
    enum seqb_status (*renew)(struct seqb_backend *backend,
                              const struct seqb_window *window, bool *is_done,
                              struct seqb_error *err);

    /*
     * Begins a transaction and locks the rows. If there are cells, it puts the
     * store's origin with its incarnation into `now`. If there are guards, it
     * puts the store's incarnation into them, share-locks their claims in their
     * order, and passes each to sql_guards_found. It locks the rows of
     * `counters` in their order, the first of which is the base, and passes
     * each existing one to sql_found. It passes the mark or note of each
     * counter to sql_kept_found. A mark or note is read after its counter, and
     * is locked too or otherwise protected from a purge until the transaction
     * ends. If the base is missing, it is inserted before it is locked, with 0
     * and the origin "", so that brokers that find none wait for each other.
     * SEQB_ROLE if the server is no longer a primary, SEQB_UNREACHABLE if the
     * store is not the one that was opened.
     */
    enum seqb_status (*lock)(struct seqb_backend *backend,
                             struct sql_counter *counters, size_t n,
                             struct seqb_error *err);

    /* Writes the rows, including new ones, each with sql_write_origin, and
     * commits durably. SEQB_UNCERTAIN if it is not known whether the commit
     * happened. */
    enum seqb_status (*commit)(struct seqb_backend *backend,
                               const struct sql_write *writes, size_t n,
                               struct seqb_error *err);

    /* Rolls back a transaction, even one that failed. If this fails, the
     * connection is closed. */
    enum seqb_status (*abandon)(struct seqb_backend *backend,
                                struct seqb_error *err);

    /* Whether the last failure undid its transaction only because another one
     * was first, so that it may be tried again. NULL: never. */
    bool (*conflicts)(const struct seqb_backend *backend);

    /* Whether a failure of one of the functions above may be due to one row
     * alone, so that other rows may succeed. NULL: never. */
    bool (*blames_row)(const struct seqb_backend *backend,
                       enum seqb_status status);
};

/* The requests of a call that have no answer yet, and space for their rows. */
struct sql_batch {
    struct seqb_request *requests[SQL_REQUESTS_MAX];
    size_t count;
    size_t size;    /* of the whole call */
    size_t guarded; /* the last `guarded` of requests[0 ... size - 1] have a
                       guard: the engine's own statement does not serve them */
    struct sql_counter counters[SQL_REQUESTS_MAX + 1];
    struct sql_write writes[2 * SQL_REQUESTS_MAX]; /* including notes */
};

/* The first member of an engine's struct. */
struct sql_backend {
    struct seqb_backend base; /* its origin is what rows are bound to */
    const struct sql_dialect *dialect;
    const char *where;              /* begins messages */
    char unknown[SQL_UNKNOWN_SIZE]; /* why base.incarnation is "", set by
                                       open */
    struct sql_guards guards;       /* of the current transaction */
    char now[SQL_CELL_NOW_SIZE];    /* set by the dialect's lock for its
                                       transaction: the origin that valid cells
                                       have; "": not known, and no cell is valid */
    struct sql_batch batch; /* of the current reserve call, sorted by name,
                               which is the order in which all brokers lock
                               rows */
};

/* For a dialect: notes the row found under the counter's name, which may be a
 * cell. `value` is negative if it is not a number, `origin` is NULL if there is
 * none. */
void sql_found(const struct sql_backend *sql, struct sql_counter *counter,
               int64_t value, const char *origin);

/* For a dialect: whether any of the counters is a cell. */
bool sql_have_cells(const struct sql_counter *counters, size_t n);

/* For a dialect: the origin column of the row to be written; `room` is space
 * for that of a cell. */
const char *sql_write_origin(const struct sql_backend *sql,
                             const struct sql_write *write,
                             char room[SQL_CELL_ORIGIN_SIZE]);

/* Members of seqb_backend_ops, with the contracts of backend.h. */
enum seqb_status sql_reserve(struct seqb_backend *backend,
                             struct seqb_request *requests, size_t n,
                             struct seqb_error *err);
enum seqb_status sql_raise(struct seqb_backend *backend,
                           const struct seqb_raise *raise, int64_t *out,
                           struct seqb_error *err);
enum seqb_status sql_install(struct seqb_backend *backend,
                             const struct seqb_window *window,
                             int64_t *standing, struct seqb_error *err);

/* As sql_reserve, for requests that are not one array. */
enum seqb_status sql_serve(struct seqb_backend *backend,
                           struct seqb_request *const *requests, size_t n,
                           struct seqb_error *err);

/* Checks the base after it was locked and read: SEQB_UNREACHABLE if it is bound
 * to another epoch of the store than this connection's rows. */
enum seqb_status sql_base_check(const struct sql_counter *base,
                                const char *where, struct seqb_error *err);

/* For a dialect's claim_many: the order of pointers to claims, by name. Brokers
 * that add the same claims in it wait for each other, but never deadlock. */
int sql_claim_order(const void *a, const void *b);

/* For the files of this folder. The one bound on the name of a counter. */
enum seqb_status sql_name_check(const struct sql_backend *sql,
                                const char *counter, struct seqb_error *err);

/* Begins a call. */
enum seqb_status sql_call_begin(struct sql_backend *sql,
                                struct seqb_error *err);

/* Whether the connection may use what it locked. */
enum seqb_status sql_locked_check(const struct sql_backend *sql,
                                  const struct sql_counter *base,
                                  struct seqb_error *err);

/* After a failure: whether another try may succeed. Then the transaction is
 * ended. */
bool sql_retries(struct sql_backend *sql);

/* The error of a raise that the rule refused, for that counter. */
enum seqb_status sql_lift_refused(const struct sql_lift *lift,
                                  const char *where, const char *counter,
                                  struct seqb_error *err);
