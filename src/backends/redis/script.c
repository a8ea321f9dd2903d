/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of redis.lua: their keys, words and answers. */
#include "backends/redis/script.h"

#include <inttypes.h>
#include <string.h>

#include "platform/error.h"
#include "platform/text.h"

#define HOPS_MAX 8 /* redirections of one run */

bool script_key(const struct redis *redis, const char *kind, const char *name,
                char out[static REDIS_KEY_SIZE])
{
    return text_format(out, REDIS_KEY_SIZE, "%s:%s{%s}", redis->prefix, kind,
                       name);
}

void script_number(int64_t value, char out[static REDIS_NUMBER_SIZE])
{
    (void)text_format(out, REDIS_NUMBER_SIZE, "%" PRId64, value);
}

/* --- routing --- */

enum seqb_status script_begin(struct redis *redis, struct seqb_error *err)
{
    if (redis->cluster != NULL)
        return cluster_begin(redis->cluster, redis->timeout_ms, err);
    return link_begin(&redis->node.link, redis->timeout_ms, err);
}

enum seqb_status script_route(struct redis *redis, struct script *script,
                              struct seqb_error *err)
{
    if (redis->cluster != NULL)
        return cluster_find(redis->cluster, script->key, &script->node, err);
    script->node = &redis->node;
    return SEQB_OK;
}

bool script_is_redirected(const struct redis *redis, const redisReply *reply)
{
    struct redirection redirection;

    return redis->cluster != NULL && reply->type == REDIS_REPLY_ERROR &&
           redirection_parse(reply->str, &redirection);
}

/* --- one run --- */

bool script_append(const struct script *script)
{
    const char *words[LINK_ARGS_MAX] = {"EVALSHA", script->node->session.script,
                                        "1", script->key};
    int count = 4;

    for (size_t i = 0; i < REDIS_SCRIPT_ARGS && script->args[i] != NULL; i++)
        words[count++] = script->args[i];
    return link_append(&script->node->link, words, count);
}

enum seqb_status script_refuse(const struct script *script,
                               const redisReply *reply, struct seqb_error *err)
{
    const struct redis_link *link = &script->node->link;

    if (!reply_is_error(reply, "FOREIGN"))
        return link_refuse(link, reply, err);
    return error_set(err, SEQB_REFUSED,
                     "%s: key %s holds another type: it is none of ours, use "
                     "another prefix or database",
                     link->where, script->key);
}

enum seqb_status script_answer(struct redis_node *node, bool is_added,
                               redisReply **out, struct seqb_error *err)
{
    redisReply *reply = NULL;

    if (is_added && link_flush(&node->link))
        reply = link_read(&node->link);
    if (reply == NULL)
        return link_lose(&node->link, SEQB_UNCERTAIN, err);
    *out = reply;
    return SEQB_OK;
}

/* Makes the server accept one command for a slot that is still being migrated
 * to it. */
static enum seqb_status send_asking(struct redis_node *node,
                                    struct seqb_error *err)
{
    redisReply *reply = NULL;
    const enum seqb_status status = script_answer(
        node, link_append(&node->link, (const char *[]){"ASKING"}, 1), &reply,
        err);

    if (reply != NULL)
        freeReplyObject(reply);
    return status;
}

/* Follows an error reply that redirects the run: SEQB_OK if it does, otherwise
 * the status of the error. */
static enum seqb_status send_on(struct redis *redis, struct script *script,
                                const redisReply *reply, struct seqb_error *err)
{
    struct redirection redirection;
    enum seqb_status status;

    if (redis->cluster == NULL || !redirection_parse(reply->str, &redirection))
        return script_refuse(script, reply, err);
    status = cluster_follow(redis->cluster, &redirection, script->node,
                            &script->node, err);
    if (status == SEQB_OK && redirection.is_ask)
        status = send_asking(script->node, err);
    return status;
}

enum seqb_status script_send(struct redis *redis, struct script *script,
                             redisReply **out, struct seqb_error *err)
{
    enum seqb_status status = script_route(redis, script, err);

    for (int hop = 0; hop < HOPS_MAX && status == SEQB_OK; hop++) {
        redisReply *reply = NULL;

        status =
            script_answer(script->node, script_append(script), &reply, err);
        if (reply == NULL)
            return status;
        if (reply->type != REDIS_REPLY_ERROR) {
            *out = reply;
            return SEQB_OK;
        }
        status = send_on(redis, script, reply, err);
        freeReplyObject(reply);
    }
    if (status != SEQB_OK)
        return status;
    return error_set(err, SEQB_UNREACHABLE,
                     "%s: key %s is redirected without an end, nothing was "
                     "changed: the servers of the cluster do not agree yet",
                     redis->where, script->key);
}

enum seqb_status script_run(struct redis *redis, struct script *script,
                            redisReply **out, struct seqb_error *err)
{
    const enum seqb_status status = script_begin(redis, err);

    return status == SEQB_OK ? script_send(redis, script, out, err) : status;
}

/* --- answers --- */

/* The i-th element of an array if it has that type, else NULL. */
static const redisReply *reply_at(const redisReply *reply, size_t i, int type)
{
    if (reply->type != REDIS_REPLY_ARRAY || i >= reply->elements ||
        reply->element[i]->type != type)
        return NULL;
    return reply->element[i];
}

enum seqb_status reply_status(const redisReply *reply)
{
    static const enum seqb_status known[] = {SEQB_OK, SEQB_FENCED,
                                             SEQB_EXHAUSTED, SEQB_LAYOUT};
    const redisReply *word = reply_at(reply, 0, REDIS_REPLY_STRING);

    if (word == NULL)
        return SEQB_PROTOCOL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(word->str, seqb_status_name(known[i])) == 0)
            return known[i];
    }
    return SEQB_PROTOCOL;
}

const redisReply *reply_text(const redisReply *reply)
{
    return reply_at(reply, 1, REDIS_REPLY_STRING);
}

bool reply_window(const redisReply *reply, int64_t *out)
{
    const redisReply *text = reply_text(reply);

    return text != NULL && text_to_int64(text->str, text->len, out) &&
           *out >= 0;
}

bool reply_block(const redisReply *reply, const struct seqb_request *request,
                 struct seqb_block *out)
{
    const redisReply *first = reply_at(reply, 2, REDIS_REPLY_INTEGER);
    const redisReply *count = reply_at(reply, 3, REDIS_REPLY_INTEGER);

    if (first == NULL || count == NULL)
        return false;
    if (first->integer < 0 || count->integer < 1 ||
        count->integer > request->want ||
        count->integer > request->limit - first->integer)
        return false;
    out->first = first->integer;
    out->count = count->integer;
    return true;
}

bool reply_time(const redisReply *reply, int64_t *out_ms)
{
    const redisReply *seconds = reply_at(reply, 0, REDIS_REPLY_STRING);
    const redisReply *rest = reply_at(reply, 1, REDIS_REPLY_STRING);
    int64_t s;
    int64_t us;

    if (seconds == NULL || rest == NULL ||
        !text_to_int64(seconds->str, seconds->len, &s) ||
        !text_to_int64(rest->str, rest->len, &us) || s < 1 ||
        s > INT64_MAX / 1000 - 1 || us < 0 || us > 999999)
        return false;
    *out_ms = s * 1000 + us / 1000;
    return true;
}
