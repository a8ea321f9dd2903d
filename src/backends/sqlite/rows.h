/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a SQLite file, for the sqlite engine only: counters and marks,
 * read and written in transactions. sql/row.h defines their meaning.
 */
#pragma once

#include "backends/sql/sql.h"
#include "backends/sqlite/link.h"

struct sqlite {
    struct sql_backend sql;
    struct sqlite_link link;
};

/* Within the caller's transaction. */
enum seqb_status sqlite_row_put(struct sqlite *sqlite,
                                const struct sql_write *write,
                                struct seqb_error *err);

/* Determines what the rows of file `store` are bound to, which is the backend's
 * origin, and binds the base to another epoch if the base belongs to another
 * file. Within the caller's transaction, or in one of its own. */
enum seqb_status sqlite_base_bind(struct sqlite *sqlite, const char *store,
                                  struct seqb_error *err);

/* See list of <seqbroker/backend.h>. */
enum seqb_status sqlite_rows_list(struct sqlite *sqlite, struct seqb_page *page,
                                  struct seqb_error *err);

/* The file's operations for sql/. */
extern const struct sql_dialect sqlite_dialect;

/* See purge of <seqbroker/backend.h>. Within the caller's transaction. */
enum seqb_status sqlite_rows_purge(struct sqlite *sqlite,
                                   const struct seqb_purge *purge,
                                   int32_t *deleted, struct seqb_error *err);
