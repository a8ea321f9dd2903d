/* SPDX-License-Identifier: Apache-2.0 */
/* What redis.lua answers: {word, text, ...}, or an error. */
#include "backends/redis/reply.h"

#include <string.h>

#include "platform/text.h"

bool reply_is_error(const redisReply *reply, const char *code)
{
    const size_t length = strlen(code);

    return reply->type == REDIS_REPLY_ERROR && reply->len >= length &&
           memcmp(reply->str, code, length) == 0 &&
           (reply->len == length || reply->str[length] == ' ');
}

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
