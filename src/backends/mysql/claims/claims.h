/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of sql/mysql.sql, for both mysql engines: whether they are there,
 * and the claims in them. Within the call that is under way on the link. */
#pragma once

#include "backends/mysql/link.h"

/*
 * Requires the tables with their first rows, which it makes if `create`, as
 * many brokers at once as like. SEQB_UNREACHABLE if they are missing,
 * SEQB_UNSAFE if they are not InnoDB's, SEQB_REFUSED without the rights.
 */
enum seqb_status mysql_tables_open(struct mysql_link *link, bool create,
                                   struct seqb_error *err);

/* Runs sql/mysql.sql, which changes nothing of what is there. */
enum seqb_status mysql_tables_make(struct mysql_link *link,
                                   struct seqb_error *err);

/* The claim of backend.h. */
enum seqb_status mysql_claim_stand(struct mysql_link *link, const char *name,
                                   const char *text, char *standing,
                                   size_t size, struct seqb_error *err);
