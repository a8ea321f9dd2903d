/* SPDX-License-Identifier: Apache-2.0 */
/* A private redis-server. */
#pragma once

#include <hiredis/hiredis.h>

#include "support/servers.h"

/* For servers that speak Redis' protocol on their unix socket. For the kinds of
 * servers alone. */
bool redis_answers(struct server *server);
void redis_forget(struct server *server);

/* A redis-server without persistence. `args` are at most 16 further arguments
 * (NULL, or ended by NULL). On return, it answers. */
struct server *server_redis(const char *const *args);

/* Runs an administrator's command over a separate connection that stays open
 * (and thus logged in). `server_ask` returns the reply, which is never an
 * error; the caller frees it. `redis_execute` frees it. */
redisReply *server_ask(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void redis_execute(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with separate words, at most 16, ended by NULL. */
void server_tell_words(struct server *server, const char *const *words);
