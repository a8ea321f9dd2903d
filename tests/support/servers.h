/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private servers for tests: on a free loopback port and a unix socket in a
 * temporary folder, which is removed with it; stopped when the test program
 * ends, even by SIGKILL (the folder then stays). What goes wrong here fails the
 * test; a server that is not installed skips it, or fails it where the
 * environment variable CI is set.
 *
 * What each kind of server can do is in the headers server_*.h. For the main
 * thread of the test program alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server;

bool server_is_installed(const char *program);

/* Skips or fails the test if that program is not installed. To be called,
 * like all that starts a server, from a test's own function: no test can be
 * skipped from its setup. */
void server_require(const char *program);

/* Servers that are made from now on are in that network namespace (lan_fd), and
 * listen at that address in it. -1, "127.0.0.1": here. */
void server_place(int netns, const char *address);

/* Stops the server, removes its folder. Takes NULL. */
void server_free(struct server *server);

const char *server_address(const struct server *server);
int32_t server_port(const struct server *server);
const char *server_socket(const struct server *server);
const char *server_folder(const struct server *server);

/* SIGKILL to it and what it started, and waits for its end. */
void server_kill(struct server *server);

/* Ends it by a signal after which it stops in good order. */
void server_shut_down(struct server *server, int signal);

/* Starts it again after either: same port, same folder. */
void server_start(struct server *server);

/* SIGSTOP and SIGCONT; it is stopped, or runs, on return. */
void server_pause(struct server *server);
void server_resume(struct server *server);

/* A port on 127.0.0.1 that nobody listens on, and that the system gives to
 * no outgoing connection. */
int32_t free_port(void);

/* For the calling thread: a client library may raise SIGPIPE. */
void block_sigpipe(void);

/* The same for TEST_BEFORE_ALL. */
int without_sigpipe(void **state);
