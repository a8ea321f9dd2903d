/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engines mysql-row and mysql-autoinc have in common: a backend over
 * one link, the rows of seqb_counters, and the calls that are the same for
 * both.
 */
#pragma once

#include "backends/mysql/link.h"
#include "backends/sql/sql.h"

/* The first member of an engine's struct. */
struct mysql {
    struct sql_backend sql;
    struct mysql_link link;
    bool may_create;      /* may create tables that are needed later */
    bool has_incarnation; /* the table seqb_incarnation exists */
};

/* Opens the link and checks the server. The caller must call mysql_link_close
 * whatever this or mysql_store_enter returns. `mysql` must be zeroed except for
 * its ops. It sets the dialect of the rows, so that sql_reserve, sql_raise and
 * sql_install can serve them. */
enum seqb_status mysql_store_connect(struct mysql *mysql,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err);

/* To be called after mysql_store_connect. Finds the tables, or creates them
 * with `create`, and reads the origin and, if needed, the incarnation. If the
 * tables were created just now, it waits until that second is over, even past
 * `connect_timeout_ms`. */
enum seqb_status mysql_store_enter(struct mysql *mysql,
                                   const struct seqb_backend_options *options,
                                   struct seqb_error *err);

/* Members of seqb_backend_ops. */
enum seqb_status mysql_claim(struct seqb_backend *backend, const char *name,
                             const char *text, char *standing, size_t size,
                             struct seqb_error *err);
enum seqb_status mysql_claim_many(struct seqb_backend *backend,
                                  struct seqb_claim *claims, size_t n,
                                  size_t *done, struct seqb_error *err);
enum seqb_status mysql_swap(struct seqb_backend *backend,
                            const struct seqb_swap *swap, char *standing,
                            size_t size, struct seqb_error *err);
enum seqb_status mysql_purge(struct seqb_backend *backend,
                             const struct seqb_purge *purge, int32_t *deleted,
                             struct seqb_error *err);
enum seqb_status mysql_list(struct seqb_backend *backend,
                            struct seqb_page *page, struct seqb_error *err);
enum seqb_status mysql_clock(struct seqb_backend *backend, int64_t *out_ms,
                             struct seqb_error *err);
enum seqb_status mysql_permits(struct seqb_backend *backend,
                               const char *counter, struct seqb_error *err);
enum seqb_status mysql_describe(struct seqb_backend *backend,
                                struct seqb_details *out,
                                struct seqb_error *err);

/*
 * The incarnation of the server, for cells: a nonce in the table
 * seqb_incarnation, which is in memory and therefore empty after each start.
 * mysql_incarnation_find requires the table, and creates it with `auto_create`.
 * SEQB_REFUSED if it is missing, SEQB_UNSAFE if it is not in memory.
 * mysql_incarnation_make also makes the nonce if there is none; not within a
 * transaction.
 */
enum seqb_status mysql_incarnation_find(struct mysql *mysql,
                                        struct seqb_error *err);
enum seqb_status mysql_incarnation_make(struct mysql *mysql,
                                        struct seqb_error *err);

/* For open: reads the incarnation, or sets why it is not known. Fails only if
 * the link fails. */
enum seqb_status mysql_incarnation_read(struct mysql *mysql,
                                        struct seqb_error *err);

/*
 * For a dialect of sql.h. Brokers lock rows in one order, so that they wait for
 * each other but never deadlock: first the base's "", then the claims of
 * guards, shared, then the counters in the order of their names, then the marks
 * of counters of periods, shared. A purge that raises a mark waits for no other
 * row. The first four functions are one round trip each.
 */
enum seqb_status mysql_rows_take(struct seqb_backend *backend,
                                 struct seqb_error *err);
enum seqb_status mysql_rows_renew(struct seqb_backend *backend,
                                  const struct seqb_window *window,
                                  bool *is_done, struct seqb_error *err);
enum seqb_status mysql_rows_lock(struct seqb_backend *backend,
                                 struct sql_counter *counters, size_t n,
                                 struct seqb_error *err);
enum seqb_status mysql_rows_commit(struct seqb_backend *backend,
                                   const struct sql_write *writes, size_t n,
                                   struct seqb_error *err);
enum seqb_status mysql_rows_abandon(struct seqb_backend *backend,
                                    struct seqb_error *err);

/* Reads the answer to a statement that counts the rows that are as they were
 * written, before the commit. SEQB_PROTOCOL if there are not as many. */
enum seqb_status mysql_rows_check(struct mysql_link *link, int64_t expected,
                                  struct seqb_error *err);

/* Closes the link and returns SEQB_PROTOCOL: `what` happens with triggers. */
enum seqb_status mysql_trigger_refuse(struct mysql_link *link, const char *what,
                                      struct seqb_error *err);

bool mysql_rows_conflict(const struct seqb_backend *backend);
bool mysql_rows_blame(const struct seqb_backend *backend,
                      enum seqb_status status);
