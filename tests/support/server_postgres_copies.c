/* SPDX-License-Identifier: Apache-2.0 */
/* Copying a PostgreSQL, and putting copies back. */
#include "support/server_postgres_copies.h"

#include <signal.h>

#include "platform/text.h"
#include "support/server_files.h"
#include "support/server_kind.h"
#include "support/server_postgres.h"

/* --- files --- */

/* The processes that wrote it may still be there, or others by that number. */
static void lock_remove(struct server *server, const char *name)
{
    char path[PROGRAM_PATH_SIZE];
    const char *const argv[] = {"rm", "-f", path, NULL};

    (void)text_format(path, sizeof path, "%s/postmaster.pid", name);
    server_run(server, argv);
}

void postgres_copy_cold(struct server *server, const char *name)
{
    server_shut_down(server, SIGINT);
    server_files_copy(server, "data", name);
    server_start(server);
}

void postgres_copy_base(struct server *server, const char *name)
{
    char program[PROGRAM_PATH_SIZE];
    char port[16];
    const char *const argv[] = {postgres_program("pg_basebackup", program),
                                "--host=127.0.0.1",
                                port,
                                "--username=postgres",
                                "--checkpoint=fast",
                                "--no-sync",
                                "--pgdata",
                                name,
                                NULL};

    (void)text_format(port, sizeof port, "--port=%d", (int)server_port(server));
    server_files_remove(server, name);
    server_run(server, argv);
}

void postgres_copy_snapshot(struct server *server, const char *name)
{
    postgres_pause(server);
    server_files_copy(server, "data", name);
    postgres_resume(server);
    lock_remove(server, name);
}

void postgres_put_back(struct server *server, const char *name)
{
    postgres_kill(server);
    server_files_copy(server, name, "data");
    server_start(server);
}

void postgres_exchange(struct server *server, const char *name)
{
    postgres_kill(server);
    server_files_exchange(server, "data", name);
    server_start(server);
}

/* --- dumps --- */

void postgres_dump(struct server *server, const char *database,
                   const char *file)
{
    char program[PROGRAM_PATH_SIZE];
    char port[16];
    const char *const argv[] = {postgres_program("pg_dump", program),
                                "--clean",
                                "--if-exists",
                                "--host=127.0.0.1",
                                port,
                                "--username=postgres",
                                "--file",
                                file,
                                database,
                                NULL};

    (void)text_format(port, sizeof port, "--port=%d", (int)server->port);
    server_run(server, argv);
}

void postgres_restore(struct server *server, const char *database,
                      const char *path)
{
    char program[PROGRAM_PATH_SIZE];
    char port[16];
    const char *const argv[] = {postgres_program("psql", program),
                                "--no-psqlrc",
                                "--quiet",
                                "--single-transaction",
                                "--host=127.0.0.1",
                                port,
                                "--username=postgres",
                                "--set=ON_ERROR_STOP=1",
                                "--file",
                                path,
                                database,
                                NULL};

    (void)text_format(port, sizeof port, "--port=%d", (int)server->port);
    server_run(server, argv);
}
