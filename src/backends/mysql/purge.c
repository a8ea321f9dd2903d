/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Purging, in two transactions in this order: the first stores in the counter's
 * mark what is over, see sql/mark.h; the second deletes rows. A broker that
 * finds no row reads the mark afterwards, and so finds it.
 */
#include "backends/mysql/mysql.h"

#include <inttypes.h>
#include <mysqld_error.h>

#include "backends/mysql/server.h"
#include "platform/error.h"

/* --- storing the mark --- */

/* The condition that the store is the one that was opened: if a dump was
 * restored under the connection, the restored store must be compared before its
 * periods are purged. */
static void same_add(struct mysql_link *link)
{
    mysql_link_add(link, "(%s = ", link->sql->store);
    mysql_link_quote(link, link->store);
    mysql_link_add(link, ")");
}

static void note_ask(struct mysql_link *link, const struct seqb_purge *purge,
                     const char *mark)
{
    mysql_link_add(link, "SELECT %s, ", link->closed);
    same_add(link);
    mysql_link_add(link, ";INSERT INTO seqb_counters (name, value, origin) "
                         "SELECT ");
    mysql_link_quote(link, mark);
    mysql_link_add(link, ", %" PRId64 ", ", purge->before_ms);
    mysql_link_quote(link, purge->keep);
    mysql_link_add(link, " FROM DUAL WHERE %s AND ", link->serves);
    same_add(link);
    mysql_link_add(link,
                   " ON DUPLICATE KEY UPDATE value = "
                   "GREATEST(seqb_counters.value, %" PRId64 "), origin = "
                   "GREATEST(seqb_counters.origin, CAST(",
                   purge->before_ms);
    mysql_link_quote(link, purge->keep);
    mysql_link_add(link, " AS BINARY))");
}

static enum seqb_status purge_note(struct mysql_link *link,
                                   const struct seqb_purge *purge,
                                   struct seqb_error *err)
{
    char mark[SEQB_COUNTER_SIZE];
    struct seqb_error why = {.status = SEQB_OK};
    int64_t is_same;
    enum seqb_status status;

    if (!sql_purge_is_sane(purge) || !sql_mark_name(purge->counter, mark))
        return error_set(err, SEQB_INVALID,
                         "%s: counter %s: cannot be purged up to %s",
                         link->where, purge->counter, purge->keep);
    note_ask(link, purge, mark);
    status = mysql_link_run(link, SEQB_UNCERTAIN, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link) || !mysql_link_int64(link, 1, &is_same))
        return mysql_link_distrust(link, "its role", err);
    (void)mysql_server_still(link, mysql_link_text(link, 0), &why);
    status = mysql_link_next_commit(link, err);
    if (status == SEQB_OK && is_same == 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the server or its tables became another one "
                         "since it was opened",
                         link->where);
    if (status != SEQB_OK || why.status == SEQB_OK)
        return status;
    return error_copy(err, &why);
}

/* --- deleting --- */

static enum seqb_status delete_refused(const struct mysql_link *link,
                                       const struct seqb_purge *purge,
                                       const struct seqb_error *why,
                                       struct seqb_error *err)
{
    if (link->code != ER_TABLEACCESS_DENIED_ERROR &&
        link->code != ER_DBACCESS_DENIED_ERROR)
        return error_copy(err, why);
    return error_set(err, SEQB_REFUSED,
                     "%s: old periods of counter %s stay in seqb_counters, "
                     "and numbers go on: run GRANT DELETE ON seqb_counters "
                     "for the broker's user (error %u)",
                     link->where, purge->counter, link->code);
}

/* Names are binary. Rows are deleted in their order, in which others lock
 * them. */
static enum seqb_status purge_delete(struct mysql_link *link,
                                     const struct seqb_purge *purge,
                                     int32_t *deleted, struct seqb_error *err)
{
    struct seqb_error why;
    enum seqb_status status;

    mysql_link_add(link, "DELETE FROM seqb_counters WHERE name > CONCAT(");
    mysql_link_quote(link, purge->counter);
    mysql_link_add(link, ", '@') AND name < ");
    mysql_link_quote(link, purge->keep);
    mysql_link_add(link, " AND %s AND ", link->serves);
    same_add(link);
    mysql_link_add(link, " ORDER BY name LIMIT %d", (int)purge->most);
    status = mysql_link_send(link, SEQB_UNCERTAIN, err);
    if (status != SEQB_OK)
        return status;
    status = mysql_link_next_commit(link, &why);
    if (status != SEQB_OK)
        return delete_refused(link, purge, &why, err);
    *deleted = (int32_t)link->changed;
    return SEQB_OK;
}

enum seqb_status mysql_purge(struct seqb_backend *backend,
                             const struct seqb_purge *purge, int32_t *deleted,
                             struct seqb_error *err)
{
    struct mysql_link *link = &((struct mysql *)backend)->link;
    enum seqb_status status = mysql_link_begin(link, err);

    if (status == SEQB_OK)
        status = purge_note(link, purge, err);
    if (status != SEQB_OK)
        return status;
    *deleted = 0;
    return purge->most > 0 ? purge_delete(link, purge, deleted, err) : SEQB_OK;
}
