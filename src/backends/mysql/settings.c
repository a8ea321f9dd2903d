/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings of a server lose commits, in C and in SQL. */
#include "backends/mysql/settings.h"

#include <string.h>

#include "platform/text.h"

#define TERM_SIZE 128

const char *const mysql_setting_names[SETTING_COUNT] = {
    [SETTING_VERSION] = "version",
    [SETTING_HOSTNAME] = "hostname",
    [SETTING_PORT] = "port",
    [SETTING_READ_ONLY] = "read_only",
    [SETTING_SUPER_READ_ONLY] = "super_read_only",
    [SETTING_INNODB_READ_ONLY] = "innodb_read_only",
    [SETTING_LOG_BIN] = "log_bin",
    [SETTING_FLUSH_LOG] = "innodb_flush_log_at_trx_commit",
    [SETTING_FLUSH_METHOD] = "innodb_flush_method",
    [SETTING_REDO_LOG] = "Innodb_redo_log_enabled",
    [SETTING_SYNC_BINLOG] = "sync_binlog",
    [SETTING_BINLOG_FORMAT] = "binlog_format",
    [SETTING_WSREP_ON] = "wsrep_on",
    [SETTING_SINGLE_PRIMARY] = "group_replication_single_primary_mode",
    [SETTING_NO_OPERATIONS] = "tidb_enable_noop_functions",
    [SETTING_SHARED_LOCKS] = "tidb_enable_shared_lock_promotion",
};

/* What statements can compare: a status variable only by a query of
 * performance_schema, and a variable that only a start changes needs no
 * comparison, since a start ends the connection. */
enum compared { NEVER, AS_NUMBER, AS_SWITCH };

/* The value that each must have, or must not have, so that acknowledged commits
 * last. */
static const struct durable {
    enum mysql_setting setting;
    const char *safe;
    const char *lossy[2]; /* the only values that lose; NULL: all but `safe` */
    enum compared compared;
    bool is_binlogs; /* matters only while the binary log is written */
} list[] = {
    {SETTING_FLUSH_LOG, "1", {NULL}, AS_NUMBER, false},
    {SETTING_FLUSH_METHOD, "fsync", {"nosync", "littlesync"}, NEVER, false},
    {SETTING_REDO_LOG, "ON", {NULL}, NEVER, false},
    /* After a crash the binary log decides which transactions stay. */
    {SETTING_SYNC_BINLOG, "1", {NULL}, AS_NUMBER, true},
    /* Two nodes of Galera are not one server: "hosts" is for these. */
    {SETTING_WSREP_ON, "OFF", {NULL}, AS_SWITCH, false},
    /* Nor are two members of a group. A group can change its mode. */
    {SETTING_SINGLE_PRIMARY, "ON", {NULL}, AS_SWITCH, false},
};

#define LIST_COUNT (sizeof list / sizeof list[0])

bool mysql_setting_is_off(const char *value)
{
    return *value == '\0' || strcmp(value, "OFF") == 0 ||
           strcmp(value, "0") == 0;
}

/* The version of a TiDB can be configured, so it may not name TiDB. */
bool mysql_shared_locks(const struct mysql_settings *settings)
{
    const bool is_tidb =
        strcasestr(settings->value[SETTING_VERSION], "tidb") != NULL ||
        settings->value[SETTING_NO_OPERATIONS][0] != '\0';

    return !is_tidb ||
           !mysql_setting_is_off(settings->value[SETTING_SHARED_LOCKS]);
}

/* Whether it decides at all whether commits of this server last. */
static bool matters(const struct durable *durable,
                    const struct mysql_settings *settings)
{
    return settings->value[durable->setting][0] != '\0' &&
           !(durable->is_binlogs &&
             mysql_setting_is_off(settings->value[SETTING_LOG_BIN])) &&
           !(durable->setting == SETTING_WSREP_ON && settings->is_cluster);
}

static bool loses(const struct durable *durable, const char *value)
{
    if (durable->lossy[0] == NULL)
        return strcmp(value, durable->safe) != 0;
    return strcmp(value, durable->lossy[0]) == 0 ||
           strcmp(value, durable->lossy[1]) == 0;
}

void mysql_loss_find(const struct mysql_settings *settings, char *out,
                     size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < LIST_COUNT; i++) {
        const char *value = settings->value[list[i].setting];

        if (matters(&list[i], settings) && loses(&list[i], value))
            (void)text_append(out, size, "%s%s = %.10s (safe: %s)",
                              out[0] != '\0' ? ", " : "",
                              mysql_setting_names[list[i].setting], value,
                              list[i].safe);
    }
}

/* A switch is a number or a word, as read_only is. */
static void term_write(const struct durable *durable, char out[TERM_SIZE])
{
    const char *name = mysql_setting_names[durable->setting];

    if (durable->compared == AS_NUMBER)
        (void)text_format(out, TERM_SIZE, "@@GLOBAL.%s = %s", name,
                          durable->safe);
    else
        (void)text_format(out, TERM_SIZE, "CONCAT(@@GLOBAL.%s) IN ('%d', '%s')",
                          name, !mysql_setting_is_off(durable->safe),
                          durable->safe);
}

static bool is_compared(const struct durable *durable,
                        const struct mysql_settings *settings)
{
    return durable->compared != NEVER && matters(durable, settings);
}

bool mysql_serves_add(const struct mysql_settings *settings, char *out,
                      size_t size)
{
    bool fits = true;

    for (size_t i = 0; i < LIST_COUNT; i++) {
        char term[TERM_SIZE];

        if (!is_compared(&list[i], settings))
            continue;
        term_write(&list[i], term);
        fits = text_append(out, size, " AND %s", term) && fits;
    }
    return fits;
}

bool mysql_closed_add(const struct mysql_settings *settings, char *out,
                      size_t size)
{
    bool fits = true;

    for (size_t i = 0; i < LIST_COUNT; i++) {
        const char *name = mysql_setting_names[list[i].setting];
        char term[TERM_SIZE];

        if (!is_compared(&list[i], settings))
            continue;
        term_write(&list[i], term);
        fits = text_append(out, size,
                           ", IF(%s, NULL, CONCAT('%s = ', @@GLOBAL.%s, "
                           "' (safe: %s)'))",
                           term, name, name, list[i].safe) &&
               fits;
    }
    return fits;
}
