/* SPDX-License-Identifier: Apache-2.0 */
/* A private redis-server. */
#pragma once

#include <hiredis/hiredis.h>

#include "support/servers.h"

/* What any server can do that speaks Redis' protocol on its unix socket: for
 * the kinds of server alone. */
bool redis_answers(struct server *server);
void redis_forget(struct server *server);

/* A redis-server without persistence; `args` (NULL, or ended by NULL) are
 * further arguments, at most 16. Answers when it returns. */
struct server *server_redis(const char *const *args);

/* An administrator's command, over a connection of its own that stays open
 * (and thus logged in). `server_ask`: the reply, never an error, the caller's
 * to free; `redis_execute` frees it. */
redisReply *server_ask(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void redis_execute(struct server *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same with ready words, ended by NULL, at most 16. */
void server_tell_words(struct server *server, const char *const *words);
