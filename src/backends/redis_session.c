/* SPDX-License-Identifier: Apache-2.0 */
/* How a session with a Redis server begins: connect, log in, require a
 * master, read its origin, load the script. */
#include "backends/redis_session.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"
#include "redis_lua.h"

#define DEFAULT_PORT    6379
#define SOCKET_PATH_MAX (sizeof((struct sockaddr_un *)NULL)->sun_path - 1)

static void link_name(struct redis_link *link,
                      const struct seqb_backend_options *options, int port)
{
    if (options->socket_path != NULL)
        text_format(link->where, sizeof link->where, "%s (redis %s)",
                    options->name, options->socket_path);
    else
        text_format(link->where, sizeof link->where, "%s (redis %s:%d)",
                    options->name, options->host, port);
}

static enum seqb_status link_connect(struct redis_link *link,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err)
{
    const int port = options->port != 0 ? options->port : DEFAULT_PORT;
    const int32_t wait_ms = options->connect_timeout_ms;
    const struct timeval wait = {wait_ms / 1000, wait_ms % 1000 * 1000L};
    const char *path = options->socket_path;

    if (path == NULL && options->host == NULL)
        return error_set(err, SEQB_INVALID, "%s: no host and no socket path",
                         options->name);
    link_name(link, options, port);
    /* hiredis would cut it, and another server may listen there. */
    if (path != NULL && strlen(path) > SOCKET_PATH_MAX)
        return error_set(err, SEQB_INVALID,
                         "%s: a socket path has at most %zu bytes", link->where,
                         SOCKET_PATH_MAX);
    link->context = path != NULL
                        ? redisConnectUnixWithTimeout(path, wait)
                        : redisConnectWithTimeout(options->host, port, wait);
    if (link->context == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory", link->where);
    if (link->context->err != 0)
        return error_set(err, SEQB_UNREACHABLE, "%s: cannot connect: %s",
                         link->where, link->context->errstr);
    (void)fcntl(link->context->fd, F_SETFD, FD_CLOEXEC);
    return SEQB_OK;
}

static bool wants_auth(const struct seqb_backend_options *options)
{
    return options->user != NULL || options->password != NULL;
}

static bool auth_append(struct redis_link *link,
                        const struct seqb_backend_options *options)
{
    const char *password = options->password != NULL ? options->password : "";

    if (options->user != NULL)
        return link_append(
            link, (const char *[]){"AUTH", options->user, password}, 3);
    return link_append(link, (const char *[]){"AUTH", password}, 2);
}

/* A new connection stands in database 0. */
static bool wants_select(const struct seqb_backend_options *options)
{
    return options->database != NULL && strcmp(options->database, "0") != 0;
}

static bool session_append(struct redis_link *link,
                           const struct seqb_backend_options *options)
{
    if (wants_auth(options) && !auth_append(link, options))
        return false;
    if (wants_select(options) &&
        !link_append(link, (const char *[]){"SELECT", options->database}, 2))
        return false;
    return link_append(link, (const char *[]){"INFO", "server"}, 2) &&
           link_append(link, (const char *[]){"INFO", "replication"}, 2) &&
           link_append(link, (const char *[]){"SCRIPT", "LOAD", redis_lua}, 3);
}

/* The next answer, which must be of that type; the caller's to free. */
static enum seqb_status session_read(struct redis_link *link, int type,
                                     const char *asked, redisReply **out,
                                     struct seqb_error *err)
{
    redisReply *reply = link_read(link);
    enum seqb_status status;

    if (reply == NULL)
        return link_lose(link, SEQB_UNREACHABLE, err);
    if (reply->type == type) {
        *out = reply;
        return SEQB_OK;
    }
    status = reply->type == REDIS_REPLY_ERROR ? link_refuse(link, reply, err)
                                              : link_distrust(link, asked, err);
    freeReplyObject(reply);
    return status;
}

static enum seqb_status session_ok(struct redis_link *link, const char *asked,
                                   struct seqb_error *err)
{
    redisReply *reply = NULL;
    const enum seqb_status status =
        session_read(link, REDIS_REPLY_STATUS, asked, &reply, err);

    if (reply != NULL)
        freeReplyObject(reply);
    return status;
}

/* An error's words may quote the command: what AUTH is told is not shown. */
static enum seqb_status session_auth(struct redis_link *link,
                                     struct seqb_error *err)
{
    struct seqb_error why;
    const enum seqb_status status = session_ok(link, "AUTH", &why);

    if (status == SEQB_OK)
        return SEQB_OK;
    if (status == SEQB_REFUSED)
        return error_set(err, SEQB_REFUSED,
                         "%s: the user or the password was refused",
                         link->where);
    return error_copy(err, &why);
}

/* The value of the line "name:value" of an answer to INFO. */
static bool info_field(const redisReply *info, const char *name, char *out,
                       size_t size)
{
    const size_t length = strlen(name);
    const char *line = info->str;

    while (strncmp(line, name, length) != 0 || line[length] != ':') {
        line = strchr(line, '\n');
        if (line == NULL)
            return false;
        line++;
    }
    line += length + 1;
    return text_format(out, size, "%.*s", (int)strcspn(line, "\r\n"), line);
}

static enum seqb_status origin_check(struct redis_link *link,
                                     struct redis_session *session,
                                     const redisReply *server,
                                     const redisReply *replication,
                                     struct seqb_error *err)
{
    char role[16];
    char run_id[64];
    char replid[64];

    if (!info_field(server, "redis_version", session->version,
                    sizeof session->version) ||
        !info_field(server, "run_id", run_id, sizeof run_id) ||
        !info_field(replication, "role", role, sizeof role) ||
        !info_field(replication, "master_replid", replid, sizeof replid))
        return link_distrust(link, "INFO", err);
    if (strcmp(role, "master") != 0)
        return error_set(err, SEQB_ROLE,
                         "%s: the server is a replica (role %s), give its "
                         "master's address",
                         link->where, role);
    (void)text_format(session->origin, sizeof session->origin, "%s:%s", run_id,
                      replid);
    return SEQB_OK;
}

static enum seqb_status session_origin(struct redis_link *link,
                                       struct redis_session *session,
                                       struct seqb_error *err)
{
    redisReply *server = NULL;
    redisReply *replication = NULL;
    enum seqb_status status =
        session_read(link, REDIS_REPLY_STRING, "INFO", &server, err);

    if (server == NULL)
        return status;
    status = session_read(link, REDIS_REPLY_STRING, "INFO", &replication, err);
    if (replication != NULL) {
        status = origin_check(link, session, server, replication, err);
        freeReplyObject(replication);
    }
    freeReplyObject(server);
    return status;
}

static enum seqb_status session_script(struct redis_link *link,
                                       struct redis_session *session,
                                       struct seqb_error *err)
{
    redisReply *sha = NULL;
    enum seqb_status status =
        session_read(link, REDIS_REPLY_STRING, "SCRIPT LOAD", &sha, err);

    if (sha == NULL)
        return status;
    if (sha->len != sizeof session->script - 1 ||
        !text_copy(session->script, sizeof session->script, sha->str))
        status = link_distrust(link, "SCRIPT LOAD", err);
    freeReplyObject(sha);
    return status;
}

enum seqb_status session_open(struct redis_link *link,
                              struct redis_session *session,
                              const struct seqb_backend_options *options,
                              struct seqb_error *err)
{
    const int64_t since_ms = clock_now_ms();
    enum seqb_status status = link_connect(link, options, err);

    if (status != SEQB_OK)
        return status;
    link->budget_ms = options->connect_timeout_ms;
    link->deadline_ms = since_ms + options->connect_timeout_ms;
    if (!session_append(link, options) || !link_flush(link))
        return link_lose(link, SEQB_UNREACHABLE, err);
    if (wants_auth(options))
        status = session_auth(link, err);
    if (status == SEQB_OK && wants_select(options))
        status = session_ok(link, "SELECT", err);
    if (status == SEQB_OK)
        status = session_origin(link, session, err);
    if (status == SEQB_OK)
        status = session_script(link, session, err);
    return status;
}
