/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of seqb_counters inside a transaction. */
#include "backends/mysql_rows.h"

#include <inttypes.h>
#include <string.h>

#include "backends/mysql_server.h"
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
                   "SELECT " MYSQL_PRIMARY_SQL
                   ", " MYSQL_ORIGIN_SQL("'seqb_counters'"));
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

static enum seqb_status row_read(struct mysql_link *link, const char *origin,
                                 struct mysql_counter *out,
                                 struct seqb_error *err)
{
    const enum seqb_status status = mysql_link_next(link, err);
    const char *bound;

    *out = (struct mysql_counter){.name = out->name};
    if (status != SEQB_OK || !mysql_link_row(link))
        return status;
    bound = mysql_link_text(link, 1);
    out->is_there = true;
    out->is_new = bound != NULL && bound[0] == '\0'; /* see begin_write */
    if (!mysql_link_int64(link, 0, &out->value) || out->value < 0 ||
        bound == NULL)
        out->state = MYSQL_COUNTER_DAMAGED;
    else if (strcmp(bound, origin) == 0)
        out->state = MYSQL_COUNTER_BOUND;
    else
        out->state = MYSQL_COUNTER_FOREIGN;
    return SEQB_OK;
}

enum seqb_status mysql_rows_lock(struct mysql_link *link, const char *origin,
                                 struct mysql_counter *base,
                                 struct mysql_counter *counters, size_t n,
                                 struct seqb_error *err)
{
    enum seqb_status status;

    base->name = MYSQL_BASE;
    begin_write(link);
    row_ask(link, base->name);
    for (size_t i = 0; i < n; i++)
        row_ask(link, counters[i].name);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    if (status == SEQB_OK)
        status = begin_read(link, origin, err);
    if (status == SEQB_OK)
        status = row_read(link, origin, base, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = row_read(link, origin, &counters[i], err);
    return status;
}

void mysql_rows_put(struct mysql_link *link, const char *origin,
                    const struct mysql_counter *counter)
{
    mysql_link_add(link, "%s seqb_counters SET value = %" PRId64 ", origin = ",
                   counter->is_there ? "UPDATE" : "INSERT INTO",
                   counter->value);
    mysql_link_quote(link, origin);
    mysql_link_add(link, counter->is_there ? " WHERE name = " : ", name = ");
    mysql_link_quote(link, counter->name);
    mysql_link_add(link, ";");
}

enum seqb_status mysql_rows_commit(struct mysql_link *link, size_t changes,
                                   struct seqb_error *err)
{
    enum seqb_status status;

    mysql_link_add(link, "COMMIT");
    status = mysql_link_send(link, SEQB_UNCERTAIN, err);
    if (status == SEQB_OK)
        status = mysql_link_skip(link, changes, err);
    return status == SEQB_OK ? mysql_link_next_commit(link, err) : status;
}

enum seqb_status mysql_rows_abandon(struct mysql_link *link,
                                    struct seqb_error *err)
{
    mysql_link_add(link, "ROLLBACK");
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}
