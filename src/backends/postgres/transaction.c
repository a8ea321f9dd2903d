/* SPDX-License-Identifier: Apache-2.0 */
/* The begin and the end of a transaction of the postgres engine. */
#include "backends/postgres/transaction.h"

#include <inttypes.h>
#include <string.h>

#include "backends/postgres/session.h"
#include "platform/error.h"
#include "platform/text.h"

void postgres_number_make(int64_t value, char out[static POSTGRES_NUMBER_SIZE])
{
    (void)text_format(out, POSTGRES_NUMBER_SIZE, "%" PRId64, value);
}

/* A column as a number; false if it is anything else. */
bool postgres_number_read(const PGresult *result, int column, int64_t *out)
{
    return PQgetisnull(result, 0, column) == 0 &&
           text_to_int64(PQgetvalue(result, 0, column),
                         (size_t)PQgetlength(result, 0, column), out);
}

/* --- transactions --- */

/*
 * A lock wait ends before the caller's deadline, and a commit is on disk
 * whatever the session's default is: with `off` it would be acknowledged
 * before. The origin is that of this transaction, because reading the table
 * locks it in its current file. The origin is none, so that the statements
 * behind it change nothing, if settings lose commits ("", unless $3 accepts
 * that) or if a trigger, a rule or row-level security was made since the tables
 * were opened (ALTERED).
 */
#define ALTERED "altered"
#define PRELUDE(is_altered)                                                    \
    "SELECT set_config('lock_timeout', $1, true),"                             \
    " set_config('idle_in_transaction_session_timeout', $2, true),"            \
    " set_config('synchronous_commit',"                                        \
    " CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'"         \
    " ELSE current_setting('synchronous_commit') END, true),"                  \
    " set_config('seqbroker.origin', CASE"                                     \
    " WHEN $3 = '' AND (" POSTGRES_LOSSES ") <> '' THEN ''"                    \
    " WHEN " is_altered " THEN '" ALTERED "'"                                  \
    " ELSE " POSTGRES_ORIGIN_OR_NONE " END, true),"                            \
    " CASE $3 WHEN '' THEN " POSTGRES_LOSSES " ELSE '' END,"                   \
    " (SELECT value FROM seqb_counters WHERE name = ''),"                      \
    " " POSTGRES_INCARNATION

static const char prelude[] = PRELUDE(POSTGRES_MARKED);

/* What marked the tables at open was none of these, but may hide one. */
static const char prelude_of_marked[] = PRELUDE(POSTGRES_INTRUDER " <> ''");

enum prelude_column {
    PRELUDE_LOCK,
    PRELUDE_IDLE,
    PRELUDE_SYNC,
    PRELUDE_ORIGIN,
    PRELUDE_LOSSES,
    PRELUDE_VALUE,
    PRELUDE_INCARNATION,
    PRELUDE_COLUMNS
};

/* READ COMMITTED, so that a statement that waited for another broker's
 * transaction sees its result. Not READ WRITE: a server that was made read-only
 * must stay so. */
void postgres_transaction_begin(struct postgres *postgres)
{
    char lock_ms[POSTGRES_NUMBER_SIZE];
    char idle_ms[POSTGRES_NUMBER_SIZE];
    const char *const arguments[] = {
        lock_ms, idle_ms, postgres->link.accepts_loss ? "accepted" : ""};

    postgres_number_make(postgres->timeout_ms / 2 + 1, lock_ms);
    postgres_number_make(postgres->timeout_ms + 1, idle_ms);
    postgres_link_add(&postgres->link, "BEGIN ISOLATION LEVEL READ COMMITTED",
                      0, NULL);
    postgres_link_add(&postgres->link,
                      postgres->link.is_marked ? prelude_of_marked : prelude, 3,
                      arguments);
}

/* The claims were compared in the store that was opened: if a pooler now leads
 * to another store, the pool must start again. */
static enum seqb_status prelude_check(struct postgres *postgres,
                                      const PGresult *result,
                                      struct seqb_error *err)
{
    const char *where = postgres->link.where;
    const char *origin;

    if (PQntuples(result) != 1 || PQnfields(result) != PRELUDE_COLUMNS)
        return postgres_link_distrust(&postgres->link, "its origin", err);
    if (*PQgetvalue(result, 0, PRELUDE_LOSSES) != '\0')
        return postgres_loss_refuse(&postgres->link,
                                    PQgetvalue(result, 0, PRELUDE_LOSSES), err);
    origin = PQgetvalue(result, 0, PRELUDE_ORIGIN);
    if (strcmp(origin, "") == 0)
        return error_set(err, SEQB_ROLE,
                         "%s: the server is a standby by now: give its "
                         "primary's address",
                         where);
    if (strcmp(origin, ALTERED) == 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the tables got a trigger, a rule or row-level "
                         "security since they were opened, open them again",
                         where);
    if (strcmp(origin, postgres->link.store) != 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the store is another than the one that was "
                         "opened (%s, was %s), open it again",
                         where, origin, postgres->link.store);
    if (strcmp(PQgetvalue(result, 0, PRELUDE_SYNC), "off") == 0)
        return error_set(err, SEQB_UNSAFE, "%s: synchronous_commit stays off",
                         where);
    (void)text_format(postgres->sql.now, sizeof postgres->sql.now, "%s/%s",
                      origin, PQgetvalue(result, 0, PRELUDE_INCARNATION));
    return SEQB_OK;
}

/* Reads the answers to postgres_transaction_begin. */
enum seqb_status postgres_transaction_check(struct postgres *postgres,
                                            struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_COMMAND_OK, &result, err);

    PQclear(result);
    result = NULL;
    if (status == SEQB_OK)
        status =
            postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &result, err);
    if (status == SEQB_OK)
        status = prelude_check(postgres, result, err);
    PQclear(result);
    return status;
}

enum seqb_status postgres_transaction_end(struct postgres *postgres,
                                          struct seqb_error *err)
{
    enum seqb_status status = postgres_link_read_commit(&postgres->link, err);

    if (status == SEQB_OK)
        status = postgres_link_finish(&postgres->link, err);
    return status;
}

/* Reads the answer to a statement that returns no row. */
enum seqb_status postgres_done_read(struct postgres *postgres,
                                    struct seqb_error *err)
{
    PGresult *result = NULL;
    const enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_COMMAND_OK, &result, err);

    PQclear(result);
    return status;
}
