/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of seqb_counters inside a transaction. */
#include "backends/mysql/rows.h"

#include <inttypes.h>
#include <string.h>

#include "backends/mysql/server.h"
#include "backends/sql/sql.h"
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

/*
 * A counter whose row was found to be gone may have been purged, and is seen to
 * be, since it is asked for later than its row: that was noted before it was
 * deleted. Shared, so that nothing more is noted until this transaction ends.
 */
static void mark_ask(struct mysql_link *link, const char *counter)
{
    char mark[SEQB_COUNTER_SIZE] = "";

    (void)period_mark_name(counter, mark);
    mysql_link_add(link, ";SELECT value, origin > ");
    mysql_link_quote(link, counter);
    mysql_link_add(link, " FROM seqb_counters WHERE name = ");
    mysql_link_quote(link, mark);
    mysql_link_add(link, " LOCK IN SHARE MODE");
}

/* What makes no sense is taken for the latest mark, and nothing begins. */
static enum seqb_status mark_read(struct mysql_link *link,
                                  struct mysql_counter *counter,
                                  struct seqb_error *err)
{
    const enum seqb_status status = mysql_link_next(link, err);
    int64_t is_purged;

    if (status != SEQB_OK || !mysql_link_row(link))
        return status;
    if (!mysql_link_int64(link, 0, &counter->mark_ms) || counter->mark_ms < 0)
        counter->mark_ms = INT64_MAX;
    counter->is_purged =
        !mysql_link_int64(link, 1, &is_purged) || is_purged != 0;
    return SEQB_OK;
}

static void counter_ask(struct mysql_link *link, const char *name)
{
    row_ask(link, name);
    if (period_is_stamped(name))
        mark_ask(link, name);
}

static enum seqb_status counter_read(struct mysql_link *link,
                                     const char *origin,
                                     struct mysql_counter *counter,
                                     struct seqb_error *err)
{
    const enum seqb_status status = row_read(link, origin, counter, err);

    if (status != SEQB_OK || !period_is_stamped(counter->name))
        return status;
    return mark_read(link, counter, err);
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
    mark_ask(link, base->name);
    for (size_t i = 0; i < n; i++)
        counter_ask(link, counters[i].name);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    if (status == SEQB_OK)
        status = begin_read(link, origin, err);
    if (status == SEQB_OK)
        status = row_read(link, origin, base, err);
    if (status == SEQB_OK)
        status = mark_read(link, base, err);
    for (size_t i = 0; i < n && status == SEQB_OK; i++)
        status = counter_read(link, origin, &counters[i], err);
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

size_t mysql_rows_put_base(struct mysql_link *link, const char *origin,
                           const struct mysql_counter *base, int64_t base_ms)
{
    mysql_rows_put(link, origin, base);
    if (base_ms <= base->mark_ms)
        return 1;
    mysql_link_add(link,
                   "INSERT INTO seqb_counters SET name = '" PERIOD_MARK_BASE
                   "', value = %" PRId64 ", origin = ",
                   base_ms);
    mysql_link_quote(link, origin);
    mysql_link_add(
        link,
        " ON DUPLICATE KEY UPDATE value = %" PRId64 ", origin = ", base_ms);
    mysql_link_quote(link, origin);
    mysql_link_add(link, ";");
    return 2;
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
