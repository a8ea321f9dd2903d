/* SPDX-License-Identifier: Apache-2.0 */
/* What the mysql engines require when they open, on mysql-row: connection,
 * settings, role, tables and rights. */
#include "contract/mysql_fixture.h"

#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>

#include "backends/mysql/errors.h"
#include "contract/founders.h"
#include "platform/text.h"
#include "support/test.h"

#define PATH_SIZE 512

static struct fixture *prepare(void **state)
{
    return fixture_prepare(state, &backend_mysql_row);
}

static struct fixture *prepare_empty(void **state)
{
    return fixture_prepare_empty(state, &backend_mysql_row);
}

#define PREPARED FIXTURE(struct fixture *f, prepare, fixture_stop)
#define EMPTY    FIXTURE(struct fixture *f, prepare_empty, fixture_stop)

static struct fixture *prepare_on(void **state, const char *const *args)
{
    mariadb_require();
    return fixture_prepare_on(state, &backend_mysql_row, server_mariadb(args));
}

/* --- the connection --- */

TEST_SKIPPABLE(PREPARED, server_and_its_domain_are_named)
{
    char host[MARIADB_ASK_SIZE];
    struct seqb_backend *other;

    must_open(f);
    mariadb_ask(f->server, host, "SELECT CONCAT(@@hostname, ':', @@port)");
    assert_memory_equal(f->backend->server, "mariadb 1", 9);
    assert_string_equal(f->backend->domain, host);
    assert_string_equal(f->backend->loss, "");
    assert_true(f->backend->fd >= 0);
    TELL(f, "CREATE DATABASE IF NOT EXISTS second;"
            "GRANT ALL ON second.* TO seq");
    f->options.database = "second";
    other = must_open_other(f);
    assert_string_equal(other->domain, f->backend->domain);
    f->ops->close(other);
    TELL(f, "DROP DATABASE second");
}

TEST_SKIPPABLE(PREPARED, connection_may_be_a_unix_socket)
{
    f->options.host = NULL;
    f->options.port = 0;
    f->options.socket_path = server_socket(f->server);
    must_open(f);
    must_take(f, 5, 0);
    f->options.tls = SEQB_TLS_REQUIRE;
    must_not_open(f, SEQB_INVALID, "a unix socket has no tls");
    must_not_open(f, SEQB_INVALID, server_socket(f->server));
}

/* To the library it is the word for a unix socket, and the port is nothing. */
TEST_SKIPPABLE(PREPARED, localhost_is_a_host_like_others)
{
    f->options.host = "localhost";
    must_open(f);
    must_take(f, 5, 0);
}

TEST_SKIPPABLE(PREPARED, options_that_lead_nowhere_are_invalid)
{
    const struct seqb_backend_options good = f->options;

    f->options.host = NULL;
    must_not_open(f, SEQB_INVALID, "no host");
    f->options = good;
    f->options.database = NULL;
    must_not_open(f, SEQB_INVALID, "no database");
}

TEST_SKIPPABLE(PREPARED, who_may_not_enter_is_refused)
{
    const struct seqb_backend_options good = f->options;

    f->options.password = "wrong";
    must_not_open(f, SEQB_REFUSED, "Access denied");
    f->options.password = NULL;
    must_not_open(f, SEQB_REFUSED, "Access denied");
    f->options = good;
    f->options.user = "nobody";
    must_not_open(f, SEQB_REFUSED, "Access denied");
    f->options = good;
    f->options.database = "mysql";
    must_not_open(f, SEQB_REFUSED, "sql/mysql.sql lists the rights");
}

TEST_SKIPPABLE(PREPARED, database_that_is_missing_is_not_made)
{
    const char *const count = "SELECT COUNT(*) FROM information_schema.SCHEMATA"
                              " WHERE SCHEMA_NAME = 'missing'";

    TELL(f, "GRANT ALL ON missing.* TO seq");
    f->options.database = "missing";
    must_not_open(f, SEQB_UNREACHABLE, "create the database");
    assert_int_equal(number(f, count), 0);
}

TEST_SKIPPABLE(PREPARED, server_that_is_full_is_unreachable)
{
    TELL(f, "ALTER USER seq WITH MAX_USER_CONNECTIONS 1");
    must_open(f);
    assert_status(
        f->ops->open(&f->options, &(struct seqb_backend *){NULL}, &f->err),
        SEQB_UNREACHABLE);
    must_take(f, 5, 0);
}

/* --- tls --- */

/* A certificate for 127.0.0.1 that nobody else signed, in the shared server's
 * folder, so that it goes with it. */
static const char *certificate_make(void **state)
{
    static char folder[PATH_SIZE];
    char command[PATH_SIZE * 2];

    server_require("openssl");
    (void)text_copy(folder, sizeof folder,
                    server_folder(prepare(state)->server));
    (void)fixture_stop(state);
    *state = NULL;
    (void)text_format(
        command, sizeof command,
        "cd %s && openssl req -x509 -newkey rsa:2048 -nodes -days 2 "
        "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
        "-keyout key.pem -out cert.pem 2>openssl.log",
        folder);
    assert_int_equal(system(command), 0);
    return folder;
}

TEST_SKIPPABLE(PREPARED, server_without_tls_is_not_spoken_to_in_clear)
{
    f->options.tls = SEQB_TLS_REQUIRE;
    must_not_open(f, SEQB_REFUSED, "the server has no tls");
    f->options.tls = SEQB_TLS_VERIFY;
    must_not_open(f, SEQB_UNREACHABLE, "the server does not support it");
}

TEST_STATE(ON_SERVER, tls_is_used_and_verified_as_asked_for)
{
    char cert[PATH_SIZE * 2];
    char key[PATH_SIZE * 2];
    const char *const args[] = {cert, key, NULL};
    const char *folder = certificate_make(state);
    struct fixture *f;

    (void)text_format(cert, sizeof cert, "--ssl-cert=%s/cert.pem", folder);
    (void)text_format(key, sizeof key, "--ssl-key=%s/key.pem", folder);
    f = prepare_on(state, args);
    TELL(f, "ALTER USER seq REQUIRE SSL");
    must_not_open(f, SEQB_REFUSED, "Access denied"); /* in clear */
    f->options.tls = SEQB_TLS_REQUIRE;
    must_open(f);
    must_take(f, 5, 0);
    f->options.tls = SEQB_TLS_VERIFY;
    must_not_open(f, SEQB_UNREACHABLE, "self-signed certificate");
    f->options.tls_ca = strchr(cert, '=') + 1;
    must_open(f);
    must_take(f, 5, 5);
    f->options.host = "localhost"; /* is not what the certificate says */
    must_not_open(f, SEQB_UNREACHABLE,
                  "Validation of SSL server certificate failed");
}

/* --- settings and role --- */

TEST_STATE(ON_SERVER, settings_that_lose_commits_are_refused)
{
    const char *const args[] = {"--log-bin", "--binlog-format=MIXED", NULL};
    const struct {
        const char *setting;
        const char *words;
    } cases[] = {
        {"innodb_flush_log_at_trx_commit = 0",
         "innodb_flush_log_at_trx_commit = 0 (safe: 1)"},
        {"innodb_flush_log_at_trx_commit = 2",
         "innodb_flush_log_at_trx_commit = 2 (safe: 1)"},
        {"sync_binlog = 0", "sync_binlog = 0 (safe: 1)"},
        {"sync_binlog = 100", "sync_binlog = 100 (safe: 1)"},
    };
    struct fixture *f = prepare_on(state, args);

    must_open(f);
    must_take(f, 5, 0);
    for (size_t i = 0; i < COUNT(cases); i++) {
        mariadb_execute(f->server, "SET GLOBAL %s", cases[i].setting);
        f->options.accept_loss = false;
        must_not_open(f, SEQB_UNSAFE, cases[i].words);
        assert_non_null(strstr(f->err.text, "accept_loss"));
        f->options.accept_loss = true;
        must_open(f);
        assert_string_equal(f->backend->loss, cases[i].words);
        mariadb_execute(f->server,
                        "SET GLOBAL innodb_flush_log_at_trx_commit = 1,"
                        "GLOBAL sync_binlog = 1");
    }
    mariadb_execute(f->server, "SET GLOBAL innodb_flush_log_at_trx_commit = 2,"
                               "GLOBAL sync_binlog = 7");
    must_open(f);
    assert_string_equal(f->backend->loss,
                        "innodb_flush_log_at_trx_commit = 2 (safe: 1), "
                        "sync_binlog = 7 (safe: 1)");
}

TEST_STATE(ON_SERVER, binary_log_of_statements_is_refused_in_any_case)
{
    const char *const args[] = {"--log-bin", "--binlog-format=STATEMENT", NULL};
    struct fixture *f = prepare_on(state, args);

    f->options.accept_loss = true;
    must_not_open(f, SEQB_UNSAFE, "binlog_format = STATEMENT");
    mariadb_execute(f->server, "SET GLOBAL binlog_format = 'ROW'");
    must_open(f);
}

TEST_SKIPPABLE(PREPARED, binary_logs_settings_do_not_matter_without_it)
{
    TELL(f, "SET GLOBAL sync_binlog = 0, GLOBAL binlog_format = 'STATEMENT'");
    must_open(f);
    TELL(f, "SET GLOBAL sync_binlog = 1, GLOBAL binlog_format = 'MIXED'");
    must_take(f, 5, 0);
}

TEST_SKIPPABLE(PREPARED, replica_is_refused_in_its_role)
{
    TELL(f, "GRANT READ_ONLY ADMIN ON *.* TO seq; SET GLOBAL read_only = 1");
    must_not_open(f, SEQB_ROLE, "read_only = ON");
    TELL(f, "SET GLOBAL read_only = 0");
    must_open(f);
}

/* --- tables and rights --- */

TEST_SKIPPABLE(EMPTY, missing_tables_are_not_made_unasked)
{
    f->options.create = false;
    must_not_open(f, SEQB_UNREACHABLE,
                  ": of a pool in use put the old store back; o");
    assert_int_equal(number(f, "SELECT COUNT(*) FROM information_schema.TABLES "
                               "WHERE TABLE_SCHEMA = DATABASE()"),
                     0);
    f->options.create = true;
    must_open(f);
    f->options.create = false;
    must_open(f);
    must_take(f, 5, 0);
    TELL(f, "DELETE FROM seqb_claims WHERE name = 'store'");
    must_not_open(f, SEQB_UNREACHABLE,
                  ": of a pool in use put the old store back; o");
}

/* As after a clock was set back: then the second of its tables is yet to come
 * again. */
TEST_SKIPPABLE(PREPARED, tables_of_a_later_second_are_not_opened)
{
    must_open(f);
    TELL(f, "SET GLOBAL init_connect = 'SET timestamp = 1000'");
    must_not_open(f, SEQB_UNREACHABLE, "ahead of the server's clock");
    TELL(f, "SET GLOBAL init_connect = ''");
    must_open(f);
}

/* Or in a session whose clock stands still. */
TEST_SKIPPABLE(PREPARED, tables_are_not_awaited_for_ever)
{
    must_open(f);
    TELL(f, "SET @made = (SELECT UNIX_TIMESTAMP(MAX(CREATE_TIME)) "
            "FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE());"
            "SET @still = CONCAT('SET timestamp = ', @made + 1);"
            "SET GLOBAL init_connect = @still");
    must_not_open(f, SEQB_UNREACHABLE, "made again and again");
    TELL(f, "SET GLOBAL init_connect = ''");
    must_open(f);
}

/* As the comments of the file say, and no more. */
TEST_SKIPPABLE(EMPTY, least_rights_suffice_for_a_dbas_tables)
{
    mariadb_make_tables(f->server, f->database);
    TELL(f, "CREATE OR REPLACE USER seq IDENTIFIED BY '" PASSWORD "';"
            "GRANT SELECT, INSERT, UPDATE ON seqb_counters TO seq;"
            "GRANT SELECT, INSERT ON seqb_claims TO seq");
    must_open(f); /* with create: there is nothing to be made */
    f->options.create = false;
    must_open(f);
    must_take(f, 5, 0); /* and not behind a gap */
    assert_int_equal(must_raise(f, 10, 1000), 10);
    assert_ok(claim(f, "c", "t"));
    assert_string_equal(f->standing, "t");
    mariadb_make_tables(f->server, f->database);
    must_open(f);
    must_take(f, 5, 10);
    TELL(f, "DELETE FROM seqb_counters");
    mariadb_make_tables(f->server, f->database);
    must_open(f);
    assert_int_equal(number(f, "SELECT COUNT(*) FROM seqb_counters"), 0);
}

TEST_SKIPPABLE(PREPARED, missing_rights_are_named)
{
    struct seqb_request request;

    TELL(f, "CREATE OR REPLACE USER seq IDENTIFIED BY '" PASSWORD "'");
    mariadb_execute(f->server, "GRANT SELECT ON %s.* TO seq", f->database);
    must_not_open(f, SEQB_REFUSED, "CREATE command denied");
    mariadb_execute(f->server, "GRANT CREATE, INSERT ON %s.* TO seq",
                    f->database);
    must_open(f);
    assert_status(take(f, ORDER, 1, &request), SEQB_REFUSED);
    assert_non_null(strstr(f->err.text, "UPDATE command denied"));
    mariadb_execute(f->server, "GRANT UPDATE ON %s.* TO seq", f->database);
    must_open(f);
    must_take(f, 5, 0);
}

TEST_SKIPPABLE(PREPARED, table_without_transactions_is_refused)
{
    must_open(f);
    TELL(f, "ALTER TABLE seqb_counters ENGINE = MyISAM");
    f->options.accept_loss = true;
    must_not_open(f, SEQB_UNSAFE, "ALTER TABLE seqb_counters ENGINE = InnoDB");
}

/* Each has a block of its own, and the first of them begins at 1. */
TEST_SKIPPABLE(PREPARED, many_may_make_the_tables_at_once)
{
    founders_make_one_store(f->ops, &f->options, ORDER);
}

/* --- what errors mean --- */

TEST_WITH(ON_SERVER, errors_that_leave_nothing_behind_are_listed)
{
    const struct {
        unsigned code;
        enum seqb_status status;
    } cases[] = {
        {ER_LOCK_WAIT_TIMEOUT, SEQB_UNREACHABLE},
        {ER_LOCK_DEADLOCK, SEQB_UNREACHABLE},
        {ER_OPTION_PREVENTS_STATEMENT, SEQB_ROLE},
        {ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, SEQB_ROLE},
        {ER_READ_ONLY_MODE, SEQB_ROLE},
        {ER_NO_SUCH_TABLE, SEQB_UNREACHABLE},
        {4031, SEQB_UNREACHABLE}, /* MySQL's, of a connection that was idle */
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_non_null(mysql_error_find(cases[i].code));
        assert_status(mysql_error_find(cases[i].code)->status, cases[i].status);
        assert_false(mysql_error_is_clients(cases[i].code));
    }
    /* A connection that was killed may have committed before. */
    assert_null(mysql_error_find(ER_QUERY_INTERRUPTED));
    assert_null(mysql_error_find(ER_SERVER_SHUTDOWN));
}

TEST_BEFORE_ALL(without_sigpipe);
