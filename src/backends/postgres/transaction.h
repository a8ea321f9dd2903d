/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The postgres engine's backend, and the begin and end of its transactions.
 * Their statements are in postgres.c, bind.c, list.c, reserve.c, renew.c,
 * rows.c and purge.c.
 */
#pragma once

#include "backends/postgres/link.h"
#include "backends/sql/sql.h"

#define POSTGRES_NUMBER_SIZE  24      /* an int64 in decimal */
#define POSTGRES_NO_RIGHT     "42501" /* SQLSTATE: insufficient privilege */
#define POSTGRES_LOCK_TIMEOUT "55P03" /* SQLSTATE: lock not available */

struct postgres {
    struct sql_backend sql;
    struct postgres_link link;
    int32_t timeout_ms;
};

/* The dialect of sql/; rows.c. */
extern const struct sql_dialect postgres_dialect;

/* The `take` of the dialect; reserve.c. */
enum seqb_status postgres_take(struct seqb_backend *backend,
                               struct seqb_error *err);

/* The renew of the dialect; renew.c. */
enum seqb_status postgres_renew(struct seqb_backend *backend,
                                const struct seqb_window *window, bool *is_done,
                                struct seqb_error *err);

/* Determines what rows are bound to, which is the backend's origin, and binds
 * the base to another epoch of the store if the base belongs to another store;
 * bind.c. */
enum seqb_status postgres_base_bind(struct postgres *postgres,
                                    struct seqb_error *err);

/* The `list` of backend_postgres. */
enum seqb_status postgres_list(struct seqb_backend *backend,
                               struct seqb_page *page, struct seqb_error *err);

/* The `permits` of backend_postgres. */
enum seqb_status postgres_permits(struct seqb_backend *backend,
                                  const char *counter, struct seqb_error *err);

/* The `describe` of backend_postgres. */
enum seqb_status postgres_describe(struct seqb_backend *backend,
                                   struct seqb_details *out,
                                   struct seqb_error *err);

/* The `purge` of backend_postgres. */
enum seqb_status postgres_purge(struct seqb_backend *backend,
                                const struct seqb_purge *purge,
                                int32_t *deleted, struct seqb_error *err);

/* Adds the statements that begin a transaction whose commit will be durable,
 * and that set current_setting('seqbroker.origin') to the store's origin, or to
 * "" while it may not serve. */
void postgres_transaction_begin(struct postgres *postgres);

/* Reads the answers to these statements. SEQB_ROLE, SEQB_UNSAFE if settings
 * lose commits by now, and SEQB_UNREACHABLE if the store is not the one that
 * was opened. */
enum seqb_status postgres_transaction_check(struct postgres *postgres,
                                            struct seqb_error *err);

/* Reads the answer to COMMIT and all answers that are left. */
enum seqb_status postgres_transaction_end(struct postgres *postgres,
                                          struct seqb_error *err);

/* Reads the answer to a statement that returns no row. */
enum seqb_status postgres_done_read(struct postgres *postgres,
                                    struct seqb_error *err);

void postgres_number_make(int64_t value, char out[static POSTGRES_NUMBER_SIZE]);

/* A column of the first row; false if it is not a number. */
bool postgres_number_read(const PGresult *result, int column, int64_t *out);
