/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a SQLite file, for the sqlite engine alone: counters and marks,
 * read and written in transactions. What they mean is sql/row.h's.
 */
#pragma once

#include "backends/sql/sql.h"
#include "backends/sqlite/link.h"

struct sqlite {
    struct sql_backend sql;
    struct sqlite_link link;
};

/* In a transaction of the caller's. */
enum seqb_status sqlite_row_put(struct sqlite *sqlite,
                                const struct sql_write *write,
                                struct seqb_error *err);

/* Finds out what rows of the file that `store` names are bound to, the
 * backend's origin, and binds the base to another epoch of it if it is another
 * file's. Inside the caller's transaction, or in one of its own. */
enum seqb_status sqlite_base_bind(struct sqlite *sqlite, const char *store,
                                  struct seqb_error *err);

/* See list of <seqbroker/backend.h>. */
enum seqb_status sqlite_rows_list(struct sqlite *sqlite, struct seqb_page *page,
                                  struct seqb_error *err);

/* How sql/ speaks to it. */
extern const struct sql_dialect sqlite_dialect;

/* See purge of <seqbroker/backend.h>. In a transaction of the caller's. */
enum seqb_status sqlite_rows_purge(struct sqlite *sqlite,
                                   const struct seqb_purge *purge,
                                   int32_t *deleted, struct seqb_error *err);
