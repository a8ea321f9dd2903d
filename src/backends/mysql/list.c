/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the counters, or claims, of a MySQL store page by page. */
#include "backends/mysql/mysql.h"

#include <string.h>

#include "backends/mysql/server.h"
#include "platform/error.h"

/* After the first SELECT nobody can replace the table seqb_counters until the
 * transaction ends. Names are binary, and are sorted by bytes. */
static void page_ask(struct mysql *mysql, const struct seqb_page *page,
                     const struct sql_range *range)
{
    struct mysql_link *link = &mysql->link;
    const bool has_run = mysql->sql.base.incarnation[0] != '\0';

    mysql_link_add(
        link,
        "BEGIN;SELECT 1 FROM seqb_counters LIMIT 0;"
        "SELECT %s, %s, %s;"
        "SELECT name, %s WHERE name >= ",
        link->closed, link->sql->store, has_run ? link->sql->run : "NULL",
        page->is_of_claims ? "0 FROM seqb_claims" : "value FROM seqb_counters");
    mysql_link_quote(link, range->from);
    mysql_link_add(link, " AND name < ");
    mysql_link_quote(link, range->to);
    mysql_link_add(link, " ORDER BY name LIMIT %d;COMMIT", (int)page->most);
}

static enum seqb_status store_check(struct mysql *mysql, struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    enum seqb_status status = mysql_link_skip(link, 3, err);
    const char *store;
    const char *run;

    if (status != SEQB_OK)
        return status;
    if (!mysql_link_row(link))
        return mysql_link_distrust(link, "its role", err);
    status = mysql_server_still(link, mysql_link_text(link, 0), err);
    if (status != SEQB_OK)
        return status;
    store = mysql_link_text(link, 1);
    if (store == NULL || strcmp(store, link->store) != 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the server or its tables became another one "
                         "since it was opened",
                         link->where);
    run = mysql_link_text(link, 2);
    return sql_incarnation_check(&mysql->sql.base, run != NULL ? run : "",
                                 link->where, err);
}

static enum seqb_status rows_read(struct mysql *mysql, struct seqb_page *page,
                                  struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    enum seqb_status status = mysql_link_next(link, err);

    while (status == SEQB_OK && mysql_link_row(link)) {
        int64_t value;

        if (!mysql_link_int64(link, 1, &value))
            value = -1;
        status = sql_page_add(page, mysql_link_text(link, 0), value,
                              link->where, err);
    }
    return status;
}

/* The statements after a failed one were not run. */
static enum seqb_status page_end(struct mysql *mysql, enum seqb_status status,
                                 struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;

    if (status == SEQB_OK)
        return mysql_link_finish(link, err);
    if (link->handle == NULL)
        return status;
    if (link->code != 0)
        (void)mysql_rows_abandon(&mysql->sql.base, NULL);
    else if (mysql_link_finish(link, NULL) != SEQB_OK)
        mysql_link_close(link);
    return status;
}

enum seqb_status mysql_list(struct seqb_backend *backend,
                            struct seqb_page *page, struct seqb_error *err)
{
    struct mysql *mysql = (struct mysql *)backend;
    struct mysql_link *link = &mysql->link;
    struct sql_range range;
    enum seqb_status status = sql_page_begin(page, &range, link->where, err);

    if (status == SEQB_OK)
        status = mysql_link_begin(link, err);
    if (status != SEQB_OK)
        return status;
    page_ask(mysql, page, &range);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    if (status == SEQB_OK)
        status = store_check(mysql, err);
    if (status == SEQB_OK)
        status = rows_read(mysql, page, err);
    return page_end(mysql, status, err);
}
