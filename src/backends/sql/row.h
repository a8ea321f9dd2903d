/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule that keeps a SQL store from repeating a number: what the rows of a
 * counter mean for a reservation and for a raise. An engine reads and locks the
 * rows, and writes what is decided in the same transaction. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#define SQL_BASE         "" /* the row where counters begin that have none */
#define SQL_RAISE_WRITES 3

/* The time of a mark that is damaged: later than any, so that nothing that
 * compares with it begins or is made again. */
#define SQL_MARK_DAMAGED INT64_MAX

/* A row as it stands in seqb_counters. */
struct sql_row {
    enum {
        SQL_ROW_ABSENT,
        SQL_ROW_BOUND,
        SQL_ROW_FOREIGN, /* its origin is not that of the store now */
        SQL_ROW_DAMAGED
    } state;
    bool is_unbound; /* its origin is "": a base that was put there just now */
    int64_t value;   /* 0 if absent */
};

/* A counter, or the base, with its mark (mark.h): that of a counter of a
 * period, or of the base. All zero but the name until it was read. */
struct sql_counter {
    const char *name;
    struct sql_row row;
    int64_t mark_ms; /* 0 without a mark */
    bool is_purged;  /* it is below what a purge was told to keep */
};

/* A row that is to be written, with the store's origin. */
struct sql_write {
    const char *name;
    int64_t value;
};

/* What a reservation gets. */
struct sql_grant {
    enum seqb_status status;
    const char *why; /* if not SEQB_OK; static */
    struct seqb_block block;
    int64_t value; /* that the row becomes */
};

/* What a raise does. */
struct sql_lift {
    enum seqb_status status;
    const char *why; /* if not SEQB_OK; static */
    int64_t value;   /* of the counter's row, once all is written */
    struct sql_write writes[SQL_RAISE_WRITES];
    size_t count;
};

/*
 * Notes the row that was found under the counter's name: its value, negative
 * if it is no number, and its origin, NULL if it has none. `now` is the origin
 * of the store.
 */
void sql_row_found(struct sql_counter *counter, int64_t value,
                   const char *origin, const char *now);

/* Notes the mark that was found: its value as above, and what stands in the
 * place of its origin, NULL if nothing does. */
void sql_mark_found(struct sql_counter *counter, int64_t value,
                    const char *keep);

/* What is taken from a counter that has a row. Without one: SEQB_FENCED. */
struct sql_grant sql_row_take(const struct sql_row *row,
                              const struct seqb_request *request);

/* The same for a counter that may have no row, and then begins, unless its
 * period is over: at the base, or afresh. */
struct sql_grant sql_counter_take(const struct sql_counter *base,
                                  const struct sql_counter *counter,
                                  const struct seqb_request *request);

/* What raises the counter. `raise` must outlive what is returned. */
struct sql_lift sql_counter_raise(const struct sql_counter *base,
                                  const struct sql_counter *counter,
                                  const struct seqb_raise *raise);
