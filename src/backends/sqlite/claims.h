/* SPDX-License-Identifier: Apache-2.0 */
/* The claims in a SQLite file, for the sqlite engine only. */
#pragma once

#include "backends/sqlite/rows.h"

/* Reads the claims that guards name, within the caller's transaction. */
enum seqb_status sqlite_claims_read(struct sqlite *sqlite,
                                    struct sql_guards *guards,
                                    struct seqb_error *err);

/* See claim and swap of <seqbroker/backend.h>. Each uses a transaction of its
 * own; sqlite_claims_stand runs in the caller's transaction if there is one. */
enum seqb_status sqlite_claims_stand(struct sqlite *sqlite, const char *name,
                                     const char *text, char *standing,
                                     size_t size, struct seqb_error *err);
/* The same for all `n` claims, in one transaction. */
enum seqb_status sqlite_claims_stand_many(struct sqlite *sqlite,
                                          struct seqb_claim *claims, size_t n,
                                          struct seqb_error *err);
enum seqb_status sqlite_claims_swap(struct sqlite *sqlite,
                                    const struct seqb_swap *swap,
                                    char *standing, size_t size,
                                    struct seqb_error *err);
