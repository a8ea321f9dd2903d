/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of seqb_counters inside a transaction. */
#include "backends/mysql/mysql.h"

#include <inttypes.h>
#include <string.h>

#include "backends/mysql/server.h"
#include "platform/error.h"

/*
 * Two who find no base would both make one, so that it is put there first if
 * need be: bound to no origin, so that it is another store's.
 */
static void begin_write(struct mysql_link *link)
{
    mysql_link_add(link,
                   "BEGIN;"
                   "INSERT INTO seqb_counters (name, value, origin) "
                   "VALUES ('', 0, '') ON DUPLICATE KEY UPDATE name = name;"
                   "SELECT " MYSQL_PRIMARY_SQL ", " MYSQL_STORE_SQL);
}

/* Whether grants are still this server's to make, and whether the backend was
 * opened on what the server is now. */
static enum seqb_status begin_read(struct mysql_link *link, const char *origin,
                                   struct seqb_error *err)
{
    const enum seqb_status status = mysql_link_skip(link, 3, err);
    const char *now;
    int64_t is_primary;

    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 0, &is_primary))
        return mysql_link_distrust(link, "the origin", err);
    if (!is_primary)
        return error_set(err, SEQB_ROLE,
                         "%s: the server is no primary any more (read_only)",
                         link->where);
    now = mysql_link_text(link, 1);
    if (now == NULL || strcmp(now, origin) != 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the server or its table became another one "
                         "since it was opened: origin %s was %s",
                         link->where, now != NULL ? now : "(none)", origin);
    return SEQB_OK;
}

static void row_ask(struct mysql_link *link, const char *name)
{
    mysql_link_add(link,
                   ";SELECT value, origin FROM seqb_counters WHERE name = ");
    mysql_link_quote(link, name);
    mysql_link_add(link, " FOR UPDATE");
}

/* Negative if it is no number. */
static int64_t value_read(const struct mysql_link *link)
{
    int64_t value;

    return mysql_link_int64(link, 0, &value) ? value : -1;
}

static enum seqb_status row_read(struct mysql_link *link, const char *origin,
                                 struct sql_counter *counter,
                                 struct seqb_error *err)
{
    const enum seqb_status status = mysql_link_next(link, err);

    if (status == SEQB_OK && mysql_link_row(link))
        sql_row_found(counter, value_read(link), mysql_link_text(link, 1),
                      origin);
    return status;
}

/*
 * A counter whose row was found to be gone may have been purged, and is seen to
 * be, since it is asked for later than its row: that was noted before it was
 * deleted. Shared, so that nothing more is noted until this transaction ends.
 */
static void mark_ask(struct mysql_link *link, const char *counter)
{
    char mark[SEQB_COUNTER_SIZE] = "";

    (void)sql_mark_name(counter, mark);
    mysql_link_add(link,
                   ";SELECT value, origin FROM seqb_counters WHERE name = ");
    mysql_link_quote(link, mark);
    mysql_link_add(link, " LOCK IN SHARE MODE");
}

static enum seqb_status mark_read(struct mysql_link *link,
                                  struct sql_counter *counter,
                                  struct seqb_error *err)
{
    const enum seqb_status status = mysql_link_next(link, err);

    if (status == SEQB_OK && mysql_link_row(link))
        sql_mark_found(counter, value_read(link), mysql_link_text(link, 1));
    return status;
}

static void counter_ask(struct mysql_link *link, const char *name)
{
    row_ask(link, name);
    if (sql_mark_counts(name))
        mark_ask(link, name);
}

static enum seqb_status counter_read(struct mysql_link *link,
                                     const char *origin,
                                     struct sql_counter *counter,
                                     struct seqb_error *err)
{
    const enum seqb_status status = row_read(link, origin, counter, err);

    if (status != SEQB_OK || !sql_mark_counts(counter->name))
        return status;
    return mark_read(link, counter, err);
}

enum seqb_status mysql_rows_lock(struct seqb_backend *backend,
                                 struct sql_counter *counters, size_t n,
                                 struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    enum seqb_status status;

    begin_write(link);
    for (size_t i = 0; i < n; i++)
        counter_ask(link, counters[i].name);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    if (status == SEQB_OK)
        status = begin_read(link, backend->origin, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = counter_read(link, backend->origin, &counters[i], err);
    return status;
}

static void row_put(struct mysql_link *link, const char *origin,
                    const struct sql_write *write)
{
    mysql_link_add(link, "INSERT INTO seqb_counters SET name = ");
    mysql_link_quote(link, write->name);
    mysql_link_add(link, ", value = %" PRId64 ", origin = ", write->value);
    mysql_link_quote(link, origin);
    mysql_link_add(link,
                   " ON DUPLICATE KEY UPDATE value = %" PRId64 ", origin = ",
                   write->value);
    mysql_link_quote(link, origin);
    mysql_link_add(link, ";");
}

enum seqb_status mysql_rows_commit(struct seqb_backend *backend,
                                   const struct sql_write *writes, size_t n,
                                   struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    enum seqb_status status;

    for (size_t i = 0; i < n; i++)
        row_put(link, backend->origin, &writes[i]);
    mysql_link_add(link, "COMMIT");
    status = mysql_link_send(link, SEQB_UNCERTAIN, err);
    if (status == SEQB_OK)
        status = mysql_link_skip(link, n, err);
    return status == SEQB_OK ? mysql_link_next_commit(link, err) : status;
}

enum seqb_status mysql_rows_abandon(struct seqb_backend *backend,
                                    struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    enum seqb_status status;

    if (link->handle == NULL)
        return error_set(err, SEQB_UNREACHABLE, "%s: the connection was lost",
                         link->where);
    mysql_link_add(link, "ROLLBACK");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        mysql_link_close(link);
    return status;
}

/* Counters that are known need fewer rights than new ones. */
bool mysql_rows_blame(const struct seqb_backend *backend,
                      enum seqb_status status)
{
    const struct mysql *mysql = (const struct mysql *)backend;

    return mysql->link.handle != NULL &&
           (status == SEQB_REFUSED || status == SEQB_CORRUPT);
}
