/* SPDX-License-Identifier: Apache-2.0 */
/* What is claimed in a SQLite file, for the sqlite engine alone. */
#pragma once

#include "backends/sqlite/rows.h"

/* Reads the claims that guards name, in a transaction of the caller's. */
enum seqb_status sqlite_claims_read(struct sqlite *sqlite,
                                    struct sql_guards *guards,
                                    struct seqb_error *err);

/* See claim and swap of <seqbroker/backend.h>. They begin and end a transaction
 * of their own; the first one runs inside the caller's if there is one. */
enum seqb_status sqlite_claims_stand(struct sqlite *sqlite, const char *name,
                                     const char *text, char *standing,
                                     size_t size, struct seqb_error *err);
/* The same for all of these claims, in one transaction. */
enum seqb_status sqlite_claims_stand_many(struct sqlite *sqlite,
                                          struct seqb_claim *claims, size_t n,
                                          struct seqb_error *err);
enum seqb_status sqlite_claims_swap(struct sqlite *sqlite,
                                    const struct seqb_swap *swap,
                                    char *standing, size_t size,
                                    struct seqb_error *err);
