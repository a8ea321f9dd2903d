/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Purging from PostgreSQL, in two transactions in this order: the first stores
 * in the counter's mark what is over, see sql/mark.h; the second deletes rows.
 */
#include <string.h>

#include "backends/postgres/transaction.h"
#include "backends/sql/sql.h"
#include "platform/error.h"
#include "platform/text.h"

/* Statement and commit are sent together, before the answers to the begin of
 * the transaction are read. So each statement itself compares the store with
 * the one that was opened. */
#define SAME_STORE "current_setting('seqbroker.origin') = $4"

static const char note_sql[] =
    "INSERT INTO seqb_counters AS mark (name, value, origin)"
    " SELECT $1, $2::bigint, $3 WHERE " SAME_STORE
    " ON CONFLICT (name) DO UPDATE SET"
    " value = greatest(mark.value, excluded.value),"
    " origin = greatest(mark.origin COLLATE \"C\", excluded.origin)"
    " WHERE mark.value < excluded.value"
    " OR mark.origin COLLATE \"C\" < excluded.origin";

/* Sorts by bytes, which may differ from the database's own order. Rows that
 * others have locked are left for the next purge. */
static const char delete_sql[] =
    "DELETE FROM seqb_counters WHERE ctid = ANY (ARRAY("
    "SELECT ctid FROM seqb_counters WHERE name COLLATE \"C\" > $1 || '@'"
    " AND name COLLATE \"C\" < $2 ORDER BY name COLLATE \"C\""
    " LIMIT $3::int FOR UPDATE SKIP LOCKED)) AND " SAME_STORE;

/* Runs one statement in a transaction; `*changed` is the number of rows that it
 * changed. */
static enum seqb_status change_run(struct postgres *postgres, const char *sql,
                                   const char *const arguments[static 4],
                                   int32_t *changed, struct seqb_error *err)
{
    struct postgres_link *link = &postgres->link;
    PGresult *result = NULL;
    enum seqb_status status;
    int64_t count = 0;

    postgres_transaction_begin(postgres);
    postgres_link_add(link, sql, 4, arguments);
    postgres_link_add_commit(link);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = postgres_transaction_check(postgres, err);
    if (status == SEQB_OK)
        status = postgres_link_read(link, PGRES_COMMAND_OK, &result, err);
    if (status == SEQB_OK) {
        const char *tuples = PQcmdTuples(result);

        if (!text_to_int64(tuples, strlen(tuples), &count))
            status = postgres_link_distrust(link, "a change", err);
    }
    PQclear(result);
    if (status == SEQB_OK)
        status = postgres_transaction_end(postgres, err);
    if (status != SEQB_OK)
        (void)postgres_link_abandon(link);
    *changed = (int32_t)count;
    return status;
}

static enum seqb_status purge_note(struct postgres *postgres,
                                   const struct seqb_purge *purge,
                                   struct seqb_error *err)
{
    char mark[SEQB_COUNTER_SIZE];
    char before[POSTGRES_NUMBER_SIZE];
    const char *const arguments[] = {mark, before, purge->keep,
                                     postgres->link.store};
    int32_t changed;

    if (!sql_purge_is_sane(purge) || !sql_mark_name(purge->counter, mark))
        return error_set(err, SEQB_INVALID,
                         "%s: counter %s: cannot be purged up to %s",
                         postgres->link.where, purge->counter, purge->keep);
    postgres_number_make(purge->before_ms, before);
    return change_run(postgres, note_sql, arguments, &changed, err);
}

static enum seqb_status purge_delete(struct postgres *postgres,
                                     const struct seqb_purge *purge,
                                     int32_t *deleted, struct seqb_error *err)
{
    char most[POSTGRES_NUMBER_SIZE];
    const char *const arguments[] = {purge->counter, purge->keep, most,
                                     postgres->link.store};
    struct seqb_error why;
    enum seqb_status status;

    postgres_number_make(purge->most, most);
    status = change_run(postgres, delete_sql, arguments, deleted, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    if (strcmp(postgres->link.state, POSTGRES_NO_RIGHT) != 0)
        return error_copy(err, &why);
    return error_set(err, SEQB_REFUSED,
                     "%s: old periods of counter %s stay in seqb_counters, "
                     "and numbers go on: run GRANT DELETE ON seqb_counters "
                     "for the broker's user (SQLSTATE %s)",
                     postgres->link.where, purge->counter, POSTGRES_NO_RIGHT);
}

enum seqb_status postgres_purge(struct seqb_backend *backend,
                                const struct seqb_purge *purge,
                                int32_t *deleted, struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    enum seqb_status status =
        postgres_link_begin(&postgres->link, postgres->timeout_ms, err);

    if (status == SEQB_OK)
        status = purge_note(postgres, purge, err);
    if (status != SEQB_OK)
        return status;
    *deleted = 0;
    return purge->most > 0 ? purge_delete(postgres, purge, deleted, err)
                           : SEQB_OK;
}
