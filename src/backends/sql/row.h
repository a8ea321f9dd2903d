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

#include "backends/sql/cell.h"

#define SQL_BASE         "" /* the row where counters begin that have none */
#define SQL_RAISE_WRITES 4

/* A counter without a period has a note: a row that says up to where it was
 * granted, so that it goes on above if its own row is deleted. A note is a
 * multiple of this many values ahead, and is written when one is passed. */
#define SQL_NOTE_VALUES 65536

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
    bool is_rebound; /* foreign: of this store, in another epoch (epoch.h) */
    int64_t value;   /* 0 if absent */
};

/* A counter, or the base, with its mark (mark.h): that of a counter of a
 * period, or of the base. Or a cell (cell.h), which has no mark. All zero but
 * the name until it was read. */
struct sql_counter {
    const char *name;
    struct sql_row row;
    struct sql_cell cell; /* instead of the row, if the name is a cell's */
    int64_t mark_ms;      /* 0 without a mark */
    bool is_purged;       /* it is below what a purge was told to keep */
    struct sql_row note;  /* of a counter without a period */
    char kept[SEQB_COUNTER_SIZE]; /* the name of its mark or note */
};

/* A row that is to be written, bound to the store: sql_write_origin. */
struct sql_write {
    const char *name;
    int64_t value;
    int64_t window; /* of a cell; 0: it is dropped */
    int64_t size;   /* of a cell */
};

/* What a reservation gets. */
struct sql_grant {
    enum seqb_status status;
    const char *why; /* if not SEQB_OK; static */
    struct seqb_block block;
    int64_t value; /* that the row becomes */
    int64_t note;  /* that the note becomes; 0: as it is */
};

/* What a raise does. */
struct sql_lift {
    enum seqb_status status;
    const char *why; /* if not SEQB_OK; static */
    int64_t value;   /* of the counter's row, once all is written */
    struct sql_write writes[SQL_RAISE_WRITES];
    size_t count;
};

/* A counter, or the base, of which nothing was read yet. */
void sql_counter_init(struct sql_counter *counter, const char *name);

/*
 * Notes the row that was found under the counter's name: its value, negative
 * if it is no number, and its origin, NULL if it has none. `now` is what rows
 * of the store are bound to.
 */
void sql_row_found(struct sql_counter *counter, int64_t value,
                   const char *origin, const char *now);

/* Notes the mark that was found: its value as above, and what stands in the
 * place of its origin, NULL if nothing does. */
void sql_mark_found(struct sql_counter *counter, int64_t value,
                    const char *keep);

/* Notes what was found under counter->kept: a mark, or a note. */
void sql_kept_found(struct sql_counter *counter, int64_t value,
                    const char *origin, const char *now);

/* Whether a counter at `value` may be granted `want` more without a new note:
 * so for those of periods. */
bool sql_row_is_noted(const char *name, int64_t value, int64_t want);

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
