/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private MariaDB server, which keeps what it commits. It has the user
 * "root", without a password, on its unix socket, and those that a test
 * creates. There is no MySQL server for tests, so use only SQL that both have.
 */
#pragma once

#include "support/servers.h"

#define MARIADB_ASK_SIZE 512

/* Skips or fails the test if it is not installed. */
void mariadb_require(void);
bool mariadb_is_installed(void);

/* `args` are at most 16 further arguments (NULL, or ended by NULL). */
struct server *server_mariadb(const char *const *args);

/* Copy its files to the folder `name` beside "data". _cold stops the server
 * meanwhile. _backup uses mariadb-backup (skips or fails the test if that is
 * not installed). _snapshot freezes the server meanwhile, as if the disk had a
 * snapshot. */
void mariadb_copy_cold(struct server *server, const char *name);
void mariadb_copy_backup(struct server *server, const char *name);
void mariadb_copy_snapshot(struct server *server, const char *name);

/* Imports a table's file of a copy ("name/database/table") as the file of a
 * table ("database/table") while the server runs. */
void mariadb_import(struct server *server, const char *from, const char *to);

/* mariadb_put_back replaces the server's files by a copy, which is kept.
 * mariadb_exchange exchanges them. The server is killed and started again. */
void mariadb_put_back(struct server *server, const char *name);
void mariadb_exchange(struct server *server, const char *name);

/* Restores a copy as a disk's snapshot is restored: tables keep their creation
 * times. No table may have been made since the copy. The copy cannot be used
 * again. */
void mariadb_revert(struct server *server, const char *name);

/* mariadb_dump_database copies the tables of a database into another database,
 * as a dump has them. mariadb_restore_database replaces the tables by those of
 * the dump, while others use them. */
void mariadb_dump_database(struct server *server, const char *database,
                           const char *dump);
void mariadb_restore_database(struct server *server, const char *database,
                              const char *dump);

/* A new server over such a copy of another server's files. */
struct server *server_mariadb_of(struct server *server, const char *folder);

/* Runs statements, separated by ';', as administrator, over a separate
 * connection that stays open. Each must succeed. `mariadb_ask` returns the
 * first column of the first row of the last statement, "" if there is none. */
void mariadb_execute(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mariadb_ask(struct server *server, char out[static MARIADB_ASK_SIZE],
                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Runs sql/mysql.sql in a database, by the standard client. */
void mariadb_make_tables(struct server *server, const char *database);
