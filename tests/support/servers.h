/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private servers for tests: on a free loopback port and a unix socket in a
 * temporary folder, which is removed with it; stopped when the test program
 * ends, even by SIGKILL (the folder then stays). What goes wrong here fails the
 * test; a server that is not installed skips it, or fails it where the
 * environment variable CI is set.
 *
 * For the main thread of the test program alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hiredis/hiredis.h>

struct server;

bool server_is_installed(const char *program);

/* Skips or fails the test if that program is not installed. To be called,
 * like all that starts a server, from a test's own function: no test can be
 * skipped from its setup. */
void server_require(const char *program);

/* A redis-server without persistence; `args` (NULL, or ended by NULL) are
 * further arguments, at most 16. Answers when it returns. */
struct server *server_redis(const char *const *args);

/* Stops the server, removes its folder. Takes NULL. */
void server_free(struct server *server);

int32_t server_port(const struct server *server);
const char *server_socket(const struct server *server);
const char *server_folder(const struct server *server);

/* SIGKILL, and waits for its end. */
void server_kill(struct server *server);

/* Starts it again after server_kill: same port, same folder. */
void server_start(struct server *server);

/* SIGSTOP and SIGCONT; it is stopped, or runs, on return. */
void server_pause(struct server *server);
void server_resume(struct server *server);

/* An administrator's command, over a connection of its own that stays open
 * (and thus logged in). `server_ask`: the reply, never an error, the caller's
 * to free; `server_tell` frees it. */
redisReply *server_ask(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void server_tell(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with ready words, ended by NULL, at most 16. */
void server_tell_words(struct server *server, const char *const *words);

/* A port on 127.0.0.1 that nobody listens on, and that the system gives to
 * no outgoing connection. */
int32_t free_port(void);

/* For the calling thread: a client library may raise SIGPIPE. */
void block_sigpipe(void);
