/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a SQLite file, for the sqlite engine alone: counters and marks,
 * read and written in transactions. What they mean is sql/row.h's.
 */
#pragma once

#include "backends/sql/sql.h"
#include "backends/sqlite/link.h"

struct sqlite {
    struct seqb_backend base;
    struct sqlite_link link;
    struct sql_batch batch; /* of the reserve call under way */
};

/* In a transaction of the caller's: fills in the counter's row, not its
 * mark. */
enum seqb_status sqlite_row_read(struct sqlite *sqlite,
                                 struct sql_counter *counter,
                                 struct seqb_error *err);

/* The same: the row is bound to the file's origin at this value. */
enum seqb_status sqlite_row_put(struct sqlite *sqlite, const char *counter,
                                int64_t value, struct seqb_error *err);

/* How sql/ speaks to it. */
struct sql_store sqlite_store(struct sqlite *sqlite);

/* See purge of <seqbroker/backend.h>. In a transaction of the caller's. */
enum seqb_status sqlite_rows_purge(struct sqlite *sqlite,
                                   const struct seqb_purge *purge,
                                   int32_t *deleted, struct seqb_error *err);
