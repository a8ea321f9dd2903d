/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private PostgreSQL server: the superuser "postgres" needs no password, nor
 * does anybody but the user "guarded" (by TCP). Its unix socket is in the
 * server's folder. Whoever stops it by SIGKILL uses postgres_kill: its
 * processes are in sessions of their own.
 */
#pragma once

#include <sys/types.h>

#include "support/servers.h"

#define POSTGRES_ASK_SIZE 256
#define PROGRAM_PATH_SIZE 128

/* Skips or fails the test if it is not installed. */
void postgres_require(void);
bool postgres_is_installed(void);

/* Where one of its programs is, which may be out of PATH: `out`. */
const char *postgres_program(const char *program,
                             char out[static PROGRAM_PATH_SIZE]);

/* `settings` (NULL, or ended by NULL) are further arguments, "-c", "a=b". */
struct server *server_postgres(const char *const *settings);

/* A standby that streams from that primary, a copy of it. */
struct server *server_postgres_standby(struct server *primary);

/* A server over a copy of that folder in the folder of another one, as the
 * functions of server_postgres_copies.h make it. */
struct server *server_postgres_of(struct server *server, const char *folder);

/* Makes a standby a primary; it is one when this returns. */
void postgres_promote(struct server *standby);

/* Waits until the standby has replayed what the primary has written. */
void postgres_catch_up(struct server *primary, struct server *standby);

/* Waits until it answers: it recovers by itself from the death of a process,
 * and is started if it was killed. */
void postgres_await(struct server *server);

/* SQL of an administrator in that database, one transaction. `postgres_ask`:
 * the first column of its first row, "" if there is none. */
void postgres_execute(struct server *server, const char *database,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void postgres_ask(struct server *server, const char *database,
                  char out[static POSTGRES_ASK_SIZE], const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same of a statement that is tried once; false if it could not be asked.
 */
bool postgres_try(struct server *server, const char *sql,
                  char out[static POSTGRES_ASK_SIZE]);

/* SIGKILL to all its processes, and waits until they are gone. */
void postgres_kill(struct server *server);

/* The same to a first process that may be no child of this program, and to
 * those that it started. */
void postgres_kill_tree(pid_t first);

/* SIGSTOP and SIGCONT to all its processes, of one server at a time; they are
 * not left behind stopped if the test program ends in between. */
void postgres_pause(struct server *server);
void postgres_resume(struct server *server);

/* A signal to each process that the server's first one started. */
void postgres_signal(struct server *server, int signal);

/* ALTER SYSTEM SET what, in force in every session on return. */
void postgres_alter(struct server *server, const char *what);

/* Makes a certificate that trusts itself, for 127.0.0.1, in "data/crt" of the
 * server's folder, and turns ssl on with it. */
void postgres_certify(struct server *server);
