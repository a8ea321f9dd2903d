/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes ids in the tables of many counters by one transaction in one round
 * trip, for mysql-autoinc, and interprets the answers. tables.h has the tables.
 */
#pragma once

#include <seqbroker/backend.h>

#include "backends/mysql/autoinc/tables.h"
#include "backends/mysql/link.h"

/* One counter's part of the transaction. */
struct mysql_part {
    struct seqb_request *request;
    struct mysql_table *table;
    int64_t rows; /* rows to make: 1 ... request->want */

    /* Its row in seqb_counters, locked, before the transaction's changes. */
    enum { PART_ABSENT, PART_BOUND, PART_FOREIGN, PART_DAMAGED } state;
    int64_t value;

    struct seqb_block ids; /* the ids made, up to the first gap among them */
    int64_t made;          /* the number of ids made, including those after a
                              gap */
    bool is_noted;         /* the row's value was set to the last id */
};

/*
 * Makes the rows of all parts, which are sorted by counter, and commits them.
 * If the server refuses a part, `*refused` is its index and nothing was done
 * for any part: the link may be used again without that part. Otherwise
 * `*refused` is `n`, and on failure the link must be closed: SEQB_ROLE if the
 * server is no longer a primary, SEQB_UNSAFE if its settings lose commits by
 * now, SEQB_UNREACHABLE if the store is not the one that was opened. Rows are
 * bound to `origin`.
 */
enum seqb_status mysql_ids_make(struct mysql_link *link, const char *origin,
                                struct mysql_part *parts, size_t n,
                                size_t *refused, struct seqb_error *err);

/* Answers the request of a part whose transaction was committed. */
void mysql_ids_answer(const struct mysql_link *link,
                      const struct mysql_part *part);
