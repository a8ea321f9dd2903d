/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private servers for tests, each on a free port of loopback and on a unix
 * socket in a temporary folder. The folder is removed with the server. Servers
 * are stopped when the test program ends, even by SIGKILL (the folder then
 * stays). A failure of these functions fails the test. A server that is not
 * installed skips the test, or fails it if the environment variable CI is set.
 *
 * The headers server_*.h have what each kind of server can do. Call all of this
 * from the main thread of the test program only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;

bool server_is_installed(const char *program);

/* Skips or fails the test if that program is not installed. Call it, and
 * everything that starts a server, from the test function itself: cmocka cannot
 * skip a test in its setup. */
void server_require(const char *program);

/* Servers made from now on are in that network namespace (see lan_fd), and
 * listen at that address in it. For the default, pass -1 and "127.0.0.1". */
void server_place(int netns, const char *address);

/* Stops the server and removes its folder. NULL is allowed. */
void server_free(struct server *server);

const char *server_address(const struct server *server);
int32_t server_port(const struct server *server);
const char *server_socket(const struct server *server);
const char *server_folder(const struct server *server);

/* Sends SIGKILL to the server and its children, and waits for their end. */
void server_kill(struct server *server);

/* Stops it by a signal that makes it shut down normally. */
void server_shut_down(struct server *server, int signal);

/* Starts a killed or stopped server again: same port, same folder. */
void server_start(struct server *server);

/* SIGSTOP and SIGCONT. It has stopped, or runs, on return. */
void server_pause(struct server *server);
void server_resume(struct server *server);

/* A port on 127.0.0.1 on which nobody listens, and which the system does not
 * use for outgoing connections. */
int32_t free_port(void);

/* Blocks SIGPIPE in the calling thread, because a client library may raise
 * it. */
void block_sigpipe(void);

/* The same, as a function for TEST_BEFORE_ALL. */
int without_sigpipe(void **state);
