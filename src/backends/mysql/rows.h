/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of seqb_counters inside a transaction: locked, read, written. They
 * are locked in the order of their names, the base's "" first, so that brokers
 * wait for each other and never in a circle. What a row means for a request
 * or a raise is row.c's. The marks of counters of periods are locked
 * after their counters, shared: a purge that raises one waits for nothing else.
 */
#pragma once

#include "backends/mysql/link.h"

#define MYSQL_BASE "" /* the row where counters begin that have none */

/* A counter as it stands in the table. */
struct mysql_counter {
    const char *name;
    enum {
        MYSQL_COUNTER_ABSENT,
        MYSQL_COUNTER_BOUND,
        MYSQL_COUNTER_FOREIGN, /* to another origin than was asked for */
        MYSQL_COUNTER_DAMAGED
    } state;
    bool is_there; /* as it was found, whatever its state becomes */
    bool is_new;   /* the base: it was not there, and was put there just now */
    int64_t value; /* 0 if absent */

    /* See sql/sql.h; INT64_MAX if it makes no sense. */
    int64_t mark_ms; /* of the base, or of a counter of a period; else 0 */
    bool is_purged;  /* it was below what a purge was told to keep */
};

/*
 * Begins a transaction, locks the base and the counters, whose names are given
 * in their order, and reads them and their marks, all in one round trip.
 * SEQB_ROLE if the server is no primary any more, SEQB_UNREACHABLE if its
 * origin is not `origin` any more. After a failure the link is to be closed.
 */
enum seqb_status mysql_rows_lock(struct mysql_link *link, const char *origin,
                                 struct mysql_counter *base,
                                 struct mysql_counter *counters, size_t n,
                                 struct seqb_error *err);

/* Adds the statement that binds a locked row to `origin` at its value, and a
 * ';' after it. */
void mysql_rows_put(struct mysql_link *link, const char *origin,
                    const struct mysql_counter *counter);

/* The same for the base. Beside it is kept that counters of periods which
 * begin after `base_ms` cannot have been forgotten; 0: nothing new of that.
 * Returns how many statements it added. */
size_t mysql_rows_put_base(struct mysql_link *link, const char *origin,
                           const struct mysql_counter *base, int64_t base_ms);

/* Sends `changes` such statements, and commits. */
enum seqb_status mysql_rows_commit(struct mysql_link *link, size_t changes,
                                   struct seqb_error *err);

/* Ends the transaction without a change. */
enum seqb_status mysql_rows_abandon(struct mysql_link *link,
                                    struct seqb_error *err);
