/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of mysql-autoinc, one for each counter: which tables this
 * connection has checked, whether they are fit, and creating what a new counter
 * needs. autoinc.c grants from them.
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
    char counter[SEQB_COUNTER_SIZE]; /* must be first: the key of the tree */
    char name[MYSQL_TABLE_SIZE];
    int64_t unpurged; /* rows made by this connection since the last purge */
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

/* The counter's table if this connection has checked it, else NULL. Owned by
 * `tables`, valid until it is forgotten. */
struct mysql_table *mysql_tables_find(const struct mysql_tables *tables,
                                      const char *counter);

/*
 * Finds and checks the counter's table, and creates it if it does not exist and
 * auto_create permits that. With `may_begin`, a counter without a row begins at
 * the base, if the base is bound to the store. Not within a transaction.
 *
 * SEQB_REFUSED if the table is another counter's, is not fit, or may not be
 * created: this counter alone fails and the link stays open. Other errors as in
 * link.h.
 */
enum seqb_status mysql_tables_prepare(struct mysql_tables *tables,
                                      const char *counter, bool may_begin,
                                      struct seqb_error *err);

/* Whether the user may create or fill the counter's table, as `permits` of
 * backend.h. */
enum seqb_status mysql_tables_permit(const struct mysql_tables *tables,
                                     const char *counter,
                                     struct seqb_error *err);

/* Makes the table be checked again at its next use. */
void mysql_tables_forget(struct mysql_tables *tables, const char *counter);
