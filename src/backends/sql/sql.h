/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engines for SQL stores share: the rules of a row (row.h), of a cell
 * (cell.h) and of a guard (guard.h), the names of marks (mark.h), which rows a
 * page lists (page.h), and the way that serves whatever
 * an engine's own statement could not. That takes two round trips: rows are
 * locked and read, and what the rule decided is written and committed. All that
 * is peculiar to a store is in its dialect.
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

/* How a store is spoken to. */
struct sql_dialect {
    /* A call begins that must end within the options' `timeout_ms`. NULL:
     * nothing is to be done for that. */
    enum seqb_status (*begin)(struct seqb_backend *backend,
                              struct seqb_error *err);

    /*
     * Answers what the engine's own statement can, of the requests in the
     * batch: SEQB_OK with a block, each only if its row is bound to the store
     * as it is when the value is added to. The others stay SEQB_AGAIN, or fail
     * alone. If this fails nothing that it answered counts. NULL: all goes the
     * shared way.
     */
    enum seqb_status (*take)(struct seqb_backend *backend,
                             struct seqb_error *err);

    /*
     * Puts the window into its cell by the engine's own statement, if the cell
     * counts in the window `over`, is bound to the store as it is when it is
     * written, and is not damaged: sql_cell_install does so too, whatever is
     * left there. `*is_done` tells whether it is there, durably; if not,
     * nothing was changed. SEQB_UNCERTAIN if that is not known. NULL: all goes
     * the shared way.
     */
    enum seqb_status (*renew)(struct seqb_backend *backend,
                              const struct seqb_window *window, bool *is_done,
                              struct seqb_error *err);

    /*
     * Begins a transaction; if there are cells, puts the store's origin with
     * its incarnation into `now`; if there are guards, puts the store's
     * incarnation into them, and locks their claims in their order, shared, and
     * tells sql_guards_found of each; locks the rows of `counters` in their
     * order, the first of which is the base's; and tells sql_found of each that
     * is there, and sql_kept_found of the mark or note of each, which is read
     * later than its counter and locked too, or so that no purge can change it
     * before this ends. A base that is not there is put there before, with 0
     * and the origin "", so that those who find none wait for each other.
     * SEQB_ROLE if the server is no primary any more, SEQB_UNREACHABLE if the
     * store is not the one that was opened.
     */
    enum seqb_status (*lock)(struct seqb_backend *backend,
                             struct sql_counter *counters, size_t n,
                             struct seqb_error *err);

    /* Writes the rows, new ones too, each with sql_write_origin, and commits,
     * durably. SEQB_UNCERTAIN if it is not known whether it did. */
    enum seqb_status (*commit)(struct seqb_backend *backend,
                               const struct sql_write *writes, size_t n,
                               struct seqb_error *err);

    /* Ends a transaction, even one that failed, without a change. A failure
     * leaves the connection closed. */
    enum seqb_status (*abandon)(struct seqb_backend *backend,
                                struct seqb_error *err);

    /* Whether the failure of one of the above may be that of one row alone, so
     * that others may go well. NULL: never. */
    bool (*blames_row)(const struct seqb_backend *backend,
                       enum seqb_status status);
};

/* The requests of a call that have no answer yet, and room for their rows. */
struct sql_batch {
    struct seqb_request *requests[SQL_REQUESTS_MAX];
    size_t count;
    size_t size;    /* of the call */
    size_t guarded; /* the last so many of `requests` up to `size`: those with a
                       guard, which the engine's own statement does not serve */
    struct sql_counter counters[SQL_REQUESTS_MAX + 1];
    struct sql_write writes[2 * SQL_REQUESTS_MAX]; /* with their notes */
};

/* The first member of an engine's struct. */
struct sql_backend {
    struct seqb_backend base; /* its origin is what rows are bound to */
    const struct sql_dialect *dialect;
    const char *where;              /* begins messages */
    char unknown[SQL_UNKNOWN_SIZE]; /* why base.incarnation is "", by open */
    struct sql_guards guards;       /* of the transaction under way */
    char now[SQL_CELL_NOW_SIZE]; /* by the dialect's lock, for its transaction:
                                    the origin that cells must carry; "":
                                    it is not known, and none is good */
    struct sql_batch batch; /* of the reserve call under way: in the order of
                               their names, in which all brokers lock rows */
};

/* For a dialect: notes the row that was found under the counter's name, which
 * may be a cell; its value is negative if it is no number, its origin NULL if
 * there is none. */
void sql_found(const struct sql_backend *sql, struct sql_counter *counter,
               int64_t value, const char *origin);

/* For a dialect: whether any of the counters is a cell. */
bool sql_have_cells(const struct sql_counter *counters, size_t n);

/* For a dialect: what stands in the place of the origin in the row that is to
 * be written; `room` is for that of a cell. */
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

/* sql_reserve for requests that need not lie side by side. */
enum seqb_status sql_serve(struct seqb_backend *backend,
                           struct seqb_request *const *requests, size_t n,
                           struct seqb_error *err);

/* SEQB_UNREACHABLE if the base, once it was locked and read, is bound to
 * another epoch of the store than this connection's rows. */
enum seqb_status sql_base_check(const struct sql_counter *base,
                                const char *where, struct seqb_error *err);

/* For the files of this folder: begins a call; whether the connection may go
 * on with what it locked. */
enum seqb_status sql_call_begin(struct sql_backend *sql,
                                struct seqb_error *err);
enum seqb_status sql_locked_check(const struct sql_backend *sql,
                                  const struct sql_counter *base,
                                  struct seqb_error *err);

/* What the rule of a raise refused, said of that counter. */
enum seqb_status sql_lift_refused(const struct sql_lift *lift,
                                  const char *where, const char *counter,
                                  struct seqb_error *err);
