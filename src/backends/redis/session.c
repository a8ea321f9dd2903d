/* SPDX-License-Identifier: Apache-2.0 */
/* The begin of a session with a Redis server: find it, connect, log in, require
 * a master, read its origin, load the script. */
#include "backends/redis/session.h"

#include <string.h>

#include "backends/redis/login.h"
#include "backends/redis/sentinel.h"
#include "platform/error.h"
#include "platform/text.h"
#include "redis_lua.h"

#define DEFAULT_PORT 6379

/* The server's address in the options, without sentinels. */
static enum seqb_status
address_given(const struct seqb_backend_options *options, struct address *out,
              struct seqb_error *err)
{
    const char *path = options->socket_path;

    if (path == NULL && options->host == NULL)
        return error_set(err, SEQB_INVALID, "%s: no host and no socket path",
                         options->name);
    out->port = options->port != 0 ? options->port : DEFAULT_PORT;
    if (path != NULL)
        out->port = 0;
    if (!text_copy(out->host, sizeof out->host,
                   path != NULL ? path : options->host))
        return error_set(err, SEQB_INVALID,
                         "%s: the host's name, or the path, is too long",
                         options->name);
    return SEQB_OK;
}

/* Connects to the server that the session will use. */
static enum seqb_status
server_connect(struct redis_node *node,
               const struct seqb_backend_options *options, int32_t budget_ms,
               struct seqb_error *err)
{
    const struct address *address = &node->address;
    struct redis_session *session = &node->session;
    struct redis_link *link = &node->link;

    if (address->port == 0)
        (void)text_copy(session->domain, sizeof session->domain, address->host);
    else
        (void)text_format(session->domain, sizeof session->domain, "%s:%d",
                          address->host, address->port);
    (void)text_format(link->where, sizeof link->where, "%s (redis %s)",
                      options->name, session->domain);
    return link_connect(link, options, address, budget_ms, err);
}

static struct redis_login login_of(const struct seqb_backend_options *options)
{
    const struct redis_login login = {options->user, options->password};

    return login;
}

/* A new connection uses database 0. */
static bool wants_select(const struct seqb_backend_options *options)
{
    return options->database != NULL && strcmp(options->database, "0") != 0;
}

static bool session_append(struct redis_link *link,
                           const struct seqb_backend_options *options)
{
    const struct redis_login login = login_of(options);

    if (!login_append(link, &login))
        return false;
    if (wants_select(options) &&
        !link_append(link, (const char *[]){"SELECT", options->database}, 2))
        return false;
    return link_append(link, (const char *[]){"INFO", "server"}, 2) &&
           link_append(link, (const char *[]){"INFO", "replication"}, 2) &&
           link_append(link, (const char *[]){"SCRIPT", "LOAD", redis_lua}, 3);
}

/* The next answer, which must have that type; to be freed by the caller. */
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

bool session_field(const redisReply *info, const char *name, char *out,
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

    if (!session_field(server, "redis_version", session->version,
                       sizeof session->version) ||
        !session_field(server, "run_id", run_id, sizeof run_id) ||
        !session_field(replication, "role", role, sizeof role) ||
        !session_field(replication, "master_replid", replid, sizeof replid))
        return link_distrust(link, "INFO", err);
    if (strcmp(role, "master") != 0)
        return error_set(err, SEQB_ROLE,
                         "%s: the server is a replica (role %s), not a "
                         "master: give its master's address, or sentinels",
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

/* Everything that must be sent on a new connection before the first script. */
static enum seqb_status
session_begin(struct redis_link *link, struct redis_session *session,
              const struct seqb_backend_options *options,
              struct seqb_error *err)
{
    const struct redis_login login = login_of(options);
    enum seqb_status status;

    if (!session_append(link, options) || !link_flush(link))
        return link_lose(link, SEQB_UNREACHABLE, err);
    status = login_answer(link, &login, err);
    if (status == SEQB_OK && wants_select(options))
        status = session_ok(link, "SELECT", err);
    if (status == SEQB_OK)
        status = session_origin(link, session, err);
    if (status == SEQB_OK)
        status = session_script(link, session, err);
    return status;
}

enum seqb_status session_connect(struct redis_node *node,
                                 const struct seqb_backend_options *options,
                                 int32_t budget_ms, struct seqb_error *err)
{
    enum seqb_status status = server_connect(node, options, budget_ms, err);

    if (status == SEQB_OK)
        status = session_begin(&node->link, &node->session, options, err);
    if (status != SEQB_OK)
        link_close(&node->link);
    return status;
}

/* Opens a session with the first server that the sentinels name and that is a
 * master: a sentinel that was disconnected may name a server that is dead or
 * demoted by now. */
static enum seqb_status
session_follow(struct redis_node *node,
               const struct seqb_backend_options *options,
               struct seqb_error *err)
{
    struct sentinel_walk walk;
    struct seqb_error why;
    enum seqb_status status = sentinel_begin(&walk, options, err);

    if (status != SEQB_OK)
        return status;
    status = SEQB_UNREACHABLE;
    while (sentinel_next(&walk)) {
        node->address = walk.found;
        status = session_connect(node, options, sentinel_rest_ms(&walk), &why);
        if (status == SEQB_OK)
            return SEQB_OK;
        if (status != SEQB_UNREACHABLE && status != SEQB_ROLE)
            return error_copy(err, &why);
        sentinel_reject(&walk, &why);
    }
    return sentinel_fail(&walk, status, err);
}

enum seqb_status session_open(struct redis_node *node,
                              const struct seqb_backend_options *options,
                              struct seqb_error *err)
{
    enum seqb_status status;

    if (options->sentinels != NULL)
        return session_follow(node, options, err);
    status = address_given(options, &node->address, err);
    if (status == SEQB_OK)
        status =
            session_connect(node, options, options->connect_timeout_ms, err);
    return status;
}
