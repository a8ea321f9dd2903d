/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the user may do what serving rows needs. EXPLAIN checks the rights of
 * the explained statement, and executes nothing. */
#include "backends/mysql/mysql.h"

#define INSERT_COUNTER_SQL                                                     \
    "EXPLAIN INSERT INTO seqb_counters (name, value, origin) "                 \
    "VALUES ('', 0, '')"

static const char *const needs[] = {
    "EXPLAIN UPDATE seqb_counters SET value = value WHERE name = ''",
    INSERT_COUNTER_SQL,
    "EXPLAIN INSERT INTO seqb_claims (name, text) VALUES ('', '')",
    "EXPLAIN UPDATE seqb_claims SET text = text WHERE name = ''",
};

enum seqb_status mysql_permits(struct seqb_backend *backend,
                               const char *counter, struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    enum seqb_status status = mysql_link_begin(link, err);

    (void)counter; /* all rows are of the same tables */
    for (size_t i = 0; i < sizeof needs / sizeof needs[0] && status == SEQB_OK;
         i++) {
        mysql_link_add(link, "%s", needs[i]);
        status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    }
    return status;
}
