/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of redis.lua: keys, words, and what it answers. */
#include "backends/redis/script.h"

#include <inttypes.h>
#include <string.h>

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
