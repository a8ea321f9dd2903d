/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of seqb_counters inside a transaction: locked, read, written. They
 * are locked in the order of their names, the base's "" first, so that brokers
 * wait for each other and never in a circle. What they mean is sql/row.h's.
 * The marks of counters of periods are locked after their counters, shared: a
 * purge that raises one waits for nothing else.
 */
#pragma once

#include "backends/mysql/link.h"
#include "backends/sql/sql.h"

/* The lock of sql.h, in one round trip, on a store that was `origin` when it
 * was opened. */
enum seqb_status mysql_rows_lock(struct mysql_link *link, const char *origin,
                                 struct sql_counter *counters, size_t n,
                                 struct seqb_error *err);

/* The commit of sql.h, in one round trip. `before` statements were added to
 * the link that are sent with it, each with a ';' after it. */
enum seqb_status mysql_rows_commit(struct mysql_link *link, const char *origin,
                                   const struct sql_write *writes, size_t n,
                                   size_t before, struct seqb_error *err);

/* The abandon of sql.h. */
enum seqb_status mysql_rows_abandon(struct mysql_link *link,
                                    struct seqb_error *err);
