/* SPDX-License-Identifier: Apache-2.0 */
/* Raising a counter in PostgreSQL, and binding it to the store as it is. */
#include <inttypes.h>
#include <string.h>

#include "backends/postgres/transaction.h"
#include "backends/sql/sql.h"
#include "platform/error.h"

#define NUMERIC_VALUE_OUT_OF_RANGE "22003"

/* The base first, in every raise: it is the lock under which brokers mend a
 * store that changed one after the other. What is kept beside it changes only
 * if it does. */
static const char raise_base_sql[] =
    "WITH base AS (INSERT INTO seqb_counters (name, value, origin)"
    " VALUES ('', greatest($1::bigint, $3::bigint), $2)"
    " ON CONFLICT (name) DO UPDATE"
    " SET value = seqb_counters.value + $1::bigint, origin = $2"
    " WHERE seqb_counters.origin <> $2 AND seqb_counters.value >= 0"
    " RETURNING name)"
    " INSERT INTO seqb_counters (name, value, origin)"
    " SELECT '" PERIOD_MARK_BASE "', $4::bigint, $2 FROM base"
    " WHERE $4::bigint > 0 ON CONFLICT (name) DO UPDATE SET"
    " value = greatest(seqb_counters.value, excluded.value), origin = $2";

/* But for one that was purged; its mark is locked as reserve.c has
 * it. */
static const char raise_found_sql[] =
    "WITH mark AS (SELECT origin FROM seqb_counters"
    " WHERE name = $3 FOR SHARE)"
    " INSERT INTO seqb_counters (name, value, origin)"
    " SELECT $1, value, origin FROM seqb_counters"
    " WHERE name = '' AND origin = $2 AND value >= 0"
    " AND NOT EXISTS (SELECT FROM mark WHERE origin COLLATE \"C\" > $1)"
    " ON CONFLICT (name) DO NOTHING";

static const char raise_row_sql[] =
    "UPDATE seqb_counters SET origin = $4, value = greatest($2::bigint,"
    " CASE origin WHEN $4 THEN value ELSE value + $3::bigint END)"
    " WHERE name = $1 AND value >= 0 RETURNING value";

static const char raise_over_sql[] =
    "SELECT FROM seqb_counters WHERE name = $2 AND origin COLLATE \"C\" > $1"
    " AND NOT EXISTS (SELECT FROM seqb_counters WHERE name = $1)";

static void raise_ask(struct postgres *postgres, const struct seqb_raise *raise)
{
    char floor[POSTGRES_NUMBER_SIZE];
    char gap[POSTGRES_NUMBER_SIZE];
    char base_gap[POSTGRES_NUMBER_SIZE];
    char base_floor[POSTGRES_NUMBER_SIZE];
    char base_ms[POSTGRES_NUMBER_SIZE];
    char name[SEQB_COUNTER_SIZE];
    const char *const mark = period_is_stamped(raise->counter) ? name : NULL;
    const char *const origin = postgres->base.origin;
    const char *const base[] = {base_gap, origin, base_floor, base_ms};
    const char *const found[] = {raise->counter, origin, mark};
    const char *const row[] = {raise->counter, floor, gap, origin};
    const char *const over[] = {raise->counter, mark};

    (void)period_mark_name(raise->counter, name);
    postgres_number_make(raise->floor, floor);
    postgres_number_make(raise->gap, gap);
    postgres_number_make(raise->base_gap, base_gap);
    postgres_number_make(raise->base_floor, base_floor);
    postgres_number_make(raise->base_ms, base_ms);
    postgres_link_add(&postgres->link, raise_base_sql, 4, base);
    postgres_link_add(&postgres->link, raise_found_sql, 3, found);
    postgres_link_add(&postgres->link, raise_row_sql, 4, row);
    postgres_link_add(&postgres->link, raise_over_sql, 2, over);
}

static enum seqb_status raise_exhausted(const struct postgres *postgres,
                                        const struct seqb_raise *raise,
                                        struct seqb_error *err)
{
    return error_set(err, SEQB_EXHAUSTED,
                     "%s: counter %s: no value is left below %" PRId64,
                     postgres->link.where, raise->counter, raise->limit);
}

/* Overwrites what the row said, if that is why there is none. */
static enum seqb_status raise_hear_over(struct postgres *postgres,
                                        const struct seqb_raise *raise,
                                        enum seqb_status status,
                                        struct seqb_error *err)
{
    PGresult *result = NULL;
    struct seqb_error why;
    const enum seqb_status read =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &result, &why);
    const bool is_over = read == SEQB_OK && PQntuples(result) > 0;

    PQclear(result);
    if (read != SEQB_OK)
        return error_copy(err, &why);
    if (!is_over)
        return status;
    return error_set(err, SEQB_EXHAUSTED,
                     "%s: counter %s: its period is over and was purged",
                     postgres->link.where, raise->counter);
}

static enum seqb_status raise_judge(const struct postgres *postgres,
                                    const struct seqb_raise *raise,
                                    const PGresult *result, int64_t *value,
                                    struct seqb_error *err)
{
    if (PQntuples(result) != 1 || !postgres_number_read(result, 0, value))
        return error_set(err, SEQB_CORRUPT,
                         "%s: counter %s or the base is damaged",
                         postgres->link.where, raise->counter);
    if (*value > raise->limit)
        return raise_exhausted(postgres, raise, err);
    return SEQB_OK;
}

static enum seqb_status raise_hear(struct postgres *postgres,
                                   const struct seqb_raise *raise,
                                   int64_t *value, struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status = postgres_transaction_check(postgres, err);

    if (status == SEQB_OK)
        status = postgres_done_read(postgres, err);
    if (status == SEQB_OK)
        status = postgres_done_read(postgres, err);
    if (status == SEQB_OK)
        status =
            postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &result, err);
    if (status == SEQB_OK) {
        status = raise_judge(postgres, raise, result, value, err);
        status = raise_hear_over(postgres, raise, status, err);
    }
    PQclear(result);
    if (strcmp(postgres->link.state, NUMERIC_VALUE_OUT_OF_RANGE) == 0)
        status = raise_exhausted(postgres, raise, err);
    return status;
}

/* The commit is sent once the store is known to be the one that was opened,
 * and the value to be below the limit. */
enum seqb_status postgres_raise(struct seqb_backend *backend,
                                const struct seqb_raise *raise, int64_t *out,
                                struct seqb_error *err)
{
    struct postgres *postgres = (struct postgres *)backend;
    struct postgres_link *link = &postgres->link;
    int64_t value = 0;
    enum seqb_status status =
        postgres_link_begin(link, postgres->timeout_ms, err);

    if (status != SEQB_OK)
        return status;
    postgres_transaction_begin(postgres);
    raise_ask(postgres, raise);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = raise_hear(postgres, raise, &value, err);
    if (status != SEQB_OK) {
        (void)postgres_link_abandon(link);
        return status;
    }
    status = postgres_link_finish(link, err);
    if (status == SEQB_OK) {
        postgres_link_add_commit(link);
        status = postgres_link_send(link, err);
    }
    if (status == SEQB_OK)
        status = postgres_transaction_end(postgres, err);
    if (status == SEQB_OK)
        *out = value;
    return status;
}
