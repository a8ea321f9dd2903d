/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and asking a mariadbd. */
#include "support/server_mariadb.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <mysql.h>

#include "platform/text.h"
#include "support/server_kind.h"

#define SQL_SIZE  65536
#define PATH_SIZE 256
#define LOG_SIZE  "--innodb-log-file-size=4M"

bool mariadb_is_installed(void)
{
    return server_is_installed("mariadbd") &&
           server_is_installed("mariadb-install-db");
}

void mariadb_require(void)
{
    server_require("mariadbd");
    server_require("mariadb-install-db");
}

/* --- starting --- */

static void mariadb_prepare(struct server *server)
{
    char data[PATH_SIZE];
    char scratch[PATH_SIZE];
    const char *const argv[] = {"mariadb-install-db",
                                "--no-defaults",
                                data,
                                scratch,
                                "--auth-root-authentication-method=normal",
                                "--skip-test-db",
                                "--innodb-buffer-pool-size=8M",
                                LOG_SIZE,
                                geteuid() == 0 ? "--user=root" : NULL,
                                NULL};

    (void)text_format(data, sizeof data, "--datadir=%s/data", server->folder);
    (void)text_format(scratch, sizeof scratch, "--tmpdir=%s", server->folder);
    server_run(server, argv);
}

static void mariadb_command(struct server *server, struct server_words *words)
{
    static const char *const settings[] = {
        "--bind-address=127.0.0.1",
        "--skip-name-resolve",
        "--innodb-buffer-pool-size=8M",
        LOG_SIZE,
        "--innodb-flush-log-at-trx-commit=1",
        "--sync-binlog=1",
        "--max-connections=200",
    };

    server_word(words, "mariadbd");
    server_word(words, "--no-defaults");
    server_word(words, "--datadir=%s/data", server->folder);
    /* In /tmp the servers would remove each other's scratch files. */
    server_word(words, "--tmpdir=%s", server->folder);
    server_word(words, "--socket=%s", server->socket);
    server_word(words, "--port=%d", (int)server->port);
    server_word(words, "--pid-file=%s/pid", server->folder);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        server_word(words, "%s", settings[i]);
    if (geteuid() == 0)
        server_word(words, "--user=root");
}

static MYSQL *admin_connect(const struct server *server)
{
    const unsigned seconds = 60;
    MYSQL *handle = mysql_init(NULL);

    assert_non_null(handle);
    (void)mysql_options(handle, MYSQL_OPT_READ_TIMEOUT, &seconds);
    if (mysql_real_connect(handle, NULL, "root", "", NULL, 0, server->socket,
                           CLIENT_MULTI_STATEMENTS) != NULL)
        return handle;
    mysql_close(handle);
    return NULL;
}

static bool mariadb_answers(struct server *server)
{
    MYSQL *handle = admin_connect(server);

    if (handle == NULL)
        return false;
    mysql_close(handle);
    return true;
}

static void mariadb_forget(struct server *server)
{
    mysql_close(server->admin);
}

static const struct server_kind mariadb_kind = {
    .program = "mariadbd",
    .prepare = mariadb_prepare,
    .command = mariadb_command,
    .is_up = mariadb_answers,
    .forget = mariadb_forget,
};

struct server *server_mariadb(const char *const *args)
{
    mariadb_require();
    return server_new(&mariadb_kind, args);
}

static void files_copy(struct server *server, const char *from, const char *to)
{
    const char *const remove[] = {"rm", "-rf", to, NULL};
    const char *const copy[] = {"cp", "-a", from, to, NULL};

    server_kill(server);
    server_run(server, remove);
    server_run(server, copy);
    server_start(server);
}

void mariadb_save(struct server *server)
{
    files_copy(server, "data", "saved");
}

void mariadb_restore(struct server *server)
{
    files_copy(server, "saved", "data");
}

/* --- asking --- */

static MYSQL *admin_of(struct server *server)
{
    server_expect(server);
    if (server->admin == NULL)
        server->admin = admin_connect(server);
    assert_non_null(server->admin);
    return server->admin;
}

/* Takes all answers; `out` (or NULL) is the last one's. */
static void answers_take(MYSQL *admin, const char *sql, char *out)
{
    int next;

    do {
        MYSQL_RES *rows = mysql_store_result(admin);
        MYSQL_ROW row = rows != NULL ? mysql_fetch_row(rows) : NULL;

        if (out != NULL)
            (void)text_copy(out, MARIADB_ASK_SIZE,
                            row != NULL && row[0] != NULL ? row[0] : "");
        if (rows != NULL)
            mysql_free_result(rows);
        next = mysql_next_result(admin);
        if (next > 0)
            fail_msg("mariadb: %s: %s", sql, mysql_error(admin));
    } while (next == 0);
}

__attribute__((format(printf, 3, 0))) static void
sql_run(struct server *server, char *out, const char *format, va_list args)
{
    MYSQL *admin = admin_of(server);
    char sql[SQL_SIZE];

    assert_in_range(vsnprintf(sql, sizeof sql, format, args), 1,
                    sizeof sql - 1);
    if (mysql_query(admin, sql) != 0)
        fail_msg("mariadb: %s: %s", sql, mysql_error(admin));
    answers_take(admin, sql, out);
}

void mariadb_tell(struct server *server, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    sql_run(server, NULL, format, args);
    va_end(args);
}

void mariadb_ask(struct server *server, char out[static MARIADB_ASK_SIZE],
                 const char *format, ...)
{
    va_list args;

    va_start(args, format);
    sql_run(server, out, format, args);
    va_end(args);
}

void mariadb_run_file(struct server *server, const char *database,
                      const char *path)
{
    char socket[PATH_SIZE];
    char source[PATH_SIZE];
    const char *const argv[] = {
        "mariadb",   "--no-defaults", socket,   "--user=root",
        "--execute", source,          database, NULL};

    (void)text_format(socket, sizeof socket, "--socket=%s", server->socket);
    (void)text_format(source, sizeof source, "source %s", path);
    server_run(server, argv);
}
