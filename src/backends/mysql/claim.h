/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of sql/mysql.sql, for both mysql engines: whether they are there,
 * and the claims in them. Within the call that is under way on the link, but
 * for a swap.
 */
#pragma once

#include "backends/mysql/link.h"

/*
 * Requires the tables with their first rows, which it makes if `create`, as
 * many brokers at once as like. SEQB_UNREACHABLE if they are missing,
 * SEQB_UNSAFE if they are not InnoDB's, SEQB_REFUSED without the rights.
 */
enum seqb_status mysql_claim_open(struct mysql_link *link, bool create,
                                  struct seqb_error *err);

/* The claim of backend.h. */
enum seqb_status mysql_claim(struct mysql_link *link, const char *name,
                             const char *text, char *standing, size_t size,
                             struct seqb_error *err);

/* The swap of backend.h, a call of its own. */
enum seqb_status mysql_swap(struct mysql_link *link,
                            const struct seqb_swap *swap, char *standing,
                            size_t size, struct seqb_error *err);
