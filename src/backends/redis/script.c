/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of redis.lua: keys, words, and the one answer of a call. */
#include "backends/redis/script.h"

#include <inttypes.h>

#include "backends/redis/reply.h"
#include "platform/error.h"
#include "platform/text.h"

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

bool script_append(struct redis *redis, const struct script *script)
{
    const char *words[LINK_ARGS_MAX] = {"EVALSHA", redis->session.script, "1",
                                        script->key};
    int count = 4;

    for (size_t i = 0; i < REDIS_SCRIPT_ARGS && script->args[i] != NULL; i++)
        words[count++] = script->args[i];
    return link_append(&redis->link, words, count);
}

enum seqb_status script_refuse(const struct redis *redis, const char *key,
                               const redisReply *reply, struct seqb_error *err)
{
    if (!reply_is_error(reply, "FOREIGN"))
        return link_refuse(&redis->link, reply, err);
    return error_set(err, SEQB_REFUSED,
                     "%s: key %s holds another type: it is none of ours, use "
                     "another prefix or database",
                     redis->link.where, key);
}

enum seqb_status script_answer(struct redis *redis, bool is_added,
                               const char *key, redisReply **out,
                               struct seqb_error *err)
{
    redisReply *reply = NULL;
    enum seqb_status status;

    if (is_added && link_flush(&redis->link))
        reply = link_read(&redis->link);
    if (reply == NULL)
        return link_lose(&redis->link, SEQB_UNCERTAIN, err);
    if (reply->type != REDIS_REPLY_ERROR) {
        *out = reply;
        return SEQB_OK;
    }
    status = script_refuse(redis, key, reply, err);
    freeReplyObject(reply);
    return status;
}

enum seqb_status script_run(struct redis *redis, const struct script *script,
                            redisReply **out, struct seqb_error *err)
{
    const enum seqb_status status =
        link_begin(&redis->link, redis->timeout_ms, err);

    if (status != SEQB_OK)
        return status;
    return script_answer(redis, script_append(redis, script), script->key, out,
                         err);
}
