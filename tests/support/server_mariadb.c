/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and asking a mariadbd. */
#include "support/server_mariadb.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mysql.h>

#include "platform/text.h"
#include "support/folder.h"
#include "support/server_files.h"
#include "support/server_kind.h"
#include "support/server_mariadb_kind.h"
#include "support/test.h"

#define SQL_SIZE  65536
#define PATH_SIZE 256

/* With the defaults, a server that has started holds 30 MB more. */
#define SMALL_MEMORY                                                           \
    "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M",               \
        "--innodb-log-buffer-size=2M", "--key-buffer-size=64K",                \
        "--aria-pagecache-buffer-size=1M"

/* What the next server is a copy of; NULL: of nothing. */
static struct {
    struct server *server;
    const char *folder; /* in that one's */
} original;

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

void mariadb_install(struct server *server)
{
    const bool is_root = geteuid() == 0 && !server->kind->as_nobody;
    char data[PATH_SIZE];
    char scratch[PATH_SIZE];
    const char *const argv[] = {"mariadb-install-db",
                                "--no-defaults",
                                data,
                                scratch,
                                "--auth-root-authentication-method=normal",
                                "--skip-test-db",
                                SMALL_MEMORY,
                                is_root ? "--user=root" : NULL,
                                NULL};

    (void)text_format(data, sizeof data, "--datadir=%s/data", server->folder);
    (void)text_format(scratch, sizeof scratch, "--tmpdir=%s", server->folder);
    server_run(server, argv);
}

static void mariadb_prepare(struct server *server)
{
    char from[PATH_SIZE];

    if (original.server == NULL) {
        mariadb_install(server);
        return;
    }
    (void)text_format(from, sizeof from, "%s/%s", original.server->folder,
                      original.folder);
    server_files_copy(server, from, "data");
}

void mariadb_words(struct server *server, struct server_words *words)
{
    static const char *const settings[] = {
        "--skip-name-resolve",
        SMALL_MEMORY,
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
    server_word(words, "--bind-address=%s", server->address);
    server_word(words, "--pid-file=%s/pid", server->folder);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        server_word(words, "%s", settings[i]);
    if (geteuid() == 0 && !server->kind->as_nobody)
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

void mariadb_forget(struct server *server)
{
    mysql_close(server->admin);
}

static const struct server_kind mariadb_kind = {
    .program = "mariadbd",
    .prepare = mariadb_prepare,
    .command = mariadb_words,
    .is_up = mariadb_answers,
    .forget = mariadb_forget,
};

struct server *server_mariadb(const char *const *args)
{
    mariadb_require();
    return server_new(&mariadb_kind, args);
}

struct server *server_mariadb_of(struct server *server, const char *folder)
{
    struct server *copy;

    original.server = server;
    original.folder = folder;
    copy = server_mariadb(NULL);
    original.server = NULL;
    return copy;
}

/* --- copies --- */

void mariadb_copy_cold(struct server *server, const char *name)
{
    server_shut_down(server, SIGTERM);
    server_files_copy(server, "data", name);
    server_start(server);
}

/* The second step makes one state of what was read over a while. */
void mariadb_copy_backup(struct server *server, const char *name)
{
    char socket[PATH_SIZE];
    char target[PATH_SIZE];
    const char *const backup[] = {
        "mariadb-backup", "--no-defaults", "--backup", "--user=root",
        socket,           target,          NULL};
    const char *const prepare[] = {"mariadb-backup", "--no-defaults",
                                   "--prepare", target, NULL};

    server_require("mariadb-backup");
    (void)text_format(socket, sizeof socket, "--socket=%s", server->socket);
    (void)text_format(target, sizeof target, "--target-dir=%s/%s",
                      server->folder, name);
    server_files_remove(server, name);
    server_run(server, backup);
    server_run(server, prepare);
}

void mariadb_copy_snapshot(struct server *server, const char *name)
{
    server_pause(server);
    server_files_copy(server, "data", name);
    server_resume(server);
}

void mariadb_import(struct server *server, const char *from, const char *to)
{
    char source[PATH_SIZE];
    char target[PATH_SIZE];
    char table[PATH_SIZE];
    const char *const copy[] = {"cp", source, target, NULL};

    (void)text_format(source, sizeof source, "%s.ibd", from);
    (void)text_format(target, sizeof target, "data/%s.ibd", to);
    (void)text_format(table, sizeof table, "%s", to);
    *strchr(table, '/') = '.';
    mariadb_execute(server, "ALTER TABLE %s DISCARD TABLESPACE", table);
    server_run(server, copy);
    mariadb_execute(server, "ALTER TABLE %s IMPORT TABLESPACE", table);
}

void mariadb_put_back(struct server *server, const char *name)
{
    server_kill(server);
    server_files_copy(server, name, "data");
    server_start(server);
}

/* The date of a table is that of its .frm, which no copy has. */
void mariadb_revert(struct server *server, const char *name)
{
    char files[PATH_SIZE];
    const char *const leave[] = {"find",  name,      "-name",
                                 "*.frm", "-delete", NULL};
    const char *const remove[] = {"find",  "data",  "-type",   "f", "!",
                                  "-name", "*.frm", "-delete", NULL};
    const char *const copy[] = {"cp", "-a", files, "data", NULL};

    (void)text_format(files, sizeof files, "%s/.", name);
    server_kill(server);
    server_run(server, leave);
    server_run(server, remove);
    server_run(server, copy);
    server_start(server);
}

void mariadb_exchange(struct server *server, const char *name)
{
    server_kill(server);
    server_files_exchange(server, "data", name);
    server_start(server);
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

void mariadb_execute(struct server *server, const char *format, ...)
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

/* --- dumps --- */

#define TABLES_MOST 16

struct dumped {
    char names[MARIADB_ASK_SIZE];
    const char *tables[TABLES_MOST]; /* in the names */
    size_t count;
};

static void dumped_find(struct server *server, struct dumped *dumped,
                        const char *database)
{
    char *rest;

    mariadb_ask(server, dumped->names,
                "SELECT GROUP_CONCAT(table_name) FROM "
                "information_schema.tables WHERE table_schema = '%s'",
                database);
    for (char *table = strtok_r(dumped->names, ",", &rest); table != NULL;
         table = strtok_r(NULL, ",", &rest)) {
        assert_true(dumped->count < TABLES_MOST);
        dumped->tables[dumped->count++] = table;
    }
}

/* All are locked while they are copied, as mariadb-dump does. */
void mariadb_dump_database(struct server *server, const char *database,
                           const char *dump)
{
    struct dumped dumped = {.count = 0};
    char lock[SQL_SIZE] = "LOCK TABLES";
    char fill[SQL_SIZE] = "";

    mariadb_execute(server, "DROP DATABASE IF EXISTS %s; CREATE DATABASE %s",
                    dump, dump);
    dumped_find(server, &dumped, database);
    for (size_t i = 0; i < dumped.count; i++) {
        const char *table = dumped.tables[i];

        mariadb_execute(server, "CREATE TABLE %s.%s LIKE %s.%s", dump, table,
                        database, table);
        (void)text_append(lock, sizeof lock, "%s %s.%s READ, %s.%s WRITE",
                          i > 0 ? "," : "", database, table, dump, table);
        (void)text_append(fill, sizeof fill,
                          "INSERT INTO %s.%s SELECT * FROM %s.%s; ", dump,
                          table, database, table);
    }
    mariadb_execute(server, "%s; %s UNLOCK TABLES", lock, fill);
}

/* What is there waits aside until it is dropped. */
void mariadb_restore_database(struct server *server, const char *database,
                              const char *dump)
{
    struct dumped dumped = {.count = 0};
    char rename[SQL_SIZE] = "RENAME TABLE";

    mariadb_execute(server, "CREATE OR REPLACE DATABASE aside; "
                            "CREATE OR REPLACE DATABASE ready");
    dumped_find(server, &dumped, dump);
    for (size_t i = 0; i < dumped.count; i++) {
        const char *table = dumped.tables[i];

        mariadb_execute(server,
                        "CREATE TABLE ready.%s LIKE %s.%s; "
                        "INSERT INTO ready.%s SELECT * FROM %s.%s",
                        table, dump, table, table, dump, table);
        (void)text_append(
            rename, sizeof rename, "%s %s.%s TO aside.%s, ready.%s TO %s.%s",
            i > 0 ? "," : "", database, table, table, table, database, table);
    }
    mariadb_execute(server, "%s; DROP DATABASE aside; DROP DATABASE ready",
                    rename);
}

void mariadb_make_tables(struct server *server, const char *database)
{
    char path[PATH_MAX];
    char socket[PATH_SIZE];
    char source[PATH_MAX + PATH_SIZE];
    const char *const argv[] = {
        "mariadb",   "--no-defaults", socket,   "--user=root",
        "--execute", source,          database, NULL};

    (void)text_format(socket, sizeof socket, "--socket=%s", server->socket);
    assert_true(project_path("sql/mysql.sql", path));
    (void)text_format(source, sizeof source, "source %s", path);
    server_run(server, argv);
}
