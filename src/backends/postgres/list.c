/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the counters, or claims, of a PostgreSQL store page by page. */
#include <string.h>

#include "backends/postgres/session.h"
#include "backends/postgres/transaction.h"
#include "platform/error.h"
#include "platform/text.h"

/* Sorts by bytes, which may differ from the database's own order. */
#define LIST_SQL(what)                                                         \
    "SELECT name, " what " WHERE name COLLATE \"C\" >= $1"                     \
    " AND name COLLATE \"C\" < $2 ORDER BY name COLLATE \"C\" LIMIT $3::int"

/* Read afterwards, when the table is locked in its current file. */
static const char run_sql[] = "SELECT " POSTGRES_RUN;

enum list_column { LIST_NAME, LIST_VALUE, LIST_COLUMNS };

static void page_ask(struct postgres *postgres, const struct seqb_page *page,
                     const struct sql_range *range)
{
    char most[POSTGRES_NUMBER_SIZE];
    const char *const arguments[] = {range->from, range->to, most};

    postgres_number_make(page->most, most);
    postgres_transaction_begin(postgres);
    postgres_link_add(&postgres->link,
                      page->is_of_claims ? LIST_SQL("0 FROM seqb_claims")
                                         : LIST_SQL("value FROM seqb_counters"),
                      3, arguments);
    postgres_link_add(&postgres->link, run_sql, 0, NULL);
    postgres_link_add_commit(&postgres->link);
}

static enum seqb_status rows_add(struct postgres *postgres,
                                 struct seqb_page *page, const PGresult *rows,
                                 struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (PQnfields(rows) != LIST_COLUMNS)
        return postgres_link_distrust(&postgres->link, "a page", err);
    for (int i = 0; i < PQntuples(rows) && status == SEQB_OK; i++) {
        const char *value = PQgetvalue(rows, i, LIST_VALUE);
        int64_t number;

        if (!text_to_int64(value, strlen(value), &number))
            number = -1;
        status = sql_page_add(page, PQgetvalue(rows, i, LIST_NAME), number,
                              postgres->link.where, err);
    }
    return status;
}

static enum seqb_status rows_receive(struct postgres *postgres,
                                     struct seqb_page *page,
                                     struct seqb_error *err)
{
    PGresult *rows = NULL;
    enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &rows, err);

    if (status == SEQB_OK)
        status = rows_add(postgres, page, rows, err);
    PQclear(rows);
    return status;
}

static enum seqb_status run_receive(struct postgres *postgres,
                                    struct seqb_error *err)
{
    PGresult *run = NULL;
    enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &run, err);

    if (status == SEQB_OK && PQntuples(run) != 1)
        status = postgres_link_distrust(&postgres->link, "its run", err);
    if (status == SEQB_OK)
        status =
            sql_incarnation_check(&postgres->sql.base, PQgetvalue(run, 0, 0),
                                  postgres->link.where, err);
    PQclear(run);
    return status;
}

enum seqb_status postgres_list(struct seqb_backend *backend,
                               struct seqb_page *page, struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    struct sql_range range;
    enum seqb_status status =
        sql_page_begin(page, &range, postgres->link.where, err);

    if (status == SEQB_OK)
        status =
            postgres_link_begin(&postgres->link, postgres->timeout_ms, err);
    if (status != SEQB_OK)
        return status;
    page_ask(postgres, page, &range);
    status = postgres_link_send(&postgres->link, err);
    if (status == SEQB_OK)
        status = postgres_transaction_check(postgres, err);
    if (status == SEQB_OK)
        status = rows_receive(postgres, page, err);
    if (status == SEQB_OK)
        status = run_receive(postgres, err);
    if (status == SEQB_OK)
        status = postgres_transaction_end(postgres, err);
    if (status != SEQB_OK)
        (void)postgres_link_abandon(&postgres->link);
    return status;
}
