/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engines for SQL stores share: the rule of a row (row.h), the names
 * of marks (mark.h), and the way that serves whatever an engine's own statement
 * could not. That takes two round trips: rows are locked and read, and what the
 * rule decided is written and committed. All that is peculiar to a store is in
 * its dialect.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/backend.h>

#include "backends/sql/mark.h"
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
     * Begins a transaction; locks the rows of `counters` in their order, the
     * first of which is the base's; and tells sql_row_found of each that is
     * there, and sql_mark_found of the mark of each whose mark counts, which is
     * read later than its counter and locked too, or so that no purge can
     * change it before this ends. A base that is not there is put there before,
     * with 0 and the origin "", so that those who find none wait for each
     * other. SEQB_ROLE if the server is no primary any more, SEQB_UNREACHABLE
     * if the store is not the one that was opened.
     */
    enum seqb_status (*lock)(struct seqb_backend *backend,
                             struct sql_counter *counters, size_t n,
                             struct seqb_error *err);

    /* Writes the rows, new ones too, each with the backend's origin, and
     * commits, durably. SEQB_UNCERTAIN if it is not known whether it did. */
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
    struct sql_counter counters[SQL_REQUESTS_MAX + 1];
    struct sql_write writes[SQL_REQUESTS_MAX];
};

/* The first member of an engine's struct. */
struct sql_backend {
    struct seqb_backend base;
    const struct sql_dialect *dialect;
    const char *where;      /* begins messages */
    struct sql_batch batch; /* of the reserve call under way: in the order of
                               their names, in which all brokers lock rows */
};

/* Members of seqb_backend_ops, with the contracts of backend.h. A direct
 * counter has no windows to install. */
enum seqb_status sql_reserve(struct seqb_backend *backend,
                             struct seqb_request *requests, size_t n,
                             struct seqb_error *err);
enum seqb_status sql_raise(struct seqb_backend *backend,
                           const struct seqb_raise *raise, int64_t *out,
                           struct seqb_error *err);
enum seqb_status sql_install(struct seqb_backend *backend,
                             const struct seqb_window *window,
                             int64_t *standing, struct seqb_error *err);

/* What the rule of a raise refused, said of that counter. */
enum seqb_status sql_lift_refused(const struct sql_lift *lift,
                                  const char *where, const char *counter,
                                  struct seqb_error *err);
