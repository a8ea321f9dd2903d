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

/* In a transaction of the caller's: the row is bound to the file's origin at
 * this value. */
enum seqb_status sqlite_row_put(struct sqlite *sqlite, const char *counter,
                                int64_t value, struct seqb_error *err);

/* How sql/ speaks to it. */
extern const struct sql_dialect sqlite_dialect;

/* See purge of <seqbroker/backend.h>. In a transaction of the caller's. */
enum seqb_status sqlite_rows_purge(struct sqlite *sqlite,
                                   const struct seqb_purge *purge,
                                   int32_t *deleted, struct seqb_error *err);
