/* SPDX-License-Identifier: Apache-2.0 */
/* What is claimed in a SQLite file, for the sqlite engine alone. */
#pragma once

#include "backends/sqlite/link.h"

/* See claim and swap of <seqbroker/backend.h>. The first is atomic by itself;
 * the second begins and ends a transaction. */
enum seqb_status sqlite_claims_stand(struct sqlite_link *link, const char *name,
                                     const char *text, char *standing,
                                     size_t size, struct seqb_error *err);
enum seqb_status sqlite_claims_swap(struct sqlite_link *link,
                                    const struct seqb_swap *swap,
                                    char *standing, size_t size,
                                    struct seqb_error *err);
