/* SPDX-License-Identifier: Apache-2.0 */
/* What both mysql engines do to open a store, how its rows are spoken to, and
 * its clock. */
#include "backends/mysql/mysql.h"

#include "backends/mysql/claim.h"
#include "backends/mysql/server.h"
#include "platform/error.h"
#include "platform/text.h"

#define BIND_TRIES 4

static enum seqb_status call_begin(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    return mysql_link_begin(&((struct mysql *)backend)->link, err);
}

static const struct sql_dialect dialect = {
    .begin = call_begin,
    .take = mysql_rows_take,
    .lock = mysql_rows_lock,
    .commit = mysql_rows_commit,
    .abandon = mysql_rows_abandon,
    .blames_row = mysql_rows_blame,
};

enum seqb_status mysql_store_connect(struct mysql *mysql,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err)
{
    enum seqb_status status;

    mysql->sql.base.fd = -1;
    mysql->sql.dialect = &dialect;
    mysql->sql.where = mysql->link.where;
    mysql->may_create = options->auto_create;
    status = mysql_link_open(&mysql->link, options, err);
    return status == SEQB_OK ? mysql_server_check(&mysql->link, options,
                                                  &mysql->sql.base, err)
                             : status;
}

static bool column_copy(const struct mysql_link *link, unsigned column,
                        char out[static SEQB_ORIGIN_SIZE])
{
    const char *text = mysql_link_text(link, column);

    return text != NULL && text_copy(out, SEQB_ORIGIN_SIZE, text);
}

static enum seqb_status origin_read(struct mysql_link *link,
                                    struct seqb_error *err)
{
    enum seqb_status status;

    mysql_link_add(link, "SELECT " MYSQL_STORE_SQL ", " MYSQL_CLAIMS_SQL);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !column_copy(link, 0, link->store) ||
        !column_copy(link, 1, link->claims))
        return mysql_link_distrust(link, "the origin", err);
    return SEQB_OK;
}

/* --- what rows are bound to --- */

/* "" if there is none, or nobody's. */
static enum seqb_status base_read(struct mysql_link *link,
                                  char out[static SQL_EPOCH_DUE_SIZE],
                                  struct seqb_error *err)
{
    enum seqb_status status;
    const char *text = NULL;

    mysql_link_add(link, "SELECT origin FROM seqb_counters WHERE name = ''");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (mysql_link_row(link))
        text = mysql_link_text(link, 0);
    (void)text_copy(out, SQL_EPOCH_DUE_SIZE, text != NULL ? text : "");
    return SEQB_OK;
}

/* Unless another broker was faster. */
static enum seqb_status base_write(struct mysql *mysql, const char *expected,
                                   struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    char due[SQL_EPOCH_DUE_SIZE];

    sql_epoch_due(mysql->sql.base.origin, due);
    mysql_link_add(link, "UPDATE seqb_counters SET origin = ");
    mysql_link_quote(link, due);
    mysql_link_add(link, " WHERE name = '' AND origin = ");
    mysql_link_quote(link, expected);
    mysql_link_add(link,
                   " AND " MYSQL_PRIMARY_SQL " AND " MYSQL_STORE_SQL " = ");
    mysql_link_quote(link, link->store);
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

/* A base that is not there is made, and bound, by the first raise. */
static enum seqb_status base_bind(struct mysql *mysql, struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    char *origin = mysql->sql.base.origin;

    for (int i = 0; i < BIND_TRIES; i++) {
        char base[SQL_EPOCH_DUE_SIZE] = "";
        enum seqb_status status = base_read(link, base, err);

        if (status != SEQB_OK || sql_epoch_read(base, link->store, origin))
            return status;
        status = sql_epoch_make(link->where, base, link->store, origin, err);
        if (status != SEQB_OK || base[0] == '\0')
            return status;
        status = base_write(mysql, base, err);
        if (status != SEQB_OK)
            return status;
    }
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: its base could not be bound to it: other brokers "
                     "were faster, or it became another one",
                     link->where);
}

enum seqb_status mysql_store_enter(struct mysql *mysql,
                                   const struct seqb_backend_options *options,
                                   struct seqb_error *err)
{
    enum seqb_status status =
        mysql_tables_open(&mysql->link, options->create, err);

    if (status == SEQB_OK)
        status = origin_read(&mysql->link, err);
    if (status == SEQB_OK)
        status = base_bind(mysql, err);
    if (status != SEQB_OK || !options->needs_incarnation)
        return status;
    return mysql_incarnation_read(mysql, err);
}

/* The session's time zone is UTC, so that no hour comes twice. */
enum seqb_status mysql_clock(struct seqb_backend *backend, int64_t *out_ms,
                             struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    enum seqb_status status = mysql_link_begin(link, err);

    if (status != SEQB_OK)
        return status;
    mysql_link_add(link,
                   "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 0, out_ms))
        return mysql_link_distrust(link, "the time", err);
    return SEQB_OK;
}
