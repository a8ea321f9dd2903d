/* SPDX-License-Identifier: Apache-2.0 */
/* The nonce of a server, which the server loses when it restarts. */
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "backends/mysql/claims/claims.h"
#include "backends/mysql/mysql.h"
#include "backends/mysql/server.h"
#include "platform/error.h"
#include "platform/text.h"

/* The first character of an incarnation whose nonce is empty: MYSQL_RUN_SQL. */
#define NO_NONCE '/'

static enum seqb_status table_find(struct mysql *mysql, struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    const char *engine;
    enum seqb_status status;

    mysql_link_add(link, "SELECT ENGINE FROM information_schema.TABLES "
                         "WHERE TABLE_SCHEMA = DATABASE() "
                         "AND TABLE_NAME = 'seqb_incarnation'");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK || !mysql_link_row(link))
        return status;
    engine = mysql_link_text(link, 0);
    if (engine == NULL || strcmp(engine, "MEMORY") != 0)
        return error_set(err, SEQB_UNSAFE,
                         "%s: the table seqb_incarnation is kept by %s, which "
                         "does not forget it when the server starts: ALTER "
                         "TABLE seqb_incarnation ENGINE = MEMORY",
                         link->where, engine != NULL ? engine : "(none)");
    mysql->has_incarnation = true;
    return SEQB_OK;
}

enum seqb_status mysql_incarnation_find(struct mysql *mysql,
                                        struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    if (!mysql->has_incarnation)
        status = table_find(mysql, err);
    if (status == SEQB_OK && !mysql->has_incarnation && mysql->may_create) {
        status = mysql_tables_make(&mysql->link, err);
        if (status == SEQB_OK)
            status = table_find(mysql, err);
    }
    if (status != SEQB_OK || mysql->has_incarnation)
        return status;
    return error_set(err, SEQB_REFUSED,
                     "%s: the table seqb_incarnation, which counting in "
                     "windows needs, is not there or not this user's to see: "
                     "run sql/mysql.sql again",
                     mysql->link.where);
}

enum seqb_status mysql_incarnation_make(struct mysql *mysql,
                                        struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    enum seqb_status status = mysql_incarnation_find(mysql, err);
    uint64_t nonce[2];

    if (status != SEQB_OK)
        return status;
    if (getrandom(nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return error_set(err, SEQB_UNREACHABLE, "%s: no random bytes",
                         link->where);
    mysql_link_add(link,
                   "INSERT IGNORE INTO seqb_incarnation (id, nonce) "
                   "VALUES (1, '%016" PRIx64 "%016" PRIx64 "')",
                   nonce[0], nonce[1]);
    return mysql_link_run(link, SEQB_UNREACHABLE, err);
}

static enum seqb_status run_read(struct mysql *mysql, struct seqb_error *err)
{
    struct mysql_link *link = &mysql->link;
    struct seqb_backend *base = &mysql->sql.base;
    const char *run = NULL;
    enum seqb_status status;

    mysql_link_add(link, "SELECT %s", link->sql->run);
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    if (status != SEQB_OK)
        return status;
    if (mysql_link_row(link))
        run = mysql_link_text(link, 0);
    if (run == NULL || run[0] == NO_NONCE)
        return error_set(err, SEQB_REFUSED,
                         "%s: the table seqb_incarnation does not keep what "
                         "is put there: drop it and run sql/mysql.sql again",
                         link->where);
    if (!text_copy(base->incarnation, sizeof base->incarnation, run))
        return mysql_link_distrust(link, "the incarnation", err);
    return SEQB_OK;
}

/* Without the table, or rights on it, only calls with a guard are refused. */
enum seqb_status mysql_incarnation_read(struct mysql *mysql,
                                        struct seqb_error *err)
{
    struct seqb_error why;
    enum seqb_status status = mysql->link.is_cluster
                                  ? mysql_incarnation_find(mysql, &why)
                                  : mysql_incarnation_make(mysql, &why);

    if (status == SEQB_OK)
        status = run_read(mysql, &why);
    if (mysql->link.handle == NULL)
        return error_copy(err, &why);
    if (status != SEQB_OK)
        (void)text_copy(mysql->sql.unknown, sizeof mysql->sql.unknown,
                        why.text);
    return SEQB_OK;
}
