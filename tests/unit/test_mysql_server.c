/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of a server's settings, over the scripted client library. */
#include "client_script.h"

#include <string.h>

#include "backends/mysql/server.h"

static const char *const hosts[] = {"a:1", NULL};

struct told {
    const char *version;
    const char *setting, *value; /* one more of the global ones */
    bool is_cluster, accept_loss;
};

static enum seqb_status check(struct mysql *mysql, const struct told *told,
                              struct seqb_error *err)
{
    const struct seqb_backend_options options = {
        .accept_loss = told->accept_loss,
        .endpoints = told->is_cluster ? hosts : NULL};

    client_begin(mysql);
    client.replies[0] = (struct reply){.rows = 3,
                                       .cells = {{"hostname", "h"},
                                                 {"version", told->version},
                                                 {told->setting, told->value}}};
    client.replies[1] = (struct reply){
        .rows = 2, .cells = {{NULL, "x"}, {"Innodb_redo_log_enabled", "ON"}}};
    client.replies[2] =
        (struct reply){.rows = 2, .cells = {{"port", NULL}, {"port", "7"}}};
    return mysql_server_check(&mysql->link, &options, &mysql->sql.base, err);
}

TEST(version_is_three_numbers_of_two_digits)
{
    static const struct {
        const char *text;
        int64_t version; /* 0: none */
        const char *server;
    } cases[] = {{"10.11.19-MariaDB-log", 101119, "mariadb 10.11.19"},
                 {"8.0.36", 80036, "mysql 8.0.36"},
                 {"99.99.99", 999999, "mysql 99.99.99"},
                 {"0.0.1", 1, "mysql 0.0.1"},
                 {"100.0.0", 0, NULL},
                 {"10.11.100", 0, NULL},
                 {"10.11", 0, NULL},
                 {"10..11", 0, NULL},
                 {"MariaDB", 0, NULL},
                 {NULL, 0, NULL}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct told told = {.version = cases[i].text};
        struct mysql mysql;
        struct seqb_error err;

        mysql.link.version = 0;
        assert_status(check(&mysql, &told, &err),
                      cases[i].version > 0 ? SEQB_OK : SEQB_PROTOCOL);
        if (cases[i].version > 0) {
            assert_int_equal(mysql.link.version, cases[i].version);
            assert_string_equal(mysql.sql.base.server, cases[i].server);
            assert_int_equal(mysql.link.is_mariadb, i == 0);
            assert_string_equal(mysql.sql.base.domain, "h:7");
            assert_int_equal(mysql.sql.base.fd, 77);
        }
        mysql_link_close(&mysql.link);
    }
}

/* The settings that are asked for are those of mysql_setting_names. */
TEST(server_is_asked_once_for_all_its_settings)
{
    const struct told told = {.version = "8.0.36"};
    struct mysql mysql;
    struct seqb_error err;

    assert_ok(check(&mysql, &told, &err));
    client_must_send(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'hostname', "
        "'port', 'read_only', 'super_read_only', 'innodb_read_only', "
        "'log_bin', 'innodb_flush_log_at_trx_commit', 'innodb_flush_method', "
        "'Innodb_redo_log_enabled', 'sync_binlog', 'binlog_format', "
        "'wsrep_on', 'group_replication_single_primary_mode', "
        "'tidb_enable_noop_functions', 'tidb_enable_shared_lock_promotion');"
        "SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_enabled';"
        "SHOW SESSION VARIABLES WHERE Variable_name = "
        "'tidb_enable_shared_lock_promotion'\n");
    assert_string_equal(mysql.link.closed,
                        "CONCAT_WS(', ', IF(" MYSQL_PRIMARY_SQL
                        ", NULL, 'read_only'))");
    assert_string_equal(mysql.link.serves, MYSQL_PRIMARY_SQL);
    mysql_link_close(&mysql.link);
}

/* What is also set is nothing that a broker may ignore, but by accept_loss. */
TEST(setting_that_is_unsafe_is_refused)
{
    static const struct {
        struct told told;
        enum seqb_status status;
        const char *text;
    } cases[] = {
        {{"8.0.36", "read_only", "ON", false, true}, SEQB_ROLE, "read_only"},
        {{"8.0.36", "super_read_only", "1", false, true},
         SEQB_ROLE,
         "super_read_only"},
        {{"8.0.36", "innodb_read_only", "ON", false, true},
         SEQB_ROLE,
         "innodb_read_only"},
        {{"8.0.36", "read_only", "OFF", false, false}, SEQB_OK, ""},
        {{"8.0.36", "wsrep_on", "ON", false, false}, SEQB_UNSAFE, "wsrep_on"},
        {{"8.0.36", "wsrep_on", "ON", true, false}, SEQB_OK, ""},
        {{"8.0.36", "sync_binlog", "0", false, false}, SEQB_OK, ""},
        {{"8.0.36", "innodb_flush_log_at_trx_commit", "2", false, false},
         SEQB_UNSAFE,
         "accept_loss = true"},
        {{"8.0.36", "innodb_flush_log_at_trx_commit", "2", false, true},
         SEQB_OK,
         ""},
        {{"8.0.11-TiDB-v8", "read_only", "OFF", false, true},
         SEQB_UNSAFE,
         "TiDB"},
        {{"8.0.11", "tidb_enable_shared_lock_promotion", "ON", false, true},
         SEQB_OK,
         ""},
        {{"8.0.11", "tidb_enable_noop_functions", "OFF", false, true},
         SEQB_UNSAFE,
         "TiDB"}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mysql mysql;
        struct seqb_error err = {.text = ""};

        assert_status(check(&mysql, &cases[i].told, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].text));
        mysql_link_close(&mysql.link);
    }
}

TEST(statements_alone_do_not_follow_the_counters)
{
    static const struct {
        const char *log_bin, *format;
        enum seqb_status status;
    } cases[] = {{"ON", "STATEMENT", SEQB_UNSAFE},
                 {"OFF", "STATEMENT", SEQB_OK},
                 {"ON", "MIXED", SEQB_OK}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct seqb_backend_options options = {.accept_loss = true};
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        client.replies[0] =
            (struct reply){.rows = 3,
                           .cells = {{"log_bin", cases[i].log_bin},
                                     {"version", "8.0.36"},
                                     {"binlog_format", cases[i].format}}};
        assert_status(
            mysql_server_check(&mysql.link, &options, &mysql.sql.base, &err),
            cases[i].status);
        mysql_link_close(&mysql.link);
    }
}

TEST(each_answer_about_the_settings_is_needed)
{
    for (int fails = 0; fails < 3; fails++) {
        const struct seqb_backend_options options = {.accept_loss = true};
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        client.replies[fails].error = 1;
        assert_status(
            mysql_server_check(&mysql.link, &options, &mysql.sql.base, &err),
            SEQB_REFUSED);
        assert_int_equal(client.taken, fails + 1);
        mysql_link_close(&mysql.link);
    }
}

TEST(server_that_serves_no_more_says_why)
{
    static const struct {
        const char *closed;
        enum seqb_status status;
    } cases[] = {{"", SEQB_OK},
                 {NULL, SEQB_PROTOCOL},
                 {"read_only", SEQB_ROLE},
                 {"read_only, sync_binlog = 0", SEQB_ROLE},
                 {"read", SEQB_UNSAFE},
                 {"sync_binlog = 0", SEQB_UNSAFE}};

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct mysql mysql;
        struct seqb_error err;

        client_begin(&mysql);
        assert_status(mysql_server_still(&mysql.link, cases[i].closed, &err),
                      cases[i].status);
        mysql_link_close(&mysql.link);
    }
}
