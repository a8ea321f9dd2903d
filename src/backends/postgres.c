/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The postgres engine: direct counters, each a row that carries the origin in
 * which its value holds. No sequence objects: what nextval() answered may be
 * forgotten in a crash (docs/guarantees.md). Here are opening and claims; the
 * counters are in postgres_reserve.c and postgres_raise.c.
 */
#include <pthread.h>
#include <stdlib.h>

#include "backends/backends.h"
#include "backends/postgres_session.h"
#include "backends/postgres_transaction.h"
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

static enum seqb_status postgres_install(struct seqb_backend *backend,
                                         const struct seqb_window *window,
                                         int64_t *standing,
                                         struct seqb_error *err)
{
    (void)standing;
    return error_set(err, SEQB_INVALID, "%s: %s: has no windows",
                     postgres_of(backend)->link.where, window->counter);
}

/* --- claims --- */

static enum seqb_status claim_judge(struct postgres *postgres, const char *name,
                                    const PGresult *result, char *standing,
                                    size_t size, struct seqb_error *err)
{
    const char *text = "";

    if (PQnfields(result) != 1)
        return postgres_link_distrust(&postgres->link, "a claim", err);
    if (PQntuples(result) > 0)
        text = PQgetvalue(result, 0, 0);
    if (!text_copy(standing, size, text))
        return error_set(err, SEQB_PROTOCOL,
                         "%s: claim '%s' is longer than %zu bytes",
                         postgres->link.where, name, size - 1);
    return SEQB_OK;
}

static void claim_ask(struct postgres *postgres, const char *name,
                      const char *text)
{
    const char *const arguments[] = {name, text};

    postgres_transaction_begin(postgres);
    if (text != NULL)
        postgres_link_add(&postgres->link,
                          "INSERT INTO seqb_claims (name, text) VALUES ($1, $2)"
                          " ON CONFLICT (name) DO NOTHING",
                          2, arguments);
    postgres_link_add(&postgres->link,
                      "SELECT text FROM seqb_claims WHERE name = $1", 1,
                      arguments);
    postgres_link_add_commit(&postgres->link);
}

/* What stands there, for the caller to free; it may be NULL on failure. */
static enum seqb_status claim_hear(struct postgres *postgres, bool is_added,
                                   PGresult **out, struct seqb_error *err)
{
    enum seqb_status status = postgres_transaction_check(postgres, err);

    if (status == SEQB_OK && is_added)
        status = postgres_done_read(postgres, err);
    if (status == SEQB_OK)
        status = postgres_link_read(&postgres->link, PGRES_TUPLES_OK, out, err);
    return status == SEQB_OK ? postgres_transaction_end(postgres, err) : status;
}

static enum seqb_status postgres_claim(struct seqb_backend *backend,
                                       const char *name, const char *text,
                                       char *standing, size_t size,
                                       struct seqb_error *err)
{
    struct postgres *postgres = postgres_of(backend);
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_begin(&postgres->link, postgres->timeout_ms, err);

    if (status != SEQB_OK)
        return status;
    claim_ask(postgres, name, text);
    status = postgres_link_send(&postgres->link, err);
    if (status == SEQB_OK)
        status = claim_hear(postgres, text != NULL, &result, err);
    if (status == SEQB_OK)
        status = claim_judge(postgres, name, result, standing, size, err);
    else
        (void)postgres_link_abandon(&postgres->link);
    PQclear(result);
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
    postgres->base.ops = &backend_postgres;
    postgres->base.fd = -1;
    postgres->timeout_ms = options->timeout_ms;
    status =
        postgres_session_open(&postgres->link, &postgres->base, options, err);
    if (status != SEQB_OK) {
        postgres_close(&postgres->base);
        return status;
    }
    *out = &postgres->base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_postgres = {
    .engine = "postgres",
    .guarantee = SEQB_DIRECT,
    .library = postgres_library,
    .open = postgres_open,
    .reserve = postgres_reserve,
    .raise = postgres_raise,
    .install = postgres_install,
    .claim = postgres_claim,
    .close = postgres_close,
};
