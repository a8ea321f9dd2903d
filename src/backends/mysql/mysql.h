/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engines mysql-row and mysql-autoinc have in common: a backend over
 * one link, the rows of seqb_counters, and the calls that both answer alike.
 */
#pragma once

#include "backends/mysql/link.h"
#include "backends/sql/sql.h"

/* The first member of an engine's struct. */
struct mysql {
    struct sql_backend sql;
    struct mysql_link link;
};

/* Opens the link and checks the server. Whatever they return, mysql_link_close
 * is due. `mysql` must have been zeroed but for its ops. */
enum seqb_status mysql_store_connect(struct mysql *mysql,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err);

/* Then: finds the tables, or makes them with `create`, and reads the origin. */
enum seqb_status mysql_store_enter(struct mysql *mysql, bool create,
                                   struct seqb_error *err);

/* Members of seqb_backend_ops. */
enum seqb_status mysql_claim(struct seqb_backend *backend, const char *name,
                             const char *text, char *standing, size_t size,
                             struct seqb_error *err);
enum seqb_status mysql_swap(struct seqb_backend *backend,
                            const struct seqb_swap *swap, char *standing,
                            size_t size, struct seqb_error *err);
enum seqb_status mysql_purge(struct seqb_backend *backend,
                             const struct seqb_purge *purge, int32_t *deleted,
                             struct seqb_error *err);
enum seqb_status mysql_clock(struct seqb_backend *backend, int64_t *out_ms,
                             struct seqb_error *err);

/*
 * For a dialect of sql.h. The rows are locked in the order of their names, the
 * base's "" first, so that brokers wait for each other and never in a circle;
 * the marks of counters of periods after their counters, shared: a purge that
 * raises one waits for nothing else. The first two are one round trip each.
 */
enum seqb_status mysql_rows_lock(struct seqb_backend *backend,
                                 struct sql_counter *counters, size_t n,
                                 struct seqb_error *err);
enum seqb_status mysql_rows_commit(struct seqb_backend *backend,
                                   const struct sql_write *writes, size_t n,
                                   struct seqb_error *err);
enum seqb_status mysql_rows_abandon(struct seqb_backend *backend,
                                    struct seqb_error *err);
bool mysql_rows_blame(const struct seqb_backend *backend,
                      enum seqb_status status);
