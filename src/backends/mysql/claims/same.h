/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that the server and its tables are still those that were opened, as
 * part of the statement that reads or writes a claim, and sets the status if
 * not. All within the current call on the link. */
#pragma once

#include "backends/mysql/link.h"

/* Sets the incarnation that the call requires: `incarnation`; if that is NULL,
 * that of open. To be called before the functions below. */
void mysql_same_expect(struct mysql_link *link,
                       const struct seqb_backend *backend,
                       const char *incarnation);

/* Adds a condition to the statement: true in the store that was opened. */
void mysql_same_add(struct mysql_link *link);

/* An SQL expression: the incarnation, NULL if the call requires none. */
const char *mysql_same_run(const struct mysql_link *link);

/* SEQB_OK if the incarnation `now`, the value of that expression, is the one
 * that the call requires. `name` is the claim's. */
enum seqb_status mysql_same_check(const struct mysql_link *link,
                                  const char *name, const char *now,
                                  struct seqb_error *err);

/* Returns SEQB_UNREACHABLE: the condition was false. */
enum seqb_status mysql_same_lost(const struct mysql_link *link,
                                 struct seqb_error *err);

/* Completes an INSERT ... SELECT of claims, of which `name` is one, with the
 * condition that the store is the one that was opened and is a primary, and
 * runs it. If `*is_added` is false nothing was added, because another broker
 * was faster. */
enum seqb_status mysql_same_insert(struct mysql_link *link, const char *name,
                                   bool *is_added, struct seqb_error *err);
