/* SPDX-License-Identifier: Apache-2.0 */
/* Putting a window into the cell whose window is given up for it, in one
 * transaction and one round trip; sql/ serves what else there may be. */
#include <string.h>

#include "backends/postgres/session.h"
#include "backends/postgres/transaction.h"
#include "backends/sql/sql.h"

/* As take_cell_sql of reserve.c: $5 is what stands before the origin in the
 * cell, $3 what comes there. */
static const char renew_sql[] =
    "UPDATE seqb_counters SET value = $2::bigint,"
    " origin = $3 || current_setting('seqbroker.origin') || '/' ||"
    " " POSTGRES_INCARNATION
    " WHERE name = $1 AND value BETWEEN 0 AND $4::bigint"
    " AND origin = $5 || current_setting('seqbroker.origin') || '/' ||"
    " " POSTGRES_INCARNATION;

static void renew_ask(struct postgres *postgres,
                      const struct seqb_window *window)
{
    char take[POSTGRES_NUMBER_SIZE];
    char size[POSTGRES_NUMBER_SIZE];
    char fresh[SQL_CELL_PREFIX_SIZE];
    char over[SQL_CELL_PREFIX_SIZE];
    const char *const arguments[] = {window->counter, take, fresh, size, over};

    postgres_number_make(window->take, take);
    postgres_number_make(window->size, size);
    sql_cell_prefix(window->window, window->size, fresh);
    sql_cell_prefix(window->over, window->size, over);
    postgres_transaction_begin(postgres);
    postgres_link_add(&postgres->link, renew_sql, 5, arguments);
    postgres_link_add_commit(&postgres->link);
}

static enum seqb_status renew_receive(struct postgres *postgres, bool *is_done,
                                      struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status = postgres_transaction_check(postgres, err);
    bool is_changed = false;

    if (status == SEQB_OK)
        status =
            postgres_link_read(&postgres->link, PGRES_COMMAND_OK, &result, err);
    if (status == SEQB_OK)
        is_changed = strcmp(PQcmdTuples(result), "1") == 0;
    PQclear(result);
    if (status == SEQB_OK)
        status = postgres_transaction_end(postgres, err);
    *is_done = status == SEQB_OK && is_changed;
    return status;
}

enum seqb_status postgres_renew(struct seqb_backend *backend,
                                const struct seqb_window *window, bool *is_done,
                                struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    enum seqb_status status;

    renew_ask(postgres, window);
    status = postgres_link_send(&postgres->link, err);
    return status == SEQB_OK ? renew_receive(postgres, is_done, err) : status;
}
