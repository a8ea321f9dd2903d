/* SPDX-License-Identifier: Apache-2.0 */
/* Role, durability, name and clock of a MySQL or MariaDB server. */
#include "backends/mysql/server.h"

#include <string.h>

#include "backends/mysql/settings.h"
#include "platform/error.h"
#include "platform/text.h"

#define NO_PRIMARY "read_only"

const struct mysql_origin_sql mysql_sql_of_server = {
    .store = MYSQL_STORE_SQL,
    .claims = MYSQL_CLAIMS_SQL,
    .run = MYSQL_RUN_SQL,
    .now = MYSQL_NOW_SQL(MYSQL_STORE_SQL),
    .now_of_set = MYSQL_NOW_SQL("@seqb_origin"),
    .turn = "DO 0",
};

const struct mysql_origin_sql mysql_sql_of_cluster = {
    .store = MYSQL_CLUSTER_SQL,
    .claims = MYSQL_CLUSTER_SQL,
    .run = MYSQL_CLUSTER_RUN_SQL,
    .now = "SHA2(" MYSQL_CLUSTER_SQL ", 256)",
    .now_of_set = "SHA2(@seqb_origin, 256)",
    .turn = "INSERT INTO seqb_claims (name, text) "
            "VALUES ('cluster/turn', UUID()) "
            "ON DUPLICATE KEY UPDATE text = VALUES(text)",
};

/* Takes what a SHOW answers: a name and a value in each row. */
static void rows_take(struct mysql_link *link, struct mysql_settings *out)
{
    while (mysql_link_row(link)) {
        const char *name = mysql_link_text(link, 0);
        const char *value = mysql_link_text(link, 1);

        for (int i = 0; i < SETTING_COUNT; i++) {
            if (name != NULL && value != NULL &&
                strcmp(name, mysql_setting_names[i]) == 0)
                (void)text_copy(out->value[i], MYSQL_SETTING_SIZE, value);
        }
    }
}

/* The session has a value of its own of what says how this session locks. */
static enum seqb_status settings_ask(struct mysql_link *link,
                                     struct mysql_settings *out,
                                     struct seqb_error *err)
{
    enum seqb_status status;

    memset(out, 0, sizeof *out);
    mysql_link_add(link, "SHOW GLOBAL VARIABLES WHERE Variable_name IN (");
    for (int i = 0; i < SETTING_COUNT; i++)
        mysql_link_add(link, "%s'%s'", i > 0 ? ", " : "",
                       mysql_setting_names[i]);
    mysql_link_add(link,
                   ");SHOW GLOBAL STATUS LIKE '%s'"
                   ";SHOW SESSION VARIABLES WHERE Variable_name = '%s'",
                   mysql_setting_names[SETTING_REDO_LOG],
                   mysql_setting_names[SETTING_SHARED_LOCKS]);
    status = mysql_link_send(link, SEQB_UNREACHABLE, err);
    for (int i = 0; i < 3 && status == SEQB_OK; i++) {
        status = mysql_link_next(link, err);
        if (status == SEQB_OK)
            rows_take(link, out);
    }
    return status;
}

/* Parses "10.11.19-MariaDB-log": three numbers of up to two digits. */
static enum seqb_status version_read(struct mysql_link *link,
                                     const struct mysql_settings *settings,
                                     struct seqb_backend *base,
                                     struct seqb_error *err)
{
    const char *at = settings->value[SETTING_VERSION];
    const char *const end = at + strspn(at, "0123456789.");

    link->is_mariadb = strstr(at, "MariaDB") != NULL;
    link->version = 0;
    (void)text_format(base->server, sizeof base->server, "%s %.*s",
                      link->is_mariadb ? "mariadb" : "mysql", (int)(end - at),
                      at);
    for (int i = 0; i < 3; i++) {
        const size_t digits = strspn(at, "0123456789");
        int64_t number;

        if (!text_to_int64(at, digits, &number) || number > 99)
            return mysql_link_distrust(link, "version", err);
        link->version = link->version * 100 + number;
        at += digits + (at[digits] == '.');
    }
    return SEQB_OK;
}

static enum seqb_status role_check(const struct mysql_link *link,
                                   const struct mysql_settings *settings,
                                   struct seqb_error *err)
{
    const enum mysql_setting roles[] = {
        SETTING_READ_ONLY, SETTING_SUPER_READ_ONLY, SETTING_INNODB_READ_ONLY};

    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        const char *value = settings->value[roles[i]];

        if (!mysql_setting_is_off(value))
            return error_set(err, SEQB_ROLE,
                             "%s: the server is a replica or closed for "
                             "writing (%s = %s), give its primary's address",
                             link->where, mysql_setting_names[roles[i]], value);
    }
    return SEQB_OK;
}

static enum seqb_status locks_check(const struct mysql_link *link,
                                    const struct mysql_settings *settings,
                                    struct seqb_error *err)
{
    if (mysql_shared_locks(settings))
        return SEQB_OK;
    return error_set(err, SEQB_UNSAFE,
                     "%s: numbers may repeat: the server is TiDB (version = "
                     "%.60s), whose LOCK IN SHARE MODE locks nothing unless "
                     "%s = ON (TiDB 8.3 or later)",
                     link->where, settings->value[SETTING_VERSION],
                     mysql_setting_names[SETTING_SHARED_LOCKS]);
}

static enum seqb_status loss_refuse(const struct mysql_link *link,
                                    const char *loss, struct seqb_error *err)
{
    return error_set(err, SEQB_UNSAFE,
                     "%s: acknowledged numbers may be lost: %s; set that, or "
                     "accept_loss = true",
                     link->where, loss);
}

static enum seqb_status
durability_check(const struct mysql_link *link,
                 const struct mysql_settings *settings,
                 const struct seqb_backend_options *options,
                 struct seqb_backend *base, struct seqb_error *err)
{
    /* With statement-based replication a replica would compare the rows' origin
     * with its own, and change nothing. */
    if (!mysql_setting_is_off(settings->value[SETTING_LOG_BIN]) &&
        strcmp(settings->value[SETTING_BINLOG_FORMAT], "STATEMENT") == 0)
        return error_set(err, SEQB_UNSAFE,
                         "%s: with binlog_format = STATEMENT replicas do not "
                         "follow the counters: set ROW or MIXED",
                         link->where);
    mysql_loss_find(settings, base->loss, sizeof base->loss);
    return base->loss[0] != '\0' && !options->accept_loss
               ? loss_refuse(link, base->loss, err)
               : SEQB_OK;
}

/* What an administrator may change while the connection lives. */
static enum seqb_status conditions_write(struct mysql_link *link,
                                         const struct mysql_settings *settings,
                                         bool accept_loss,
                                         struct seqb_error *err)
{
    bool fits =
        text_copy(link->serves, sizeof link->serves, MYSQL_PRIMARY_SQL) &&
        text_copy(link->closed, sizeof link->closed,
                  "CONCAT_WS(', ', IF(" MYSQL_PRIMARY_SQL ", NULL, '" NO_PRIMARY
                  "')");

    if (!accept_loss)
        fits = mysql_serves_add(settings, link->serves, sizeof link->serves) &&
               mysql_closed_add(settings, link->closed, sizeof link->closed) &&
               fits;
    fits = text_append(link->closed, sizeof link->closed, ")") && fits;
    return fits ? SEQB_OK : mysql_link_distrust(link, "its settings", err);
}

enum seqb_status mysql_server_check(struct mysql_link *link,
                                    const struct seqb_backend_options *options,
                                    struct seqb_backend *base,
                                    struct seqb_error *err)
{
    struct mysql_settings settings;
    enum seqb_status status = settings_ask(link, &settings, err);

    settings.is_cluster = options->endpoints != NULL;
    if (status == SEQB_OK)
        status = version_read(link, &settings, base, err);
    if (status == SEQB_OK)
        status = role_check(link, &settings, err);
    if (status == SEQB_OK)
        status = locks_check(link, &settings, err);
    if (status == SEQB_OK)
        status = durability_check(link, &settings, options, base, err);
    if (status == SEQB_OK)
        status = conditions_write(link, &settings, options->accept_loss, err);
    if (status != SEQB_OK)
        return status;
    (void)text_format(base->domain, sizeof base->domain, "%s:%s",
                      settings.value[SETTING_HOSTNAME],
                      settings.value[SETTING_PORT]);
    base->fd = mysql_link_fd(link);
    return SEQB_OK;
}

enum seqb_status mysql_server_still(struct mysql_link *link, const char *closed,
                                    struct seqb_error *err)
{
    if (closed == NULL)
        return mysql_link_distrust(link, "its settings", err);
    if (closed[0] == '\0')
        return SEQB_OK;
    if (strncmp(closed, NO_PRIMARY, strlen(NO_PRIMARY)) != 0)
        return loss_refuse(link, closed, err);
    return error_set(err, SEQB_ROLE,
                     "%s: the server is no primary any more (" NO_PRIMARY ")",
                     link->where);
}
