/* SPDX-License-Identifier: Apache-2.0 */
/* What both mysql engines do to open a store, and its clock. */
#include "backends/mysql/mysql.h"

#include "backends/mysql/claim.h"
#include "backends/mysql/server.h"
#include "platform/text.h"

enum seqb_status mysql_store_connect(struct mysql *mysql,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err)
{
    enum seqb_status status;

    mysql->sql.base.fd = -1;
    mysql->sql.where = mysql->link.where;
    status = mysql_link_open(&mysql->link, options, err);
    return status == SEQB_OK ? mysql_server_check(&mysql->link, options,
                                                  &mysql->sql.base, err)
                             : status;
}

enum seqb_status mysql_store_enter(struct mysql *mysql, bool create,
                                   struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    const char *origin = NULL;
    enum seqb_status status = mysql_tables_open(link, create, err);

    if (status != SEQB_OK)
        return status;
    mysql_link_add(link, "SELECT " MYSQL_STORE_SQL);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (mysql_link_row(link))
        origin = mysql_link_text(link, 0);
    if (origin == NULL || !text_copy(mysql->sql.base.origin,
                                     sizeof mysql->sql.base.origin, origin))
        return mysql_link_distrust(link, "the origin", err);
    return SEQB_OK;
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
