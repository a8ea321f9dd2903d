/* SPDX-License-Identifier: Apache-2.0 */
/* Starting and asking a redis-server. */
#include "support/server_redis.h"

#include <string.h>

#include "support/server_kind.h"
#include "support/test.h"

#define WORDS_MAX 16

bool redis_answers(struct server *server)
{
    redisContext *context =
        redisConnectUnixWithTimeout(server->socket, (struct timeval){1, 0});
    redisReply *reply = NULL;
    bool is_up;

    if (context != NULL && context->err == 0)
        reply = redisCommand(context, "PING");
    is_up = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    if (reply != NULL && reply->type == REDIS_REPLY_ERROR)
        is_up = strncmp(reply->str, "LOADING", 7) != 0; /* NOAUTH is up */
    if (reply != NULL)
        freeReplyObject(reply);
    if (context != NULL)
        redisFree(context);
    return is_up;
}

void redis_forget(struct server *server)
{
    redisFree(server->admin);
}

static void redis_command(struct server *server, struct server_words *words)
{
    server_word(words, "redis-server");
    server_word(words, "--bind");
    server_word(words, "%s", server->address);
    server_word(words, "--port");
    server_word(words, "%d", (int)server->port);
    server_word(words, "--unixsocket");
    server_word(words, "%s", server->socket);
    server_word(words, "--dir");
    server_word(words, "%s", server->folder);
    server_word(words, "--save");
    server_word(words, "%s", "");
    server_word(words, "--protected-mode");
    server_word(words, "no");
    server_word(words, "--daemonize");
    server_word(words, "no");
}

static const struct server_kind redis_kind = {
    .program = "redis-server",
    .command = redis_command,
    .is_up = redis_answers,
    .forget = redis_forget,
};

struct server *server_redis(const char *const *args)
{
    server_require("redis-server");
    return server_new(&redis_kind, args);
}

static redisContext *server_admin(struct server *server)
{
    redisContext *admin;

    server_expect(server);
    admin = server->admin;
    if (admin == NULL)
        admin = redisConnectUnix(server->socket);
    assert_non_null(admin);
    server->admin = admin;
    if (admin->err != 0)
        fail_msg("redis-server: %s", admin->errstr);
    return admin;
}

static redisReply *reply_check(const struct server *server, const char *asked,
                               redisReply *reply)
{
    const redisContext *admin = server->admin;

    if (reply == NULL)
        fail_msg("redis-server: %s: %s", asked, admin->errstr);
    else if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("redis-server: %s: %s", asked, reply->str);
    return reply;
}

redisReply *server_ask(struct server *server, const char *format, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, format);
    reply = redisvCommand(server_admin(server), format, args);
    va_end(args);
    return reply_check(server, format, reply);
}

void redis_execute(struct server *server, const char *format, ...)
{
    redisReply *reply;
    va_list args;

    va_start(args, format);
    reply = redisvCommand(server_admin(server), format, args);
    va_end(args);
    freeReplyObject(reply_check(server, format, reply));
}

void server_tell_words(struct server *server, const char *const *words)
{
    const char *argv[WORDS_MAX];
    int n = 0;

    for (; words[n] != NULL; n++) {
        assert_true(n < WORDS_MAX);
        argv[n] = words[n];
    }
    freeReplyObject(
        reply_check(server, words[0],
                    redisCommandArgv(server_admin(server), n, argv, NULL)));
}
