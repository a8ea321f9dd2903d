/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters that a connection wrote last, as it left them. A take from a
 * counter that nobody else writes needs no read: the write compares the row's
 * whole text, and changes nothing if the row is another one. So what is kept
 * here decides how many round trips a take needs, and never what it may grant.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backends/sql/sql.h"

struct etcd_known_row {
    char name[SEQB_COUNTER_SIZE];
    uint64_t hash;  /* of the name */
    int64_t value;  /* of the counter, or the used offsets of the cell */
    int64_t window; /* this and the next: of a cell */
    int64_t size;
    bool is_alone; /* it was found as it was left: no other broker writes it */
};

struct etcd_known {
    struct etcd_known_row *rows; /* a hash table; NULL: nothing is kept */
    int64_t base_revision;       /* of the base, at the last write */
};

/* The row of that counter; NULL: none is kept. */
const struct etcd_known_row *etcd_known_find(const struct etcd_known *known,
                                             const char *name);

/* Whether a write alone can serve the request: no other broker writes the
 * counter, and if it is as it was left, it grants some values and needs no new
 * note. */
bool etcd_known_grants(const struct etcd_known *known,
                       const struct seqb_request *request);

/* Notes how a counter was found, which is compared with how it was left. */
void etcd_known_read(struct etcd_known *known,
                     const struct sql_counter *counter);

/* Notes what was written to a row. Rows that are not counters are ignored. If
 * memory is short, nothing is kept. */
void etcd_known_write(struct etcd_known *known, const struct sql_write *write);

/* Notes that a write to that row failed: it must be read. */
void etcd_known_doubt(struct etcd_known *known, const char *name);

void etcd_known_fini(struct etcd_known *known);
