/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings of a server lose commits, also those of servers that the other
 * tests do not have. */
#include "backends/mysql/settings.h"

#include <string.h>

#include "platform/text.h"
#include "support/test.h"

#define TEXT_SIZE 768
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

static const struct mysql_settings safe = {
    .value = {[SETTING_LOG_BIN] = "ON",
              [SETTING_FLUSH_LOG] = "1",
              [SETTING_FLUSH_METHOD] = "O_DIRECT",
              [SETTING_REDO_LOG] = "ON",
              [SETTING_SYNC_BINLOG] = "1",
              [SETTING_WSREP_ON] = "OFF"}};

static void must_lose(const struct mysql_settings *settings, const char *words)
{
    char loss[TEXT_SIZE];

    mysql_loss_find(settings, loss, sizeof loss);
    assert_string_equal(loss, words);
}

TEST(each_setting_that_loses_commits_is_named)
{
    static const struct {
        enum mysql_setting setting;
        const char *value;
        const char *loss;
    } cases[] = {
        {SETTING_FLUSH_LOG, "2",
         "innodb_flush_log_at_trx_commit = 2 (safe: 1)"},
        {SETTING_FLUSH_METHOD, "nosync",
         "innodb_flush_method = nosync (safe: fsync)"},
        {SETTING_FLUSH_METHOD, "littlesync",
         "innodb_flush_method = littlesync (safe: fsync)"},
        {SETTING_FLUSH_METHOD, "O_DSYNC", ""},
        {SETTING_FLUSH_METHOD, "", ""},
        {SETTING_REDO_LOG, "OFF", "Innodb_redo_log_enabled = OFF (safe: ON)"},
        {SETTING_REDO_LOG, "", ""}, /* MariaDB, and MySQL before 8.0.21 */
        {SETTING_SYNC_BINLOG, "100", "sync_binlog = 100 (safe: 1)"},
        {SETTING_WSREP_ON, "ON", "wsrep_on = ON (safe: OFF)"},
        {SETTING_SINGLE_PRIMARY, "OFF",
         "group_replication_single_primary_mode = OFF (safe: ON)"},
        {SETTING_SINGLE_PRIMARY, "ON", ""},
    };

    must_lose(&safe, "");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mysql_settings settings = safe;

        (void)text_copy(settings.value[cases[i].setting], MYSQL_SETTING_SIZE,
                        cases[i].value);
        must_lose(&settings, cases[i].loss);
    }
}

/* A node of a cluster is to have wsrep_on, and a server without a binary log
 * need not sync it. */
TEST(settings_count_where_they_matter)
{
    struct mysql_settings settings = safe;
    char serves[TEXT_SIZE] = "1";

    settings.is_cluster = true;
    (void)text_copy(settings.value[SETTING_WSREP_ON], MYSQL_SETTING_SIZE, "ON");
    (void)text_copy(settings.value[SETTING_LOG_BIN], MYSQL_SETTING_SIZE, "OFF");
    (void)text_copy(settings.value[SETTING_SYNC_BINLOG], MYSQL_SETTING_SIZE,
                    "0");
    must_lose(&settings, "");
    assert_true(mysql_serves_add(&settings, serves, sizeof serves));
    assert_string_equal(serves,
                        "1 AND @@GLOBAL.innodb_flush_log_at_trx_commit = 1");
}

TEST(statements_compare_what_may_change_while_a_server_runs)
{
    char serves[TEXT_SIZE] = "1";
    char closed[TEXT_SIZE] = "";

    assert_true(mysql_serves_add(&safe, serves, sizeof serves));
    assert_string_equal(serves,
                        "1 AND @@GLOBAL.innodb_flush_log_at_trx_commit = 1"
                        " AND @@GLOBAL.sync_binlog = 1"
                        " AND CONCAT(@@GLOBAL.wsrep_on) IN ('0', 'OFF')");
    assert_true(mysql_closed_add(&safe, closed, sizeof closed));
    assert_non_null(strstr(closed, "'innodb_flush_log_at_trx_commit = '"));
    assert_non_null(strstr(closed, ", IF(@@GLOBAL.sync_binlog = 1, NULL, "
                                   "CONCAT('sync_binlog = ', "
                                   "@@GLOBAL.sync_binlog, ' (safe: 1)'))"));
}

/* A group of MySQL servers can be switched while it runs. */
TEST(statements_compare_whether_a_group_has_one_primary)
{
    struct mysql_settings settings = {.is_cluster = false};
    char serves[TEXT_SIZE] = "1";

    (void)text_copy(settings.value[SETTING_SINGLE_PRIMARY], MYSQL_SETTING_SIZE,
                    "ON");
    assert_true(mysql_serves_add(&settings, serves, sizeof serves));
    assert_string_equal(serves,
                        "1 AND CONCAT(@@GLOBAL.group_replication_single_"
                        "primary_mode) IN ('1', 'ON')");
}

/* A term that is cut would be no condition at all. */
TEST(conditions_without_room_are_no_conditions)
{
    char serves[80] = "1";
    char closed[80] = "";

    assert_false(mysql_serves_add(&safe, serves, sizeof serves));
    assert_false(mysql_closed_add(&safe, closed, sizeof closed));
}

/* TiDB accepts LOCK IN SHARE MODE, and locks nothing unless it is configured
 * to. */
TEST(tidb_locks_no_rows_in_shared_mode_unless_it_is_told_to)
{
    static const struct {
        const char *version;
        const char *no_operations;
        const char *shared_locks;
        bool locks;
    } cases[] = {
        {"10.11.19-MariaDB-log", "", "", true},
        {"8.4.3", "", "", true},
        {"5.7.25-TiDB-v7.5.1", "OFF", "", false},
        {"8.0.11-TiDB-v8.5.0", "OFF", "OFF", false},
        {"8.0.11-TiDB-v8.5.0", "ON", "0", false},
        {"8.0.11-TiDB-v8.5.0", "OFF", "ON", true},
        {"8.0.11-TiDB-v8.5.0", "ON", "1", true},
        {"5.7.25-TiDB-v3.0.0", "", "", false}, /* from before both */
        {"8.0.40", "OFF", "OFF", false},       /* a version by server-version */
        {"8.0.40", "0", "0", false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct mysql_settings settings = safe;

        (void)text_copy(settings.value[SETTING_VERSION], MYSQL_SETTING_SIZE,
                        cases[i].version);
        (void)text_copy(settings.value[SETTING_NO_OPERATIONS],
                        MYSQL_SETTING_SIZE, cases[i].no_operations);
        (void)text_copy(settings.value[SETTING_SHARED_LOCKS],
                        MYSQL_SETTING_SIZE, cases[i].shared_locks);
        if (mysql_shared_locks(&settings) != cases[i].locks)
            fail_msg("%s, %s, %s", cases[i].version, cases[i].no_operations,
                     cases[i].shared_locks);
    }
}
