/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of sql/mysql.sql, for both mysql engines: whether they exist, and
 * the claims in them. All within the current call on the link. */
#pragma once

#include "backends/mysql/link.h"

/*
 * Requires the tables with their first rows, and creates them if `create`;
 * several brokers may do so at the same time. SEQB_UNREACHABLE if they are
 * missing, SEQB_UNSAFE if they are not InnoDB tables, SEQB_REFUSED without the
 * rights.
 */
enum seqb_status mysql_tables_open(struct mysql_link *link, bool create,
                                   struct seqb_error *err);

/* Runs sql/mysql.sql, which does not change existing tables and rows. */
enum seqb_status mysql_tables_make(struct mysql_link *link,
                                   struct seqb_error *err);

/* The claim of backend.h. */
enum seqb_status mysql_claim_stand(struct mysql_link *link, const char *name,
                                   const char *text, char *standing,
                                   size_t size, struct seqb_error *err);
