/* SPDX-License-Identifier: Apache-2.0 */
/* What both mysql engines share: opening a store, the dialect of its rows, and
 * its clock. */
#include "backends/mysql/mysql.h"

#include <inttypes.h>

#include "backends/mysql/claims/claims.h"
#include "backends/mysql/connect/connect.h"
#include "backends/mysql/galera/galera.h"
#include "backends/mysql/server.h"
#include "platform/error.h"
#include "platform/text.h"

#define BIND_TRIES   4
#define SETTLE_TRIES 4

static enum seqb_status call_begin(struct seqb_backend *backend,
                                   struct seqb_error *err)
{
    return mysql_link_begin(&((struct mysql *)backend)->link, err);
}

static const struct sql_dialect dialect = {
    .begin = call_begin,
    .take = mysql_rows_take,
    .renew = mysql_rows_renew,
    .lock = mysql_rows_lock,
    .commit = mysql_rows_commit,
    .abandon = mysql_rows_abandon,
    .conflicts = mysql_rows_conflict,
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
    mysql->link.sql = &mysql_sql_of_server;
    mysql->may_create = options->auto_create;
    if (options->endpoints != NULL)
        return mysql_cluster_connect(mysql, options, err);
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

/* Also reads the age of the tables. The age is read after the origin, so that
 * it applies to the tables whose origin was read. */
static enum seqb_status origin_read(struct mysql_link *link, int64_t *age_ms,
                                    struct seqb_error *err)
{
    enum seqb_status status;

    mysql_link_add(link, "SELECT %s, %s;SELECT " MYSQL_AGE_SQL,
                   link->sql->store, link->sql->claims);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    if (status == SEQB_OK)
        status = mysql_link_next(link, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !column_copy(link, 0, link->store) ||
        !column_copy(link, 1, link->claims))
        return mysql_link_distrust(link, "the origin", err);
    status = mysql_link_next(link, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 0, age_ms))
        return mysql_link_distrust(link, "the age of its tables", err);
    return SEQB_OK;
}

/* Waits on the server, because the server's clock dates the tables. */
static enum seqb_status tables_await(struct mysql_link *link, int64_t left_ms,
                                     struct seqb_error *err)
{
    if (left_ms > MYSQL_SETTLED_MS)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: its tables have a date that is %" PRId64
                         " ms ahead of the server's clock, and are used once "
                         "that is over",
                         link->where, left_ms - MYSQL_SETTLED_MS);
    link->deadline_ms += left_ms;
    mysql_link_add(link, "DO SLEEP(%" PRId64 ".%03d)", left_ms / 1000,
                   (int)(left_ms % 1000));
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

/* Waits until the second of the tables' date is over, so that no row is bound
 * to a date that tables created later, those of a restored dump, could also
 * have. */
static enum seqb_status origin_await_next_second(struct mysql_link *link,
                                                 struct seqb_error *err)
{
    for (int i = 0; i < SETTLE_TRIES; i++) {
        int64_t age_ms = 0;
        enum seqb_status status = origin_read(link, &age_ms, err);

        if (status != SEQB_OK || age_ms >= MYSQL_SETTLED_MS)
            return status;
        status = tables_await(link, MYSQL_SETTLED_MS - age_ms, err);
        if (status != SEQB_OK)
            return status;
    }
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: its tables are made again and again", link->where);
}

/* --- binding --- */

/* "" if there is no base, or it is unbound. */
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

/* Changes nothing if another broker was faster. */
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
    mysql_link_add(link, " AND %s AND %s = ", link->serves, link->sql->store);
    mysql_link_quote(link, link->store);
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

/* A missing base is created and bound by the first raise. */
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

/* For tables that this connection itself created: the base is unchanged since
 * then, on this node, whose server has not restarted since. */
static enum seqb_status base_adopt(struct mysql_link *link,
                                   struct seqb_error *err)
{
    mysql_link_add(link, "UPDATE seqb_counters SET origin = ");
    mysql_link_quote(link, link->store);
    mysql_link_add(link, " WHERE name = '' AND value = 0 "
                         "AND origin = " MYSQL_STORE_SQL);
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

/* In a cluster the history may be known only after mysql_cluster_enter has
 * handled the voucher. */
static enum seqb_status
cluster_enter(struct mysql *mysql, const struct seqb_backend_options *options,
              struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    struct seqb_error why;
    int64_t age_ms;
    enum seqb_status status = mysql_tables_open(link, false, &why);
    const bool makes =
        status == SEQB_UNREACHABLE && link->handle != NULL && options->create;

    if (makes)
        status = mysql_tables_open(link, true, &why);
    if (status != SEQB_OK)
        return error_copy(err, &why);
    status = origin_await_next_second(link, err);
    if (status == SEQB_OK)
        status = mysql_cluster_enter(mysql, options, err);
    if (status == SEQB_OK && options->needs_incarnation)
        status = mysql_incarnation_read(mysql, err);
    if (status == SEQB_OK)
        status = origin_read(link, &age_ms, err);
    if (status == SEQB_OK && makes)
        status = base_adopt(link, err);
    return status == SEQB_OK ? base_bind(mysql, err) : status;
}

/* The incarnation includes the tables' dates, so it is read before these are
 * found settled. */
enum seqb_status mysql_store_enter(struct mysql *mysql,
                                   const struct seqb_backend_options *options,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    if (mysql->link.is_cluster)
        return cluster_enter(mysql, options, err);
    status = mysql_tables_open(&mysql->link, options->create, err);
    if (status == SEQB_OK && options->needs_incarnation)
        status = mysql_incarnation_read(mysql, err);
    if (status == SEQB_OK)
        status = origin_await_next_second(&mysql->link, err);
    return status == SEQB_OK ? base_bind(mysql, err) : status;
}

/* The session's time zone is UTC, so no hour occurs twice. */
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
