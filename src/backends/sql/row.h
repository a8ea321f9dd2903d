/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule that keeps a SQL store from repeating a number: what the rows of a
 * counter mean for a reservation and for a raise. The engine reads and locks
 * the rows, and writes the result in the same transaction. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "backends/sql/cell.h"

#define SQL_BASE         "" /* counters without a row begin after its value */
#define SQL_RAISE_WRITES 4

/* A counter without a period has a note: a second row, so that the counter
 * continues above its grants if its own row is deleted. The note's value is a
 * multiple of SQL_NOTE_VALUES, at or above all that was granted; a new note is
 * written before the counter passes it. */
#define SQL_NOTE_VALUES 65536

/* The time of a damaged mark: later than any other, so that nothing that is
 * compared with it begins or is created again. */
#define SQL_MARK_DAMAGED INT64_MAX

/* A row as it is in seqb_counters. */
struct sql_row {
    enum {
        SQL_ROW_ABSENT,
        SQL_ROW_BOUND,
        SQL_ROW_FOREIGN, /* its origin is not the store's current one */
        SQL_ROW_DAMAGED
    } state;
    bool is_unbound; /* its origin is "": a base that was just inserted */
    bool is_rebound; /* foreign, but of this store in another epoch (epoch.h) */
    int64_t value;   /* 0 if absent */
};

/* A counter or the base, with its mark (mark.h) if it is a counter of a period
 * or the base. Or a cell (cell.h), which has no mark. All fields but the name
 * are zero until the rows were read. */
struct sql_counter {
    const char *name;
    struct sql_row row;
    struct sql_cell cell; /* instead of `row`, if the name is a cell's */
    int64_t mark_ms;      /* 0 without a mark */
    bool is_purged;       /* it is below the `keep` of a purge */
    struct sql_row note;  /* of a counter without a period */
    char kept[SEQB_COUNTER_SIZE]; /* the name of its mark or note */
};

/* A row to be written, bound to the store: sql_write_origin. */
struct sql_write {
    const char *name;
    int64_t value;
    int64_t window; /* of a cell; 0: it is dropped */
    int64_t size;   /* of a cell */
};

/* The result of a reservation. */
struct sql_grant {
    enum seqb_status status;
    const char *why; /* if not SEQB_OK; static */
    struct seqb_block block;
    int64_t value; /* the new value of the row */
    int64_t note;  /* the new value of the note; 0: unchanged */
};

/* The result of a raise. */
struct sql_lift {
    enum seqb_status status;
    const char *why; /* if not SEQB_OK; static */
    int64_t before;  /* what the raise found: see struct seqb_raise */
    int64_t value;   /* of the counter's row, once all is written */
    struct sql_write writes[SQL_RAISE_WRITES];
    size_t count;
};

/* A counter or the base, before its rows were read. */
void sql_counter_init(struct sql_counter *counter, const char *name);

/*
 * Notes the row found under the counter's name: its value, negative if it is
 * not a number, and its origin, NULL if it has none. `now` is what rows of the
 * store are bound to.
 */
void sql_row_found(struct sql_counter *counter, int64_t value,
                   const char *origin, const char *now);

/* Notes the mark found: its value as above, and the text in its origin column,
 * NULL if there is none. */
void sql_mark_found(struct sql_counter *counter, int64_t value,
                    const char *keep);

/* Notes the row found under counter->kept: a mark or a note. */
void sql_kept_found(struct sql_counter *counter, int64_t value,
                    const char *origin, const char *now);

/* Whether a counter at `value` may be granted `want` more without writing a new
 * note; always true for counters of periods. */
bool sql_row_is_noted(const char *name, int64_t value, int64_t want);

/* Takes from a counter that has a row. Without a row: SEQB_FENCED. */
struct sql_grant sql_row_take(const struct sql_row *row,
                              const struct seqb_request *request);

/* Takes from a counter that may have no row. Then the counter begins, at the
 * base or at 1, unless its period is over. */
struct sql_grant sql_counter_take(const struct sql_counter *base,
                                  const struct sql_counter *counter,
                                  const struct seqb_request *request);

/* The writes that raise the counter. `raise` must outlive the result. */
struct sql_lift sql_counter_raise(const struct sql_counter *base,
                                  const struct sql_counter *counter,
                                  const struct seqb_raise *raise);
