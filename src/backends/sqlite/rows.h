/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a SQLite file, for the sqlite engine alone: counters, and what is
 * kept of them and beside them. Each call is a part of a transaction of the
 * caller's.
 */
#pragma once

#include "backends/sqlite/link.h"

#define SQLITE_BASE "" /* the row where counters begin that have none */

struct sqlite {
    struct seqb_backend base;
    struct sqlite_link link;
};

/* A counter as it stands in the file. */
struct sqlite_row {
    enum { ROW_ABSENT, ROW_BOUND, ROW_FOREIGN, ROW_DAMAGED, ROW_OVER } state;
    int64_t value; /* 0 if absent */
};

enum seqb_status sqlite_row_find(struct sqlite *sqlite, const char *counter,
                                 struct sqlite_row *out,
                                 struct seqb_error *err);

/* Bound to the file's origin. */
enum seqb_status sqlite_row_put(struct sqlite *sqlite, const char *counter,
                                int64_t value, struct seqb_error *err);

/* What a counter begins as that has no row: as the base stands, or afresh; or
 * ROW_OVER. */
enum seqb_status sqlite_row_begin(struct sqlite *sqlite,
                                  const struct seqb_request *request,
                                  struct sqlite_row *out,
                                  struct seqb_error *err);

/* The base was raised: periods that begin after `base_ms` need not begin after
 * it. */
enum seqb_status sqlite_base_note(struct sqlite *sqlite, int64_t base_ms,
                                  struct seqb_error *err);

/* See purge of <seqbroker/backend.h>. */
enum seqb_status sqlite_rows_purge(struct sqlite *sqlite,
                                   const struct seqb_purge *purge,
                                   int32_t *deleted, struct seqb_error *err);
