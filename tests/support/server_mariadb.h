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

/* Copies the server's files, and puts the copy in their place: killed for it,
 * and started again. */
void mariadb_save(struct server *server);
void mariadb_restore(struct server *server);

/* Statements of an administrator, ';' between them, over a connection of its
 * own that stays open; each must succeed. `mariadb_ask`: the first column of
 * the first row of the last of them, "" if there is none. */
void mariadb_tell(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mariadb_ask(struct server *server, char out[static MARIADB_ASK_SIZE],
                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Runs a file of statements in a database, through the ordinary client. */
void mariadb_run_file(struct server *server, const char *database,
                      const char *path);
