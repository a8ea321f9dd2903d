/* SPDX-License-Identifier: Apache-2.0 */
/* How seqctl talks to seqbrokerd: by one connection of hiredis. Answers are
 * looked into by name, so that a daemon may add fields; what they mean is left
 * to others. */
#include "ctl/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <seqbroker/admin.h>

#include "ctl/complain.h"

#define HOST_SIZE 256

/* A path of a socket: the one that was given or that of the state directory. */
static enum ctl_exit client_name_socket(struct client *client,
                                        const char *given)
{
    char folder[sizeof client->socket];
    struct seqb_error err;
    int length;

    if (given != NULL) {
        length = snprintf(client->socket, sizeof client->socket, "%s", given);
    } else if (seqb_state_dir(NULL, folder, sizeof folder, &err) == SEQB_OK) {
        length = snprintf(client->socket, sizeof client->socket,
                          "%s/seqbrokerd.sock", folder);
    } else {
        ctl_complain("%s; or name the socket: -s SOCKET", err.text);
        return CTL_USAGE;
    }
    /* hiredis would cut a longer path and reach another socket */
    if ((size_t)length >= sizeof((struct sockaddr_un *)NULL)->sun_path) {
        ctl_complain("the socket's path has more than %zu bytes: %s",
                     sizeof((struct sockaddr_un *)NULL)->sun_path - 1,
                     client->socket);
        return CTL_USAGE;
    }
    return CTL_OK;
}

/* The port and the host of HOST:PORT or [HOST]:PORT. What has a slash is a
 * path. 0: it is no such address. */
static int client_split_port(const char *address, char *host, size_t size)
{
    const char *colon = strrchr(address, ':');
    const bool is_bracketed = address[0] == '[';
    char *end = NULL;
    long port = 0;
    int length;

    if (colon == NULL || strchr(address, '/') != NULL)
        return 0;
    port = strtol(colon + 1, &end, 10);
    length = (int)(colon - address) - (is_bracketed ? 2 : 0);
    if (end == colon + 1 || *end != '\0' || port < 1 || port > 65535 ||
        length < 1)
        return 0;
    snprintf(host, size, "%.*s", length, address + is_bracketed);
    return (int)port;
}

static enum ctl_exit client_unreachable(const struct client *client,
                                        const char *why)
{
    if (client->is_one_of_several) { /* which one stands before it */
        ctl_complain("no seqbrokerd: %s", why);
        return CTL_UNREACHABLE;
    }
    ctl_complain("no seqbrokerd at %s: %s", client->socket, why);
    ctl_complain("start one (seqbrokerd), or name its socket (-s SOCKET)");
    return CTL_UNREACHABLE;
}

static enum ctl_exit client_connect(struct client *client, const char *server,
                                    struct timeval timeout)
{
    char host[HOST_SIZE];
    const int port =
        server != NULL ? client_split_port(server, host, sizeof host) : 0;
    enum ctl_exit named = CTL_OK;

    if (port > 0)
        snprintf(client->socket, sizeof client->socket, "%s", server);
    else
        named = client_name_socket(client, server);
    if (named != CTL_OK)
        return named;
    client->connection =
        port > 0 ? redisConnectWithTimeout(host, port, timeout)
                 : redisConnectUnixWithTimeout(client->socket, timeout);
    if (client->connection == NULL)
        return client_unreachable(client, "out of memory");
    if (client->connection->err != 0)
        return client_unreachable(client, client->connection->errstr);
    return CTL_OK;
}

enum ctl_exit client_open(const struct ctl_options *options, struct client *out)
{
    const struct timeval timeout = {.tv_sec = options->timeout_s};
    enum ctl_exit result;

    out->connection = NULL;
    out->timeout_s = options->timeout_s;
    out->is_one_of_several = options->is_one_of_several;
    result = client_connect(out, options->socket, timeout);
    if (result != CTL_OK)
        return result;
    if (redisSetTimeout(out->connection, timeout) != REDIS_OK)
        return client_unreachable(out, "cannot set a time-out");
    return CTL_OK;
}

void client_close(struct client *client)
{
    if (client->connection != NULL)
        redisFree(client->connection);
    client->connection = NULL;
}

static bool client_timed_out(const struct client *client, int error)
{
    return client->connection->err == REDIS_ERR_IO &&
           (error == EAGAIN || error == EWOULDBLOCK);
}

static enum ctl_exit client_lost(const struct client *client, int error)
{
    if (client_timed_out(client, error)) {
        ctl_complain("seqbrokerd at %s did not answer within %lld s: it hangs "
                     "or is overloaded; wait longer with -t SECONDS, or "
                     "restart it",
                     client->socket, (long long)client->timeout_s);
        return CTL_UNREACHABLE;
    }
    ctl_complain("seqbrokerd at %s went away: %s", client->socket,
                 client->connection->errstr);
    return CTL_UNREACHABLE;
}

/* An error begins with its code, as "LAYOUT". */
static void error_complain(const char *error)
{
    char code[32];

    snprintf(code, sizeof code, "%.*s", (int)strcspn(error, " "), error);
    complaint_code_set(code);
    ctl_complain("%s", error);
}

enum ctl_exit client_call(struct client *client, size_t words,
                          const char *const *word, redisReply **out)
{
    /* hiredis reads the words only; its prototype lacks the const */
    const char **argv = (const char **)word;
    redisReply *reply;

    errno = 0;
    reply = redisCommandArgv(client->connection, (int)words, argv, NULL);
    if (reply == NULL)
        return client_lost(client, errno);
    if (reply->type == REDIS_REPLY_ERROR) {
        error_complain(reply->str);
        freeReplyObject(reply);
        return CTL_FAILED;
    }
    *out = reply;
    return CTL_OK;
}

enum ctl_exit client_ask(const struct ctl_options *options, size_t words,
                         const char *const *word, redisReply **out)
{
    struct client client;
    enum ctl_exit result = client_open(options, &client);

    *out = NULL;
    if (result == CTL_OK)
        result = client_call(&client, words, word, out);
    client_close(&client);
    return result;
}

enum ctl_exit client_await_end(struct client *client)
{
    void *reply = NULL;

    errno = 0;
    if (redisGetReply(client->connection, &reply) != REDIS_OK &&
        !client_timed_out(client, errno))
        return CTL_OK;
    if (reply != NULL)
        freeReplyObject(reply);
    ctl_complain("seqbrokerd at %s is stopping, but has not ended within %lld "
                 "s: it waits for its clients or its stores, its log says "
                 "more",
                 client->socket, (long long)client->timeout_s);
    return CTL_FAILED;
}

enum ctl_exit reply_refuse(const char *command, const char *what)
{
    ctl_complain("the answer to %s %s: is this a seqbrokerd, and of this "
                 "version?",
                 command, what);
    return CTL_FAILED;
}

const redisReply *reply_field(const redisReply *map, const char *name)
{
    if (map == NULL || map->type != REDIS_REPLY_ARRAY)
        return NULL;
    for (size_t i = 0; i + 1 < map->elements; i += 2) {
        const redisReply *key = map->element[i];

        if (key->type == REDIS_REPLY_STRING && strcmp(key->str, name) == 0)
            return map->element[i + 1];
    }
    return NULL;
}

const char *reply_text(const redisReply *map, const char *name)
{
    const redisReply *value = reply_field(map, name);

    if (value == NULL || (value->type != REDIS_REPLY_STRING &&
                          value->type != REDIS_REPLY_STATUS))
        return "";
    return value->str;
}

int64_t reply_integer(const redisReply *map, const char *name)
{
    const redisReply *value = reply_field(map, name);

    if (value == NULL)
        return 0;
    if (value->type == REDIS_REPLY_INTEGER)
        return value->integer;
    /* a daemon may send what passes 2^53 as text */
    return value->type == REDIS_REPLY_STRING ? strtoll(value->str, NULL, 10)
                                             : 0;
}

const redisReply *reply_array(const redisReply *map, const char *name)
{
    const redisReply *value = reply_field(map, name);

    return value != NULL && value->type == REDIS_REPLY_ARRAY ? value : NULL;
}
