/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of an etcd as rows: some are read at one revision, and what was decided
 * is written if none of them changed meanwhile. This is all that the engine
 * does to the store.
 *
 *   PREFIX/counter/NAME   "VALUE ORIGIN", of counters, notes, marks, cells
 *   PREFIX/claim/NAME     the claim's text
 *   PREFIX/run            "TERM.INDEX.REVISION.CHANCE": the store's incarnation
 *                         while raft's term is TERM
 *   PREFIX/entry          "": written to make the revision grow
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backends/etcd/etcd.pb-c.h"
#include "backends/etcd/known.h"
#include "backends/etcd/link.h"
#include "backends/sql/sql.h"

#define ETCD_ROWS_MAX    128 /* etcd's default of --max-txn-ops */
#define ETCD_PREFIX_SIZE 65
#define ETCD_KEY_SIZE    (ETCD_PREFIX_SIZE + SEQB_COUNTER_SIZE + 16)
#define ETCD_VALUE_SIZE  (SQL_CELL_ORIGIN_SIZE + 24)

#define ETCD_COUNTER "counter/"
#define ETCD_CLAIM   "claim/"
#define ETCD_RUN     "run"
#define ETCD_ENTRY   "entry"

struct etcd_row {
    char key[ETCD_KEY_SIZE];
    int64_t revision; /* of its last change; 0: the row does not exist */
    const char *text; /* in etcd->texts; NULL: the row does not exist */
    bool is_recalled; /* it was not read: a write compares its text */
};

/* The engine's struct. */
struct etcd {
    struct sql_backend sql;
    struct etcd_link link;
    int32_t timeout_ms;
    char prefix[ETCD_PREFIX_SIZE];
    char run[SEQB_INCARNATION_SIZE]; /* as read by open */
    char *texts;                     /* texts of the rows that were read */
    size_t texts_size;
    size_t texts_used;
    struct etcd_row rows[ETCD_ROWS_MAX]; /* the first is ETCD_RUN */
    size_t count;
    struct etcd_known known;
    bool recalls; /* the requests are served by a write alone */
};

static inline struct etcd *etcd_of(struct seqb_backend *backend)
{
    return (struct etcd *)backend;
}

/* Begins a new set of rows; the first one is ETCD_RUN. */
void etcd_rows_begin(struct etcd *etcd);

/* Adds a row; false if the name is too long. */
bool etcd_rows_add(struct etcd *etcd, const char *kind, const char *name);

/* Reads the rows, all at one revision. Errors as for etcd_link_ask. */
enum seqb_status etcd_rows_read(struct etcd *etcd, struct seqb_error *err);

/* Begins a new set of rows that are not read. The first one is ETCD_RUN, which
 * must be as open read it, the second is the base, which must be unchanged
 * since the last write. False when out of memory. */
bool etcd_rows_recall(struct etcd *etcd);

/* Adds a counter's row that must be `value` and `origin`; false if the name is
 * too long. */
bool etcd_rows_recall_counter(struct etcd *etcd, const char *name,
                              int64_t value, const char *origin);

/* The store's incarnation when the rows were read; "" if the cluster has
 * elected a leader since the incarnation was stored. */
const char *etcd_run_now(const struct etcd *etcd);

/* SEQB_UNREACHABLE if that differs from what open read: the cluster elected a
 * leader, or its data was restored. Also if the connection by which open read
 * it was lost: what answers may be made of a snapshot, with the same ids, term
 * and rows. */
enum seqb_status etcd_run_check(const struct etcd *etcd,
                                struct seqb_error *err);

/* Collect the writes that etcd_write_end sends; they take effect only if the
 * rows are unchanged since they were read. */
void etcd_write_begin(struct etcd *etcd);
void etcd_write_put(struct etcd *etcd, const char *kind, const char *name,
                    const char *text);

/* SEQB_AGAIN: a row has changed, nothing was written. SEQB_UNCERTAIN, also if
 * the cluster elected a leader meanwhile. Other errors as for etcd_link_ask. */
enum seqb_status etcd_write_end(struct etcd *etcd, struct seqb_error *err);

/* Writes ETCD_ENTRY, so that the index of raft's log and the revision grow by
 * one each. It may be sent twice. Errors as for etcd_link_ask. */
enum seqb_status etcd_write_entry(struct etcd *etcd, struct seqb_error *err);

/* Rows whose keys are at or above `from` and below `to`. */
struct etcd_range {
    const char *kind; /* of both */
    const char *from;
    const char *to; /* NULL: up to the end of the prefix */
    int64_t limit;
    Etcd__TxnResponse *answer; /* out; etcd_range_free frees it */
    Etcd__KeyValue **kvs;      /* out; in the answer */
    size_t count;              /* out */
};

/* Reads the range, and ETCD_RUN as the only row. */
enum seqb_status etcd_range_read(struct etcd *etcd, struct etcd_range *range,
                                 struct seqb_error *err);

/* Frees the answer, if there is one. */
void etcd_range_free(struct etcd_range *range);

/* The name and text of row `i` of a range. */
bool etcd_range_row(const struct etcd *etcd, const struct etcd_range *range,
                    size_t i, char name[static SEQB_COUNTER_SIZE],
                    char text[static ETCD_VALUE_SIZE]);

/* Removes the rows of a range, if ETCD_RUN is as it was read. */
enum seqb_status etcd_range_delete(struct etcd *etcd,
                                   const struct etcd_range *range,
                                   int64_t *deleted, struct seqb_error *err);

/* Parses "VALUE REST": the value, negative if it is not a number, and the rest,
 * NULL if there is none. */
int64_t etcd_value_read(const char *text, const char **rest);
