/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a Redis server, or of a cluster by one of its masters. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "backends/redis/script.h"
#include "platform/text.h"

#define FIELD_SIZE 192 /* slaveN's line has some 80 bytes */

static bool field_number(const redisReply *info, const char *name, int64_t *out)
{
    char text[24];

    return session_field(info, name, text, sizeof text) &&
           text_to_int64(text, strlen(text), out);
}

/* How far the slowest replica is behind, in bytes. */
static bool replicas_lag(const redisReply *info, int64_t count, int64_t *out)
{
    int64_t written;

    *out = 0;
    if (!field_number(info, "master_repl_offset", &written))
        return false;
    for (int64_t i = 0; i < count; i++) {
        char line[FIELD_SIZE];
        char name[32];
        const char *at;
        int64_t seen;

        (void)text_format(name, sizeof name, "slave%" PRId64, i);
        if (!session_field(info, name, line, sizeof line))
            return false;
        at = strstr(line, "offset=");
        if (at == NULL || sscanf(at, "offset=%" SCNd64, &seen) != 1)
            return false;
        if (written - seen > *out)
            *out = written - seen;
    }
    return true;
}

static void replication_take(const redisReply *info, struct seqb_details *out)
{
    int64_t count;
    int64_t lag;

    (void)session_field(info, "role", out->role, sizeof out->role);
    if (!field_number(info, "connected_slaves", &count))
        return;
    if (count == 0)
        (void)text_copy(out->replicas, sizeof out->replicas, "none");
    else if (replicas_lag(info, count, &lag))
        (void)text_format(out->replicas, sizeof out->replicas,
                          "%" PRId64 ", at most %" PRId64 " bytes behind",
                          count, lag);
    else
        (void)text_format(out->replicas, sizeof out->replicas, "%" PRId64,
                          count);
}

/* A failover needs the votes of a majority of the masters that have slots. */
static void cluster_take(const redisReply *info, struct seqb_details *out)
{
    char state[16];
    int64_t masters;

    if (session_field(info, "cluster_state", state, sizeof state) &&
        field_number(info, "cluster_size", &masters))
        (void)text_format(out->quorum, sizeof out->quorum,
                          "%" PRId64 " of %" PRId64 " masters, state %s",
                          masters / 2 + 1, masters, state);
}

/* Asks, and passes the answer to `take`; a server that refuses is no error. */
static enum seqb_status
info_ask(struct redis_node *node, const char *const command[2],
         void (*take)(const redisReply *info, struct seqb_details *out),
         struct seqb_details *out, struct seqb_error *err)
{
    redisReply *reply = NULL;
    const enum seqb_status status =
        script_answer(node, link_append(&node->link, command, 2), &reply, err);

    if (status != SEQB_OK)
        return status;
    if (reply->type == REDIS_REPLY_STRING)
        take(reply, out);
    freeReplyObject(reply);
    return SEQB_OK;
}

enum seqb_status redis_describe(struct seqb_backend *backend,
                                struct seqb_details *out,
                                struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    enum seqb_status status = script_begin(redis, err);
    struct redis_node *node =
        redis->cluster != NULL ? redis->cluster->nodes[0] : &redis->node;

    if (status == SEQB_OK)
        status = info_ask(node, (const char *[]){"INFO", "replication"},
                          replication_take, out, err);
    if (status == SEQB_OK && redis->cluster != NULL)
        status = info_ask(node, (const char *[]){"CLUSTER", "INFO"},
                          cluster_take, out, err);
    if (status != SEQB_OK)
        return status;
    (void)text_copy(out->node, sizeof out->node, node->session.domain);
    (void)text_copy(out->tls, sizeof out->tls,
                    stream_tls(&node->link.resp.stream));
    return SEQB_OK;
}
