/* SPDX-License-Identifier: Apache-2.0 */
/* Starting, asking and killing PostgreSQL. */
#include "support/server_postgres.h"

#include <glob.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/text.h"
#include "support/postmaster.h"
#include "support/server_files.h"
#include "support/server_kind.h"
#include "support/test.h"

#define SQL_SIZE      4096
#define CONNINFO_SIZE 256

/* What the next server is a copy of: by pg_basebackup, as a standby; or of that
 * folder in the folder of the other one. */
static struct {
    struct server *server; /* NULL: of nothing */
    const char *folder;    /* NULL: a standby */
} original;

/* --- programs --- */

/* The newest that Debian has, which keeps a server's programs out of PATH. */
static const char *installed_folder(void)
{
    static char folder[PROGRAM_PATH_SIZE];
    glob_t found;

    if (folder[0] == '\0' &&
        glob("/usr/lib/postgresql/*/bin/postgres", 0, NULL, &found) == 0) {
        const char *last = found.gl_pathv[found.gl_pathc - 1];

        (void)text_format(folder, sizeof folder, "%.*s",
                          (int)(strrchr(last, '/') + 1 - last), last);
        globfree(&found);
    }
    return folder;
}

/* SEQB_POSTGRES_BIN names the folder of another version, which may lack some
 * programs: those of the installed one serve older servers, too. */
const char *postgres_program(const char *program,
                             char out[static PROGRAM_PATH_SIZE])
{
    const char *other = getenv("SEQB_POSTGRES_BIN");

    if (other != NULL &&
        text_format(out, PROGRAM_PATH_SIZE, "%s/%s", other, program) &&
        access(out, X_OK) == 0)
        return out;
    (void)text_format(out, PROGRAM_PATH_SIZE, "%s%s", installed_folder(),
                      program);
    return out;
}

bool postgres_is_installed(void)
{
    char program[PROGRAM_PATH_SIZE];

    return access(postgres_program("postgres", program), X_OK) == 0 ||
           server_is_installed("postgres");
}

void postgres_require(void)
{
    if (!postgres_is_installed())
        server_require("postgres");
}

/* --- starting --- */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we"); /* and so its owner stays */

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void prepare_new(struct server *server)
{
    char program[PROGRAM_PATH_SIZE];
    char path[PROGRAM_PATH_SIZE];
    const char *const argv[] = {postgres_program("initdb", program),
                                "--pgdata=data",
                                "--username=postgres",
                                "--encoding=UTF8",
                                "--locale=C",
                                "--auth=trust",
                                "--no-sync",
                                NULL};

    server_run(server, argv);
    (void)text_format(path, sizeof path, "%s/data/pg_hba.conf", server->folder);
    write_file(path, "local all all trust\n"
                     "local replication all trust\n"
                     "host all guarded 127.0.0.1/32 scram-sha-256\n"
                     "hostssl all certified 127.0.0.1/32 cert\n"
                     "host all certified 127.0.0.1/32 reject\n"
                     "host all all 127.0.0.1/32 trust\n"
                     "host replication all 127.0.0.1/32 trust\n");
}

static void prepare_standby(struct server *server)
{
    char program[PROGRAM_PATH_SIZE];
    char primary[PROGRAM_PATH_SIZE];
    const char *const argv[] = {postgres_program("pg_basebackup", program),
                                "--pgdata=data",
                                "--checkpoint=fast",
                                "--write-recovery-conf",
                                "--no-sync",
                                "--dbname",
                                primary,
                                NULL};

    (void)text_format(primary, sizeof primary,
                      "host=127.0.0.1 port=%d user=postgres",
                      (int)original.server->port);
    server_run(server, argv);
}

static void postgres_prepare(struct server *server)
{
    char from[PROGRAM_PATH_SIZE];

    if (original.server == NULL) {
        prepare_new(server);
    } else if (original.folder == NULL) {
        prepare_standby(server);
    } else {
        (void)text_format(from, sizeof from, "%s/%s", original.server->folder,
                          original.folder);
        server_files_copy(server, from, "data");
    }
}

static void postgres_command(struct server *server, struct server_words *words)
{
    static const char *const settings[] = {
        "listen_addresses=127.0.0.1",
        "shared_buffers=16MB",
        "max_connections=60",
        "wal_level=replica",
        "wal_receiver_timeout=60s",
        "max_standby_streaming_delay=-1", /* cancels no query of a test */
        "max_prepared_transactions=0",
        /* In its folder, since what a killed one has in /dev/shm stays. */
        "dynamic_shared_memory_type=mmap",
    };

    server_word(words, "postgres");
    server_word(words, "-D");
    server_word(words, "data");
    server_word(words, "-p");
    server_word(words, "%d", (int)server->port);
    server_word(words, "-k");
    server_word(words, "%s", server->folder);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        server_word(words, "-c");
        server_word(words, "%s", settings[i]);
    }
}

static void conninfo_make(const struct server *server, const char *database,
                          char *out)
{
    assert_true(text_format(out, CONNINFO_SIZE,
                            "host=%s port=%d user=postgres dbname=%s options="
                            "'-c default_transaction_read_only=off'",
                            server->folder, (int)server->port, database));
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, 2000000}, NULL);
}

/* Whether its own file says so: that of an earlier one is left from that. */
static bool is_ready(const struct server *server)
{
    const struct postmaster found = postmaster_of(server->folder);

    return found.is_ready && found.pid == server->pid;
}

static void postgres_killed(struct server *server)
{
    const struct postmaster found = postmaster_of(server->folder);

    if (found.pid == server->pid)
        postmaster_clean(&found);
}

/* It is asked only then: each question, even one that it refuses while it
 * starts, is a process of it. */
static bool postgres_answers(struct server *server)
{
    char conninfo[CONNINFO_SIZE];

    if (!is_ready(server))
        return false;
    conninfo_make(server, "postgres", conninfo);
    return PQping(conninfo) == PQPING_OK;
}

static void postgres_forget(struct server *server)
{
    PQfinish(server->admin);
}

static const struct server_kind *postgres_kind(void)
{
    static char program[PROGRAM_PATH_SIZE];
    static struct server_kind kind;

    kind = (struct server_kind){
        .program = postgres_program("postgres", program),
        .as_nobody = true,
        .prepare = postgres_prepare,
        .command = postgres_command,
        .is_up = postgres_answers,
        .forget = postgres_forget,
        .killed = postgres_killed,
    };
    return &kind;
}

struct server *server_postgres(const char *const *settings)
{
    postgres_require();
    return server_new(postgres_kind(), settings);
}

void postgres_await(struct server *server)
{
    server_expect(server);
    if (server->pid == 0)
        server_start(server);
    while (!postgres_answers(server))
        pause_shortly();
}

/* --- asking --- */

static PGresult *sql_run(struct server *server, PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    const ExecStatusType kind = PQresultStatus(result);

    if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK &&
        kind != PGRES_EMPTY_QUERY)
        fail_msg("postgres on port %d: %s: %s", (int)server->port, sql,
                 PQerrorMessage(conn));
    return result;
}

static void notice_ignore(void *context, const PGresult *result)
{
    (void)context;
    (void)result;
}

/* A look whether the server answers costs as much as a connection: the server
 * starts a process for each. So it is only for a connection that fails. */
static PGconn *admin_connect(struct server *server, const char *database)
{
    char conninfo[CONNINFO_SIZE];
    PGconn *conn;

    server_expect(server);
    if (server->pid == 0)
        server_start(server);
    conninfo_make(server, database, conninfo);
    conn = PQconnectdb(conninfo);
    if (PQstatus(conn) != CONNECTION_OK) {
        postgres_await(server);
        PQreset(conn);
    }
    if (PQstatus(conn) != CONNECTION_OK)
        fail_msg("postgres: %s", PQerrorMessage(conn));
    (void)PQsetNoticeReceiver(conn, notice_ignore, NULL);
    return conn;
}

/* One that was closed has its reason to read first, and then its end. */
static bool is_open(PGconn *conn)
{
    return conn != NULL && PQconsumeInput(conn) == 1 &&
           PQconsumeInput(conn) == 1 && PQstatus(conn) == CONNECTION_OK;
}

/* The one to the database postgres is kept: most statements go there, and a
 * new connection costs more processor time than any of them. Kinds that are
 * asked through this file, such as a node of Patroni, may keep none. */
static PGconn *admin_of(struct server *server, const char *database)
{
    server_expect(server);
    if (server->kind->forget != postgres_forget ||
        strcmp(database, "postgres") != 0)
        return admin_connect(server, database);
    if (!is_open(server->admin)) {
        server_forget_admin(server);
        server->admin = admin_connect(server, database);
    }
    return server->admin;
}

static void sql_ask(struct server *server, const char *database,
                    const char *sql, char out[static POSTGRES_ASK_SIZE])
{
    PGconn *conn = admin_of(server, database);
    PGresult *result = sql_run(server, conn, sql);

    out[0] = '\0';
    if (PQntuples(result) > 0 && PQnfields(result) > 0)
        (void)text_copy(out, POSTGRES_ASK_SIZE, PQgetvalue(result, 0, 0));
    PQclear(result);
    if (conn != server->admin)
        PQfinish(conn);
}

bool postgres_try(struct server *server, const char *sql,
                  char out[static POSTGRES_ASK_SIZE])
{
    char conninfo[CONNINFO_SIZE];
    PGresult *result = NULL;
    PGconn *conn;
    bool is_answered = false;

    conninfo_make(server, "postgres", conninfo);
    conn = PQconnectdb(conninfo);
    (void)PQsetNoticeReceiver(conn, notice_ignore, NULL);
    if (PQstatus(conn) == CONNECTION_OK)
        result = PQexec(conn, sql);
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0)
        is_answered =
            text_copy(out, POSTGRES_ASK_SIZE, PQgetvalue(result, 0, 0));
    PQclear(result);
    PQfinish(conn);
    return is_answered;
}

void postgres_ask(struct server *server, const char *database,
                  char out[static POSTGRES_ASK_SIZE], const char *format, ...)
{
    char sql[SQL_SIZE];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    assert_in_range(length, 0, sizeof sql - 1);
    sql_ask(server, database, sql, out);
}

void postgres_execute(struct server *server, const char *database,
                      const char *format, ...)
{
    char sql[SQL_SIZE];
    char ignored[POSTGRES_ASK_SIZE];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    assert_in_range(length, 0, sizeof sql - 1);
    sql_ask(server, database, sql, ignored);
}

int postgres_version(struct server *server)
{
    char number[POSTGRES_ASK_SIZE];

    postgres_ask(server, "postgres", number, "SHOW server_version_num");
    return atoi(number) / 10000;
}

/* The sessions are told directly: each reads its settings before the next
 * statement, while a reload reaches them at some time. */
void postgres_alter(struct server *server, const char *what)
{
    postgres_execute(server, "postgres", "ALTER SYSTEM SET %s", what);
    (void)kill(server->pid, SIGHUP);
    postgres_signal(server, SIGHUP);
}

void postgres_certify(struct server *server)
{
    static const char *const argv[] = {
        "openssl",  "req",          "-x509",   "-newkey",
        "rsa:2048", "-nodes",       "-days",   "2",
        "-subj",    "/CN=postgres", "-addext", "subjectAltName=IP:127.0.0.1",
        "-keyout",  "data/key",     "-out",    "data/crt",
        NULL};

    server_require("openssl");
    server_run(server, argv);
    postgres_alter(server, "ssl_cert_file = 'crt'");
    postgres_alter(server, "ssl_key_file = 'key'");
    postgres_alter(server, "ssl = on");
}

void postgres_copy_certificate(struct server *server, const char *cert,
                               const char *key)
{
    const char *const certs[] = {"install", "-m600", cert, "data/crt", NULL};
    const char *const keys[] = {"install", "-m600", key, "data/key", NULL};

    server_run(server, certs);
    server_run(server, keys);
}

void postgres_show(struct server *server, const char *cert, const char *key)
{
    postgres_copy_certificate(server, cert, key);
    postgres_alter(server, "ssl_cert_file = 'crt'");
    postgres_alter(server, "ssl_key_file = 'key'");
    postgres_alter(server, "ssl = on");
}

/* --- standbys and copies --- */

struct server *server_postgres_standby(struct server *primary)
{
    struct server *standby;

    server_expect(primary);
    original.server = primary;
    standby = server_postgres(NULL);
    original.server = NULL;
    return standby;
}

struct server *server_postgres_of(struct server *server, const char *folder)
{
    struct server *copy;

    original.folder = folder;
    copy = server_postgres_standby(server);
    original.folder = NULL;
    return copy;
}

void postgres_promote(struct server *standby)
{
    char done[POSTGRES_ASK_SIZE];

    postgres_ask(standby, "postgres", done, "SELECT pg_promote()");
    assert_string_equal(done, "t");
}

void postgres_catch_up(struct server *primary, struct server *standby)
{
    char written[POSTGRES_ASK_SIZE];
    char is_there[POSTGRES_ASK_SIZE] = "f";

    postgres_ask(primary, "postgres", written, "SELECT pg_current_wal_lsn()");
    while (strcmp(is_there, "t") != 0) {
        postgres_ask(standby, "postgres", is_there,
                     "SELECT pg_last_wal_replay_lsn() >= '%s'", written);
        pause_shortly();
    }
}
