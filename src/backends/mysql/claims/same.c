/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a store is still the one that was opened. */
#include "backends/mysql/claims/same.h"

#include <string.h>

#include <mysqld_error.h>

#include "backends/mysql/server.h"
#include "platform/error.h"

void mysql_same_expect(struct mysql_link *link,
                       const struct seqb_backend *backend,
                       const char *incarnation)
{
    link->run = incarnation;
    link->run_lost = SEQB_FENCED;
    if (incarnation != NULL)
        return;
    link->run = backend->incarnation[0] != '\0' ? backend->incarnation : NULL;
    link->run_lost = SEQB_UNREACHABLE;
}

/* Both tables are compared: what a dump restores under an open connection is
 * another history. */
void mysql_same_add(struct mysql_link *link)
{
    mysql_link_add(link, "(%s = ", link->sql->claims);
    mysql_link_quote(link, link->claims);
    mysql_link_add(link, " AND %s = ", link->sql->store);
    mysql_link_quote(link, link->store);
    if (link->run != NULL) {
        mysql_link_add(link, " AND %s <=> ", link->sql->run);
        mysql_link_quote(link, link->run);
    }
    mysql_link_add(link, ")");
}

const char *mysql_same_run(const struct mysql_link *link)
{
    return link->run != NULL ? link->sql->run : "NULL";
}

enum seqb_status mysql_same_check(const struct mysql_link *link,
                                  const char *name, const char *now,
                                  struct seqb_error *err)
{
    if (link->run == NULL || (now != NULL && strcmp(now, link->run) == 0))
        return SEQB_OK;
    return error_set(err, link->run_lost,
                     "%s: claim '%s': nothing was changed, since the store is "
                     "in incarnation %s, not %s",
                     link->where, name, now != NULL ? now : "(none)",
                     link->run);
}

enum seqb_status mysql_same_lost(const struct mysql_link *link,
                                 struct seqb_error *err)
{
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: the server or its tables became another one since "
                     "it was opened",
                     link->where);
}

/* Asks again, to find out why an INSERT added nothing. Never SEQB_OK. */
static enum seqb_status refused(struct mysql_link *link, const char *name,
                                struct seqb_error *err)
{
    enum seqb_status status;

    mysql_link_add(link, "SELECT %s, %s", link->closed, mysql_same_run(link));
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link))
        return mysql_link_distrust(link, "its role", err);
    status = mysql_server_still(link, mysql_link_text(link, 0), err);
    if (status == SEQB_OK)
        status = mysql_same_check(link, name, mysql_link_text(link, 1), err);
    return status == SEQB_OK ? mysql_same_lost(link, err) : status;
}

enum seqb_status mysql_same_insert(struct mysql_link *link, const char *name,
                                   bool *is_added, struct seqb_error *err)
{
    struct seqb_error why;
    enum seqb_status status;

    mysql_link_add(link, " WHERE %s AND ", link->serves);
    mysql_same_add(link);
    status = mysql_link_send(link, SEQB_UNCERTAIN, err);
    if (status != SEQB_OK)
        return status;
    status = mysql_link_next_commit(link, &why);
    *is_added = status == SEQB_OK && link->changed > 0;
    if (status != SEQB_OK)
        return link->code == ER_DUP_ENTRY ? SEQB_OK : error_copy(err, &why);
    return *is_added ? SEQB_OK : refused(link, name, err);
}
