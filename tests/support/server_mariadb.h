/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private MariaDB server, which keeps what it commits. It knows the user
 * "root" on its unix socket, without a password, and who a test creates. There
 * is no MySQL server to test on: only SQL that both have is to be used.
 */
#pragma once

#include "support/servers.h"

#define MARIADB_ASK_SIZE 512

/* Skips or fails the test if it is not installed. */
void mariadb_require(void);
bool mariadb_is_installed(void);

/* `args` (NULL, or ended by NULL) are further arguments, at most 16. */
struct server *server_mariadb(const char *const *args);

/* Copy its files to a folder of that name beside "data": of a server that is
 * stopped for it and started again; by mariadb-backup (skips or fails the test
 * if that is not installed); of one that stands still, as the snapshot of a
 * disk does. */
void mariadb_copy_cold(struct server *server, const char *name);
void mariadb_copy_backup(struct server *server, const char *name);
void mariadb_copy_snapshot(struct server *server, const char *name);

/* Puts a copy, which stays, in the place of the server's files; or they change
 * places. The server is killed for it and started again. */
void mariadb_put_back(struct server *server, const char *name);
void mariadb_exchange(struct server *server, const char *name);

/* Puts a copy back as the snapshot of a disk does: tables have their dates.
 * None was made since; and the copy is good for nothing else from then on. */
void mariadb_revert(struct server *server, const char *name);

/* Copies the tables of a database into another one, as a dump has them; puts
 * them in the place of what is there, at once, while others use it. */
void mariadb_dump_database(struct server *server, const char *database,
                           const char *dump);
void mariadb_restore_database(struct server *server, const char *database,
                              const char *dump);

/* A server over such a copy of another one. */
struct server *server_mariadb_of(struct server *server, const char *folder);

/* Statements of an administrator, ';' between them, over a connection of its
 * own that stays open; each must succeed. `mariadb_ask`: the first column of
 * the first row of the last of them, "" if there is none. */
void mariadb_execute(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mariadb_ask(struct server *server, char out[static MARIADB_ASK_SIZE],
                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Runs a file of statements in a database, through the ordinary client. */
void mariadb_run_file(struct server *server, const char *database,
                      const char *path);
