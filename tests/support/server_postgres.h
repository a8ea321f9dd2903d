/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A private PostgreSQL server. No user needs a password, except "guarded" over
 * TCP; "certified" needs a certificate there. The superuser is "postgres". Its
 * unix socket is in the server's folder. To kill it, use postgres_kill, because
 * its processes are in sessions of their own.
 */
#pragma once

#include <sys/types.h>

#include "support/servers.h"

#define POSTGRES_ASK_SIZE 256
#define PROGRAM_PATH_SIZE 128

/* Skips or fails the test if it is not installed. */
void postgres_require(void);
bool postgres_is_installed(void);

/* Writes the path of one of its programs, which may be outside PATH, to `out`,
 * and returns `out`. */
const char *postgres_program(const char *program,
                             char out[static PROGRAM_PATH_SIZE]);

/* `settings` are further arguments, such as "-c", "a=b" (NULL, or ended by
 * NULL). */
struct server *server_postgres(const char *const *settings);

/* Makes a standby, a copy of `primary` that streams from it. */
struct server *server_postgres_standby(struct server *primary);

/* A new server over the copy `folder` of another server's files, made by the
 * functions of server_postgres_copies.h. */
struct server *server_postgres_of(struct server *server, const char *folder);

/* Promotes a standby. It is a primary on return. */
void postgres_promote(struct server *standby);

/* Waits until the standby has replayed all that the primary has written. */
void postgres_catch_up(struct server *primary, struct server *standby);

/* Waits until it answers. It recovers by itself from the death of a process. If
 * it was killed, it is started. */
void postgres_await(struct server *server);

/* Runs SQL as administrator in that database, in one transaction.
 * `postgres_ask` returns the first column of the first row, "" if there is
 * none. */
void postgres_execute(struct server *server, const char *database,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void postgres_ask(struct server *server, const char *database,
                  char out[static POSTGRES_ASK_SIZE], const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same for a statement that is tried only once; false if that failed. */
bool postgres_try(struct server *server, const char *sql,
                  char out[static POSTGRES_ASK_SIZE]);

/* Sends SIGKILL to all its processes, and waits until they are gone. */
void postgres_kill(struct server *server);

/* The same for the process `first`, which need not be a child of this program,
 * and its children. */
void postgres_kill_tree(pid_t first);

/* SIGSTOP and SIGCONT to the process and its children. One tree at a time. */
void postgres_pause_tree(pid_t first);
void postgres_resume_tree(pid_t first);

/* Send SIGSTOP and SIGCONT to all its processes. Only one server may be paused
 * at a time. If the test program ends meanwhile, the processes do not stay
 * stopped. */
void postgres_pause(struct server *server);
void postgres_resume(struct server *server);

/* Sends a signal to each child of the server's first process. */
void postgres_signal(struct server *server, int signal);

/* Its major version. */
int postgres_version(struct server *server);

/* ALTER SYSTEM SET `what`. In force in every session on return. */
void postgres_alter(struct server *server, const char *what);

/* Makes a self-signed certificate for 127.0.0.1, in "data/crt" of the server's
 * folder, and turns ssl on with it. */
void postgres_certify(struct server *server);

/* postgres_copy_certificate copies a certificate and its key, which the
 * server's user can read, to "data/crt" and "data/key" of its folder.
 * postgres_show also turns ssl on with them. */
void postgres_copy_certificate(struct server *server, const char *cert,
                               const char *key);
void postgres_show(struct server *server, const char *cert, const char *key);
