/* SPDX-License-Identifier: Apache-2.0 */
/* Role, durability, name and clock of a MySQL or MariaDB server. */
#include "backends/mysql/server.h"

#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define VALUE_SIZE 256

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

/* The variables that are asked for. A server answers those that it has. */
enum variable {
    VERSION,
    HOSTNAME,
    PORT,
    READ_ONLY,
    SUPER_READ_ONLY,
    INNODB_READ_ONLY,
    LOG_BIN,
    FLUSH_LOG,
    SYNC_BINLOG,
    BINLOG_FORMAT,
    WSREP_ON,
    VARIABLES
};

static const char *const names[VARIABLES] = {
    [VERSION] = "version",
    [HOSTNAME] = "hostname",
    [PORT] = "port",
    [READ_ONLY] = "read_only",
    [SUPER_READ_ONLY] = "super_read_only",
    [INNODB_READ_ONLY] = "innodb_read_only",
    [LOG_BIN] = "log_bin",
    [FLUSH_LOG] = "innodb_flush_log_at_trx_commit",
    [SYNC_BINLOG] = "sync_binlog",
    [BINLOG_FORMAT] = "binlog_format",
    [WSREP_ON] = "wsrep_on",
};

struct variables {
    char value[VARIABLES][VALUE_SIZE]; /* "" if the server does not have it */
};

/* The value that each must have so that acknowledged commits last. */
static const struct {
    enum variable variable;
    const char *safe;
    bool is_binlogs; /* matters only while the binary log is written */
} settings[] = {
    {FLUSH_LOG, "1", false},
    /* After a crash the binary log decides which transactions stay. */
    {SYNC_BINLOG, "1", true},
    /* Two nodes of Galera are not one server: "hosts" is for these. */
    {WSREP_ON, "OFF", false},
};

static bool is_off(const char *value)
{
    return *value == '\0' || strcmp(value, "OFF") == 0 ||
           strcmp(value, "0") == 0;
}

static enum seqb_status variables_ask(struct mysql_link *link,
                                      struct variables *out,
                                      struct seqb_error *err)
{
    enum seqb_status status;

    memset(out, 0, sizeof *out);
    mysql_link_add(link, "SHOW GLOBAL VARIABLES WHERE Variable_name IN (");
    for (int i = 0; i < VARIABLES; i++)
        mysql_link_add(link, "%s'%s'", i > 0 ? ", " : "", names[i]);
    mysql_link_add(link, ")");
    status = mysql_link_run(link, SEQB_UNREACHABLE, err);
    while (status == SEQB_OK && mysql_link_row(link)) {
        const char *name = mysql_link_text(link, 0);
        const char *value = mysql_link_text(link, 1);

        for (int i = 0; i < VARIABLES; i++) {
            if (name != NULL && value != NULL && strcmp(name, names[i]) == 0)
                (void)text_copy(out->value[i], VALUE_SIZE, value);
        }
    }
    return status;
}

/* Parses "10.11.19-MariaDB-log": three numbers of up to two digits. */
static enum seqb_status version_read(struct mysql_link *link,
                                     const struct variables *variables,
                                     struct seqb_backend *base,
                                     struct seqb_error *err)
{
    const char *at = variables->value[VERSION];
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
                                   const struct variables *variables,
                                   struct seqb_error *err)
{
    const enum variable roles[] = {READ_ONLY, SUPER_READ_ONLY,
                                   INNODB_READ_ONLY};

    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        const char *value = variables->value[roles[i]];

        if (!is_off(value))
            return error_set(err, SEQB_ROLE,
                             "%s: the server is a replica or closed for "
                             "writing (%s = %s), give its primary's address",
                             link->where, names[roles[i]], value);
    }
    return SEQB_OK;
}

/* Lists all settings that lose commits. */
static void loss_find(const struct variables *variables, bool is_cluster,
                      char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *value = variables->value[settings[i].variable];

        if (value[0] == '\0' || strcmp(value, settings[i].safe) == 0 ||
            (settings[i].is_binlogs && is_off(variables->value[LOG_BIN])) ||
            (settings[i].variable == WSREP_ON && is_cluster))
            continue;
        (void)text_append(out, size, "%s%s = %.8s (safe: %s)",
                          out[0] != '\0' ? ", " : "",
                          names[settings[i].variable], value, settings[i].safe);
    }
}

static enum seqb_status
durability_check(const struct mysql_link *link,
                 const struct variables *variables,
                 const struct seqb_backend_options *options,
                 struct seqb_backend *base, struct seqb_error *err)
{
    /* With statement-based replication a replica would compare the rows' origin
     * with its own, and change nothing. */
    if (!is_off(variables->value[LOG_BIN]) &&
        strcmp(variables->value[BINLOG_FORMAT], "STATEMENT") == 0)
        return error_set(err, SEQB_UNSAFE,
                         "%s: with binlog_format = STATEMENT replicas do not "
                         "follow the counters: set ROW or MIXED",
                         link->where);
    loss_find(variables, options->endpoints != NULL, base->loss,
              sizeof base->loss);
    if (base->loss[0] != '\0' && !options->accept_loss)
        return error_set(err, SEQB_UNSAFE,
                         "%s: acknowledged numbers may be lost: %s; set that, "
                         "or accept_loss = true",
                         link->where, base->loss);
    return SEQB_OK;
}

enum seqb_status mysql_server_check(struct mysql_link *link,
                                    const struct seqb_backend_options *options,
                                    struct seqb_backend *base,
                                    struct seqb_error *err)
{
    struct variables variables;
    enum seqb_status status = variables_ask(link, &variables, err);

    if (status == SEQB_OK)
        status = version_read(link, &variables, base, err);
    if (status == SEQB_OK)
        status = role_check(link, &variables, err);
    if (status == SEQB_OK)
        status = durability_check(link, &variables, options, base, err);
    if (status != SEQB_OK)
        return status;
    (void)text_format(base->domain, sizeof base->domain, "%s:%s",
                      variables.value[HOSTNAME], variables.value[PORT]);
    base->fd = mysql_link_fd(link);
    return SEQB_OK;
}
