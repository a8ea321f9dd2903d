/* SPDX-License-Identifier: Apache-2.0 */
/* Raising a counter in PostgreSQL, and binding it to the store as it is. */
#include <inttypes.h>
#include <string.h>

#include "backends/postgres_transaction.h"
#include "platform/error.h"

#define NUMERIC_VALUE_OUT_OF_RANGE "22003"

/* The base first, in every raise: it is the lock under which brokers mend a
 * store that changed one after the other. */
static const char raise_base_sql[] =
    "INSERT INTO seqb_counters (name, value, origin)"
    " VALUES ('', greatest($1::bigint, $3::bigint), $2)"
    " ON CONFLICT (name) DO UPDATE"
    " SET value = seqb_counters.value + $1::bigint, origin = $2"
    " WHERE seqb_counters.origin <> $2 AND seqb_counters.value >= 0";

static const char raise_found_sql[] =
    "INSERT INTO seqb_counters (name, value, origin)"
    " SELECT $1, value, origin FROM seqb_counters"
    " WHERE name = '' AND origin = $2 AND value >= 0"
    " ON CONFLICT (name) DO NOTHING";

static const char raise_row_sql[] =
    "UPDATE seqb_counters SET origin = $4, value = greatest($2::bigint,"
    " CASE origin WHEN $4 THEN value ELSE value + $3::bigint END)"
    " WHERE name = $1 AND value >= 0 RETURNING value";

static void raise_ask(struct postgres *postgres, const struct seqb_raise *raise)
{
    char floor[POSTGRES_NUMBER_SIZE];
    char gap[POSTGRES_NUMBER_SIZE];
    char base_gap[POSTGRES_NUMBER_SIZE];
    char base_floor[POSTGRES_NUMBER_SIZE];
    const char *const origin = postgres->base.origin;
    const char *const base[] = {base_gap, origin, base_floor};
    const char *const found[] = {raise->counter, origin};
    const char *const row[] = {raise->counter, floor, gap, origin};

    postgres_number_make(raise->floor, floor);
    postgres_number_make(raise->gap, gap);
    postgres_number_make(raise->base_gap, base_gap);
    postgres_number_make(raise->base_floor, base_floor);
    postgres_link_add(&postgres->link, raise_base_sql, 3, base);
    postgres_link_add(&postgres->link, raise_found_sql, 2, found);
    postgres_link_add(&postgres->link, raise_row_sql, 4, row);
}

static enum seqb_status raise_exhausted(const struct postgres *postgres,
                                        const struct seqb_raise *raise,
                                        struct seqb_error *err)
{
    return error_set(err, SEQB_EXHAUSTED,
                     "%s: counter %s: no value is left below %" PRId64,
                     postgres->link.where, raise->counter, raise->limit);
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
    if (status == SEQB_OK)
        status = raise_judge(postgres, raise, result, value, err);
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
