/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the server and its tables still are those that were opened, as part
 * of the statement that reads or writes a claim, and what it means if not.
 * Within the call that is under way on the link. */
#pragma once

#include "backends/mysql/link.h"

/* The incarnation that the call requires: `incarnation`, or if it is NULL that
 * of open. Before any of the below. */
void mysql_same_expect(struct mysql_link *link,
                       const struct seqb_backend *backend,
                       const char *incarnation);

/* Adds a condition: true in the store that was opened. */
void mysql_same_add(struct mysql_link *link);

/* An expression: the incarnation, NULL where the call requires none. */
const char *mysql_same_run(const struct mysql_link *link);

/* SEQB_OK if the incarnation `now`, which that expression gave, is the one that
 * the call requires. `name` is the claim's. */
enum seqb_status mysql_same_check(const struct mysql_link *link,
                                  const char *name, const char *now,
                                  struct seqb_error *err);

/* Returns SEQB_UNREACHABLE: the condition was false. */
enum seqb_status mysql_same_lost(const struct mysql_link *link,
                                 struct seqb_error *err);

/* Returns SEQB_ROLE: MYSQL_PRIMARY_SQL was false. */
enum seqb_status mysql_same_role_lost(const struct mysql_link *link,
                                      struct seqb_error *err);

/* Ends an INSERT ... SELECT of claims, of which `name` is one, with the
 * condition that the store is the one that was opened and a primary, and runs
 * it.
 * `*is_added` false: nothing was added, since another broker was faster. */
enum seqb_status mysql_same_insert(struct mysql_link *link, const char *name,
                                   bool *is_added, struct seqb_error *err);
