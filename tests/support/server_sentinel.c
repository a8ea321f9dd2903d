/* SPDX-License-Identifier: Apache-2.0 */
/* Starting a redis-sentinel, and what it watches. */
#include "support/server_sentinel.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "support/server_kind.h"
#include "support/test.h"

#define PATIENCE_S 60

/* The file in which it keeps what it learns: it must be there. */
static void sentinel_path(const struct server *server, char *out, size_t size)
{
    assert_true(text_format(out, size, "%s/sentinel.conf", server->folder));
}

static void sentinel_prepare(struct server *server)
{
    char path[64];
    int fd;

    sentinel_path(server, path, sizeof path);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void sentinel_command(struct server *server, struct server_words *words)
{
    char path[64];

    sentinel_path(server, path, sizeof path);
    server_word(words, "redis-sentinel");
    server_word(words, "%s", path);
    server_word(words, "--bind");
    server_word(words, "127.0.0.1");
    server_word(words, "--port");
    server_word(words, "%d", (int)server->port);
    server_word(words, "--unixsocket");
    server_word(words, "%s", server->socket);
    server_word(words, "--dir");
    server_word(words, "%s", server->folder);
}

static const struct server_kind sentinel_kind = {
    .program = "redis-sentinel",
    .prepare = sentinel_prepare,
    .command = sentinel_command,
    .is_up = redis_answers,
    .forget = redis_forget,
};

struct server *server_sentinel_with(const char *const *args)
{
    server_require("redis-sentinel");
    return server_new(&sentinel_kind, args);
}

struct server *server_sentinel(void)
{
    return server_sentinel_with(NULL);
}

struct server *server_replica(struct server *master)
{
    struct server *replica = server_redis(NULL);
    bool is_in_step = false;

    redis_execute(master, "CONFIG SET repl-diskless-sync-delay 0");
    redis_execute(replica, "REPLICAOF 127.0.0.1 %d", (int)server_port(master));
    for (int i = 0; i < PATIENCE_S && !is_in_step; i++) {
        redisReply *reply = server_ask(master, "WAIT 1 1000");

        is_in_step = reply->integer >= 1;
        freeReplyObject(reply);
    }
    assert_true(is_in_step);
    return replica;
}

/* Whether one of the names and values of a reply is this one. */
static bool has_field(const redisReply *fields, const char *name,
                      const char *value)
{
    for (size_t i = 0; i + 1 < fields->elements; i += 2) {
        if (strcmp(fields->element[i]->str, name) == 0)
            return strcmp(fields->element[i + 1]->str, value) == 0;
    }
    return false;
}

/* Replicas that it has spoken to, and may promote. */
static size_t replicas_known(struct server *sentinel, const char *name)
{
    redisReply *reply = server_ask(sentinel, "SENTINEL REPLICAS %s", name);
    size_t known = 0;

    for (size_t i = 0; i < reply->elements; i++)
        known += has_field(reply->element[i], "flags", "slave") &&
                 has_field(reply->element[i], "master-link-status", "ok");
    freeReplyObject(reply);
    return known;
}

void sentinel_watch(struct server *sentinel, const char *name,
                    const struct server *master, size_t replicas)
{
    const int64_t until_ms = clock_now_ms() + PATIENCE_S * INT64_C(1000);

    redis_execute(sentinel, "SENTINEL MONITOR %s 127.0.0.1 %d 1", name,
                  (int)server_port(master));
    while (replicas_known(sentinel, name) < replicas) {
        if (clock_now_ms() > until_ms)
            fail_msg("the sentinel does not find %zu replicas", replicas);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
}

void sentinel_hurry(struct server *sentinel, const char *name)
{
    redis_execute(
        sentinel,
        "SENTINEL SET %s down-after-milliseconds 200 failover-timeout "
        "20000",
        name);
}
