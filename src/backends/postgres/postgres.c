/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The postgres engine: direct counters, each a row that has the origin in which
 * its value is valid. It does not use sequence objects: a crash may lose what
 * nextval() answered (docs/guarantees.md). This file has opening, claims and
 * the clock; the counters are in list.c, reserve.c, rows.c and purge.c.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/postgres/primary.h"
#include "backends/postgres/session.h"
#include "backends/postgres/transaction.h"
#include "platform/error.h"
#include "platform/text.h"

static char library[32]; /* written once */

static void library_init(void)
{
    (void)text_format(library, sizeof library, "libpq %d.%d",
                      PQlibVersion() / 10000, PQlibVersion() % 10000);
}

static const char *postgres_library(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, library_init);
    return library;
}

static struct postgres *postgres_of(struct seqb_backend *backend)
{
    return (struct postgres *)backend;
}

/* --- claims --- */

enum claim_column { CLAIM_TEXT, CLAIM_FILE, CLAIM_RUN, CLAIM_COLUMNS };

static const char read_sql[] =
    "SELECT (SELECT text FROM seqb_claims WHERE "
    "name = $1), " POSTGRES_CLAIMS_FILE ", " POSTGRES_RUN;

static enum seqb_status claim_copy(const struct postgres *postgres,
                                   const char *name, const PGresult *result,
                                   char *standing, size_t size,
                                   struct seqb_error *err)
{
    /* "" if there is none */
    if (!text_copy(standing, size, PQgetvalue(result, 0, CLAIM_TEXT)))
        return error_set(err, SEQB_PROTOCOL,
                         "%s: claim '%s' is longer than %zu bytes",
                         postgres->link.where, name, size - 1);
    return SEQB_OK;
}

/* True in the store that was opened. It is part of the statement because the
 * COMMIT was already sent when the answers arrive. A restored dump replaces one
 * table after the other; a statement that changes seqb_claims has the table
 * locked while this is computed. */
#define IS_SAME                                                                \
    "current_setting('seqbroker.origin') = $3 AND " POSTGRES_CLAIMS_FILE " = " \
    "$4 AND ($5::text IS NULL OR " POSTGRES_RUN " = $5)"

static const char claim_sql[] =
    "INSERT INTO seqb_claims (name, text) SELECT $1, $2 WHERE " IS_SAME
    " ON CONFLICT (name) DO NOTHING";

/* A text that is already stored is written again, because its commit may not
 * have reached the standbys that it waits for. */
static const char swap_sql[] =
    "UPDATE seqb_claims SET text = $2"
    " WHERE name = $1 AND text IN ($2, $6) AND " IS_SAME;
static const char swap_none_sql[] =
    "INSERT INTO seqb_claims AS claim (name, text)"
    " SELECT $1, $2 WHERE " IS_SAME
    " ON CONFLICT (name) DO UPDATE SET text = $2 WHERE claim.text = $2";

/* A change of a claim. */
struct claim_change {
    const char *sql; /* NULL: only read */
    const char *name;
    const char *text;
    const char *expected;         /* NULL: `sql` has no $6 */
    const struct seqb_swap *swap; /* NULL: a claim */
};

/* The incarnation that the store must have; NULL: any. */
static const char *incarnation_of(const struct postgres *postgres,
                                  const struct claim_change *change)
{
    const char *opened = postgres->sql.base.incarnation;

    if (change->swap != NULL && change->swap->incarnation != NULL)
        return change->swap->incarnation;
    return opened[0] != '\0' ? opened : NULL;
}

static void change_add(struct postgres *postgres,
                       const struct claim_change *change)
{
    const char *const arguments[] = {change->name,
                                     change->text,
                                     postgres->link.store,
                                     postgres->link.claims,
                                     incarnation_of(postgres, change),
                                     change->expected};

    if (change->sql != NULL)
        postgres_link_add(&postgres->link, change->sql,
                          change->expected != NULL ? 6 : 5, arguments);
    postgres_link_add(&postgres->link, read_sql, 1, arguments);
}

static void claim_ask(struct postgres *postgres,
                      const struct claim_change *change)
{
    postgres_transaction_begin(postgres);
    change_add(postgres, change);
    postgres_link_add_commit(&postgres->link);
}

static enum seqb_status run_check(const struct postgres *postgres,
                                  const struct claim_change *change,
                                  const char *now, struct seqb_error *err)
{
    const struct seqb_backend *base = &postgres->sql.base;
    const char *where = postgres->link.where;

    return change->swap != NULL
               ? sql_swap_check(base, change->swap, now, where, err)
               : sql_incarnation_check(base, now, where, err);
}

static enum seqb_status claims_check(struct postgres *postgres,
                                     const struct claim_change *change,
                                     const PGresult *result,
                                     struct seqb_error *err)
{
    if (PQntuples(result) != 1 || PQnfields(result) != CLAIM_COLUMNS)
        return postgres_link_distrust(&postgres->link, "a claim", err);
    if (strcmp(PQgetvalue(result, 0, CLAIM_FILE), postgres->link.claims) == 0)
        return run_check(postgres, change, PQgetvalue(result, 0, CLAIM_RUN),
                         err);
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: seqb_claims is another table than the one that was "
                     "opened, open it again",
                     postgres->link.where);
}

/* Reads the answers to change_add: the stored text, to be freed by the caller;
 * it may be NULL on failure. */
static enum seqb_status change_read(struct postgres *postgres,
                                    const struct claim_change *change,
                                    PGresult **out, struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (change->sql != NULL)
        status = postgres_done_read(postgres, err);
    if (status == SEQB_OK)
        status = postgres_link_read(&postgres->link, PGRES_TUPLES_OK, out, err);
    return status == SEQB_OK ? claims_check(postgres, change, *out, err)
                             : status;
}

/* As change_read, with the begin and the end of the transaction. */
static enum seqb_status claim_receive(struct postgres *postgres,
                                      const struct claim_change *change,
                                      PGresult **out, struct seqb_error *err)
{
    enum seqb_status status = postgres_transaction_check(postgres, err);

    if (status == SEQB_OK)
        status = change_read(postgres, change, out, err);
    return status == SEQB_OK ? postgres_transaction_end(postgres, err) : status;
}

static enum seqb_status claim_run(struct postgres *postgres,
                                  const struct claim_change *change,
                                  char *standing, size_t size,
                                  struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_begin(&postgres->link, postgres->timeout_ms, err);

    if (status != SEQB_OK)
        return status;
    claim_ask(postgres, change);
    status = postgres_link_send(&postgres->link, err);
    if (status == SEQB_OK)
        status = claim_receive(postgres, change, &result, err);
    if (status == SEQB_OK)
        status =
            claim_copy(postgres, change->name, result, standing, size, err);
    else
        (void)postgres_link_abandon(&postgres->link);
    PQclear(result);
    return status;
}

static enum seqb_status postgres_claim(struct seqb_backend *backend,
                                       const char *name, const char *text,
                                       char *standing, size_t size,
                                       struct seqb_error *err)
{
    const struct claim_change change = {
        .sql = text != NULL ? claim_sql : NULL, .name = name, .text = text};

    return claim_run(postgres_of(backend), &change, standing, size, err);
}

/* This many are inserted within a few ms, each by its own statement. */
#define CLAIMS_MAX 256

static struct claim_change change_of(const struct seqb_claim *claim)
{
    return (struct claim_change){.sql = claim->text != NULL ? claim_sql : NULL,
                                 .name = claim->name,
                                 .text = claim->text};
}

static enum seqb_status claims_receive(struct postgres *postgres,
                                       struct seqb_claim *const *claims,
                                       size_t n, struct seqb_error *err)
{
    enum seqb_status status = postgres_transaction_check(postgres, err);

    for (size_t i = 0; i < n && status == SEQB_OK; i++) {
        const struct claim_change change = change_of(claims[i]);
        PGresult *result = NULL;

        status = change_read(postgres, &change, &result, err);
        if (status == SEQB_OK) /* a text that is too long is cut */
            (void)text_copy(claims[i]->standing, sizeof claims[i]->standing,
                            PQgetvalue(result, 0, CLAIM_TEXT));
        PQclear(result);
    }
    return status == SEQB_OK ? postgres_transaction_end(postgres, err) : status;
}

/* Sends the statements of each single claim, all in one transaction and one
 * round trip. */
static enum seqb_status postgres_claim_many(struct seqb_backend *backend,
                                            struct seqb_claim *claims, size_t n,
                                            size_t *done,
                                            struct seqb_error *err)
{
    struct postgres *postgres = postgres_of(backend);
    struct seqb_claim *ordered[CLAIMS_MAX];
    enum seqb_status status =
        postgres_link_begin(&postgres->link, postgres->timeout_ms, err);

    *done = n < CLAIMS_MAX ? n : CLAIMS_MAX;
    if (status != SEQB_OK)
        return status;
    for (size_t i = 0; i < *done; i++)
        ordered[i] = &claims[i];
    qsort(ordered, *done, sizeof(struct seqb_claim *), sql_claim_order);
    postgres_transaction_begin(postgres);
    for (size_t i = 0; i < *done; i++) {
        const struct claim_change change = change_of(ordered[i]);

        change_add(postgres, &change);
    }
    postgres_link_add_commit(&postgres->link);
    status = postgres_link_send(&postgres->link, err);
    if (status == SEQB_OK)
        status = claims_receive(postgres, ordered, *done, err);
    if (status != SEQB_OK)
        (void)postgres_link_abandon(&postgres->link);
    return status;
}

static enum seqb_status postgres_swap(struct seqb_backend *backend,
                                      const struct seqb_swap *swap,
                                      char *standing, size_t size,
                                      struct seqb_error *err)
{
    const bool is_none = swap->expected[0] == '\0';
    const struct claim_change change = {
        .sql = is_none ? swap_none_sql : swap_sql,
        .name = swap->name,
        .text = swap->text,
        .expected = is_none ? NULL : swap->expected,
        .swap = swap};

    return claim_run(postgres_of(backend), &change, standing, size, err);
}

/* --- clock --- */

static enum seqb_status postgres_clock(struct seqb_backend *backend,
                                       int64_t *out_ms, struct seqb_error *err)
{
    struct postgres *postgres = postgres_of(backend);
    struct postgres_link *link = &postgres->link;
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_begin(link, postgres->timeout_ms, err);

    if (status != SEQB_OK)
        return status;
    postgres_link_add(
        link,
        "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint", 0,
        NULL);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = postgres_link_read(link, PGRES_TUPLES_OK, &result, err);
    if (status == SEQB_OK &&
        (PQntuples(result) != 1 || !postgres_number_read(result, 0, out_ms)))
        status = postgres_link_distrust(link, "the time", err);
    PQclear(result);
    if (status == SEQB_OK)
        return postgres_link_finish(link, err);
    (void)postgres_link_abandon(link);
    return status;
}

/* --- open and close --- */

static void postgres_close(struct seqb_backend *backend)
{
    if (backend == NULL)
        return;
    postgres_link_close(&postgres_of(backend)->link);
    free(backend);
}

static enum seqb_status
postgres_open(const struct seqb_backend_options *options,
              struct seqb_backend **out, struct seqb_error *err)
{
    struct postgres *postgres = calloc(1, sizeof *postgres);
    enum seqb_status status;

    if (postgres == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                         options->name);
    postgres->sql.base.ops = &backend_postgres;
    postgres->sql.base.fd = -1;
    postgres->sql.dialect = &postgres_dialect;
    postgres->sql.where = postgres->link.where;
    postgres->timeout_ms = options->timeout_ms;
    status = postgres_primary_open(&postgres->link, &postgres->sql.base,
                                   options, err);
    if (status == SEQB_OK)
        status = postgres_base_bind(postgres, err);
    if (status != SEQB_OK) {
        postgres_close(&postgres->sql.base);
        return status;
    }
    *out = &postgres->sql.base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_postgres = {
    .engine = "postgres",
    .guarantee = SEQB_DIRECT,
    .library = postgres_library,
    .open = postgres_open,
    .reserve = sql_reserve,
    .raise = sql_raise,
    .install = sql_install,
    .claim = postgres_claim,
    .claim_many = postgres_claim_many,
    .describe = postgres_describe,
    .swap = postgres_swap,
    .purge = postgres_purge,
    .list = postgres_list,
    .clock = postgres_clock,
    .close = postgres_close,
    .permits = postgres_permits,
};
