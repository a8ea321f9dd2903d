/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine's reserve: a run of redis.lua for each request, all of them
 * in one round trip, each with an answer of its own.
 */
#include <string.h>

#include "backends/redis/script.h"
#include "backends/requests.h"
#include "platform/error.h"

static const char *state_text(enum seqb_status status)
{
    if (status == SEQB_FENCED)
        return "is absent or bound to another origin";
    if (status == SEQB_EXHAUSTED)
        return "has used up its window";
    return "was made with another window size";
}

/* Takes over what a reply grants; the status is the request's. */
static enum seqb_status grant_take(const redisReply *reply,
                                   struct seqb_request *request)
{
    const enum seqb_status status = reply_status(reply);
    const redisReply *text = reply_text(reply);

    if (status == SEQB_FENCED && text != NULL && text->len == 0)
        return SEQB_FENCED; /* no cell */
    if (!reply_window(reply, &request->window) || request->window == 0)
        return SEQB_PROTOCOL;
    if (status == SEQB_OK && !reply_block(reply, request, &request->block))
        return SEQB_PROTOCOL;
    return status;
}

/* The user may run the script, but not on this key. */
static bool key_is_denied(const redisReply *reply)
{
    return reply_is_error(reply, "NOPERM") &&
           strstr(reply->str, " key") != NULL;
}

/* Answers one request; false if the connection is not fit for another call,
 * which `request->error` then explains. */
static bool request_answer(struct redis *redis, const redisReply *reply,
                           struct seqb_request *request)
{
    char key[REDIS_KEY_SIZE];

    (void)script_key(redis, "", request->counter, key);
    if (reply->type == REDIS_REPLY_ERROR) {
        request->status = script_refuse(redis, key, reply, &request->error);
        return reply_is_error(reply, "FOREIGN") || key_is_denied(reply);
    }
    request->status = grant_take(reply, request);
    if (request->status == SEQB_OK)
        return true;
    if (request->status == SEQB_PROTOCOL) {
        request->window = SEQB_NO_WINDOW;
        link_distrust(&redis->link, key, &request->error);
        return false;
    }
    error_set(&request->error, request->status, "%s: key %s %s",
              redis->link.where, key, state_text(request->status));
    return true;
}

static bool request_is_legal(const struct seqb_request *request)
{
    return request->want >= 1 && request->want <= SEQB_GRANT_MAX &&
           request->limit >= 1 && request->limit <= REDIS_WINDOW_MAX &&
           strlen(request->counter) < SEQB_COUNTER_SIZE;
}

/* Queues a request; one that is out of range is answered here and not sent.
 * False when out of memory. */
static bool request_append(struct redis *redis, struct seqb_request *request)
{
    char want[REDIS_NUMBER_SIZE];
    char size[REDIS_NUMBER_SIZE];
    struct script script = {"", {"alloc", want, size}};

    if (!request_is_legal(request)) {
        request->status =
            error_set(&request->error, SEQB_INVALID,
                      "%s: counter %.64s: its name, the number of values or "
                      "the window's size is out of range",
                      redis->link.where, request->counter);
        return true;
    }
    (void)script_key(redis, "", request->counter, script.key);
    script_number(request->want, want);
    script_number(request->limit, size);
    return script_append(redis, &script);
}

static bool requests_send(struct redis *redis, struct seqb_request *requests,
                          size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!request_append(redis, &requests[i]))
            return false;
    }
    return link_flush(&redis->link);
}

/* Reads on after a refusal, so that every request knows its own answer; `why`
 * is the first that makes the connection unfit, else SEQB_OK. */
static void requests_read(struct redis *redis, struct seqb_request *requests,
                          size_t n, struct seqb_error *why)
{
    why->status = SEQB_OK;
    for (size_t i = 0; i < n && link_is_open(&redis->link); i++) {
        redisReply *reply;

        if (requests[i].status != SEQB_UNCERTAIN)
            continue; /* not sent */
        reply = link_read(&redis->link);
        if (reply == NULL) {
            (void)link_lose(&redis->link, SEQB_UNCERTAIN,
                            why->status == SEQB_OK ? why : NULL);
            return;
        }
        if (!request_answer(redis, reply, &requests[i]) &&
            why->status == SEQB_OK)
            *why = requests[i].error;
        freeReplyObject(reply);
    }
}

enum seqb_status redis_reserve(struct seqb_backend *backend,
                               struct seqb_request *requests, size_t n,
                               struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    struct seqb_error why;

    requests_begin(requests, n);
    if (link_begin(&redis->link, redis->timeout_ms, &why) != SEQB_OK)
        return requests_end(requests, n, why.status, &why, err);
    if (requests_send(redis, requests, n))
        requests_read(redis, requests, n, &why);
    else
        (void)link_lose(&redis->link, SEQB_UNCERTAIN, &why);
    if (why.status == SEQB_OK)
        return SEQB_OK;
    return requests_end(requests, n, SEQB_UNCERTAIN, &why, err);
}
