/* SPDX-License-Identifier: Apache-2.0 */
/* Starting PgBouncer in transaction mode. */
#include "support/server_pgbouncer.h"

#include <libpq-fe.h>
#include <stdio.h>

#include "platform/text.h"
#include "support/server_kind.h"
#include "support/test.h"

#define TEXT_SIZE 1024

/* What the next server_pgbouncer leads to. */
static struct server *upstream;
static int upstream_connections;

static void write_file(const struct server *server, const char *name,
                       const char *text)
{
    char path[64];
    FILE *file;

    (void)text_format(path, sizeof path, "%s/%s", server->folder, name);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void settings_write(struct server *server)
{
    char text[TEXT_SIZE];

    assert_true(text_format(text, sizeof text,
                            "[databases]\n"
                            "* = host=127.0.0.1 port=%d\n"
                            "[pgbouncer]\n"
                            "listen_addr = 127.0.0.1\n"
                            "listen_port = %d\n"
                            "unix_socket_dir = %s\n"
                            "auth_type = trust\n"
                            "auth_file = users.txt\n"
                            "admin_users = postgres\n"
                            "pool_mode = transaction\n"
                            "default_pool_size = %d\n"
                            "server_round_robin = 1\n",
                            (int)upstream->port, (int)server->port,
                            server->folder, upstream_connections));
    write_file(server, "pgbouncer.ini", text);
}

static void pgbouncer_prepare(struct server *server)
{
    settings_write(server);
    write_file(server, "users.txt", "\"postgres\" \"\"\n\"seq\" \"\"\n");
}

static void pgbouncer_command(struct server *server, struct server_words *words)
{
    (void)server;
    server_word(words, "pgbouncer");
    server_word(words, "pgbouncer.ini");
}

static PGconn *admin_connect(const struct server *server)
{
    char conninfo[128];

    (void)text_format(conninfo, sizeof conninfo,
                      "host=127.0.0.1 port=%d user=postgres dbname=pgbouncer",
                      (int)server->port);
    return PQconnectdb(conninfo);
}

static bool pgbouncer_answers(struct server *server)
{
    PGconn *conn = admin_connect(server);
    const bool is_up = PQstatus(conn) == CONNECTION_OK;

    PQfinish(conn);
    return is_up;
}

static const struct server_kind pgbouncer_kind = {
    .program = "pgbouncer",
    .as_nobody = true,
    .prepare = pgbouncer_prepare,
    .command = pgbouncer_command,
    .is_up = pgbouncer_answers,
};

struct server *server_pgbouncer(struct server *server, int connections)
{
    server_require("pgbouncer");
    upstream = server;
    upstream_connections = connections;
    return server_new(&pgbouncer_kind, NULL);
}

static void admin_execute(PGconn *conn, const char *command)
{
    PGresult *result = PQexec(conn, command);

    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        fail_msg("pgbouncer: %s: %s", command, PQerrorMessage(conn));
    PQclear(result);
}

void pgbouncer_lead(struct server *pgbouncer, struct server *server)
{
    PGconn *conn = admin_connect(pgbouncer);

    upstream = server;
    settings_write(pgbouncer);
    admin_execute(conn, "RELOAD");
    admin_execute(conn, "RECONNECT");
    PQfinish(conn);
}
