/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the user may do what serving counters needs. EXPLAIN checks the
 * rights of the explained statement, and executes nothing. */
#include "backends/postgres/transaction.h"

#define INSERT_COUNTER_SQL                                                     \
    "EXPLAIN INSERT INTO seqb_counters (name, value, origin)"                  \
    " VALUES ('', 0, '')"

static const char *const needs[] = {
    "EXPLAIN UPDATE seqb_counters SET value = value WHERE name = ''",
    INSERT_COUNTER_SQL,
    "EXPLAIN INSERT INTO seqb_claims (name, text) VALUES ('', '')",
    "EXPLAIN UPDATE seqb_claims SET text = text WHERE name = ''",
};

static enum seqb_status need_ask(struct postgres_link *link, const char *sql,
                                 struct seqb_error *err)
{
    PGresult *plan = NULL;
    enum seqb_status status;

    postgres_link_add(link, sql, 0, NULL);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = postgres_link_read(link, PGRES_TUPLES_OK, &plan, err);
    PQclear(plan);
    if (status == SEQB_OK)
        return postgres_link_finish(link, err);
    (void)postgres_link_abandon(link);
    return status;
}

enum seqb_status postgres_permits(struct seqb_backend *backend,
                                  const char *counter, struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    enum seqb_status status =
        postgres_link_begin(&postgres->link, postgres->timeout_ms, err);

    (void)counter; /* all counters are rows of one table */
    for (size_t i = 0; i < sizeof needs / sizeof needs[0] && status == SEQB_OK;
         i++)
        status = need_ask(&postgres->link, needs[i], err);
    return status;
}
