/* SPDX-License-Identifier: Apache-2.0 */
/* Determines from the base what the rows of a store are bound to. */
#include <string.h>

#include "backends/postgres/transaction.h"
#include "platform/error.h"
#include "platform/text.h"

#define BIND_TRIES 4

static const char base_sql[] =
    "SELECT max(origin) FROM seqb_counters WHERE name = ''";

/* Changes nothing if another broker was faster, or if the store has changed. */
static const char bind_sql[] =
    "UPDATE seqb_counters SET origin = $2 WHERE name = '' AND origin = $1"
    " AND current_setting('seqbroker.origin') = $3";

/* "" if there is no base, or it is unbound. */
static enum seqb_status base_receive(struct postgres *postgres,
                                     char out[static SQL_EPOCH_DUE_SIZE],
                                     struct seqb_error *err)
{
    PGresult *result = NULL;
    enum seqb_status status =
        postgres_link_read(&postgres->link, PGRES_TUPLES_OK, &result, err);

    if (status != SEQB_OK)
        return status;
    if (PQntuples(result) != 1 || PQnfields(result) != 1)
        status = postgres_link_distrust(&postgres->link, "its base", err);
    else
        (void)text_copy(out, SQL_EPOCH_DUE_SIZE, PQgetvalue(result, 0, 0));
    PQclear(result);
    return status;
}

static enum seqb_status base_read(struct postgres *postgres,
                                  char out[static SQL_EPOCH_DUE_SIZE],
                                  struct seqb_error *err)
{
    struct postgres_link *link = &postgres->link;
    enum seqb_status status;

    postgres_link_add(link, base_sql, 0, NULL);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = base_receive(postgres, out, err);
    return status == SEQB_OK ? postgres_link_finish(link, err) : status;
}

static enum seqb_status base_write(struct postgres *postgres,
                                   const char *expected, struct seqb_error *err)
{
    struct postgres_link *link = &postgres->link;
    char due[SQL_EPOCH_DUE_SIZE];
    const char *const arguments[] = {expected, due, link->store};
    enum seqb_status status;

    sql_epoch_due(postgres->sql.base.origin, due);
    postgres_transaction_begin(postgres);
    postgres_link_add(link, bind_sql, 3, arguments);
    postgres_link_add_commit(link);
    status = postgres_link_send(link, err);
    if (status == SEQB_OK)
        status = postgres_transaction_check(postgres, err);
    if (status == SEQB_OK)
        status = postgres_done_read(postgres, err);
    return status == SEQB_OK ? postgres_transaction_end(postgres, err) : status;
}

/* A missing base is created and bound by the first raise. */
static enum seqb_status base_bind(struct postgres *postgres,
                                  struct seqb_error *err)
{
    const struct postgres_link *link = &postgres->link;
    char *origin = postgres->sql.base.origin;

    for (int i = 0; i < BIND_TRIES; i++) {
        char base[SQL_EPOCH_DUE_SIZE] = "";
        enum seqb_status status = base_read(postgres, base, err);

        if (status != SEQB_OK || sql_epoch_read(base, link->store, origin))
            return status;
        status = sql_epoch_make(link->where, base, link->store, origin, err);
        if (status != SEQB_OK || base[0] == '\0')
            return status;
        status = base_write(postgres, base, err);
        if (status != SEQB_OK)
            return status;
    }
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: its base could not be bound to it: other brokers "
                     "were faster",
                     link->where);
}

enum seqb_status postgres_base_bind(struct postgres *postgres,
                                    struct seqb_error *err)
{
    const enum seqb_status status =
        postgres_link_begin(&postgres->link, postgres->timeout_ms, err);

    return status == SEQB_OK ? base_bind(postgres, err) : status;
}
