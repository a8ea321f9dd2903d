/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of mysql-autoinc, one a counter: which this connection has looked
 * at, whether they are fit, and making what a new counter needs. Granting
 * from them is autoinc.c's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "backends/mysql/autoinc/names.h"
#include "backends/mysql/link.h"
#include "backends/mysql/mysql.h"
#include "backends/mysql/server.h"

/* A counter whose table was found fit on this connection. */
struct mysql_table {
    char counter[SEQB_COUNTER_SIZE]; /* first: the key of the tree */
    char name[MYSQL_TABLE_SIZE];
    int64_t unpurged; /* rows made here since the last step of a purge */
};

struct mysql_tables {
    struct mysql_link *link;
    const char *origin; /* the backend's */
    const char *format; /* the options' */
    bool auto_create;   /* the same */
    void *seen;         /* a tree, for search.h */
};

void mysql_tables_init(struct mysql_tables *tables, struct mysql *mysql,
                       const struct seqb_backend_options *options);
void mysql_tables_fini(struct mysql_tables *tables);

/* The counter's table if it was looked at on this connection, else NULL; the
 * tables' own, valid until it is forgotten. */
struct mysql_table *mysql_tables_find(const struct mysql_tables *tables,
                                      const char *counter);

/*
 * Finds out the counter's table and looks at it, and makes it if it is not
 * there and auto_create allows. With `may_begin`, a counter that has no row
 * begins at the base, if that is bound to the store. Outside of transactions.
 *
 * SEQB_REFUSED if the table is another counter's, is not fit, or may not be
 * made: this counter alone fails and the link stays open. Else as
 * link.h has it.
 */
enum seqb_status mysql_tables_prepare(struct mysql_tables *tables,
                                      const char *counter, bool may_begin,
                                      struct seqb_error *err);

/* Whether the counter's table may be made or filled, as `permits` of
 * backend.h. */
enum seqb_status mysql_tables_permit(const struct mysql_tables *tables,
                                     const char *counter,
                                     struct seqb_error *err);

/* Looks at the table again when it is asked for next. */
void mysql_tables_forget(struct mysql_tables *tables, const char *counter);
