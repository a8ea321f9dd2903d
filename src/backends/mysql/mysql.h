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
    bool may_create;      /* tables that are needed later */
    bool has_incarnation; /* the table seqb_incarnation was seen */
};

/* Opens the link and checks the server. Whatever they return, mysql_link_close
 * is due. `mysql` must have been zeroed but for its ops; it gets the dialect of
 * its rows, so that sql_reserve and its kin serve those. */
enum seqb_status mysql_store_connect(struct mysql *mysql,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err);

/* Then: finds the tables, or makes them with `create`, and reads the origin
 * and, if it is needed, the incarnation. Of tables that were made just now it
 * waits until their second is over, beyond `connect_timeout_ms`. */
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
 * seqb_incarnation, which is in memory, and so is empty after each start.
 * Requires the table, which it makes with `auto_create`. SEQB_REFUSED if it is
 * missing, SEQB_UNSAFE if it is not in memory. The second makes the nonce, too,
 * unless it is there; not within a transaction.
 */
enum seqb_status mysql_incarnation_find(struct mysql *mysql,
                                        struct seqb_error *err);
enum seqb_status mysql_incarnation_make(struct mysql *mysql,
                                        struct seqb_error *err);

/* For open: tells the incarnation, or why it is not known. Fails only with the
 * link. */
enum seqb_status mysql_incarnation_read(struct mysql *mysql,
                                        struct seqb_error *err);

/*
 * For a dialect of sql.h. The rows are locked in the order of their names, the
 * base's "" first, so that brokers wait for each other and never in a circle;
 * claims of guards between the base and the counters, shared;
 * the marks of counters of periods after their counters, shared: a purge that
 * raises one waits for nothing else. The first four are one round trip each.
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
bool mysql_rows_blame(const struct seqb_backend *backend,
                      enum seqb_status status);
