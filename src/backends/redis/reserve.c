/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine's reserve: a run of redis.lua for each request, all in one
 * round trip, each with its own answer.
 */
#include <string.h>

#include "backends/redis/batch.h"
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

/* Copies what a reply grants into the request; returns the request's status. */
static enum seqb_status grant_take(const redisReply *reply,
                                   struct seqb_request *request)
{
    const enum seqb_status status = reply_status(reply);
    const redisReply *text = reply_text(reply);

    if (status == SEQB_FENCED && text != NULL && text->len == 0)
        return SEQB_FENCED; /* there is no cell */
    if (!reply_window(reply, &request->window) || request->window == 0)
        return SEQB_PROTOCOL;
    if (status == SEQB_OK && !reply_block(reply, request, &request->block))
        return SEQB_PROTOCOL;
    return status;
}

/* Whether the user may run the script, but not on this key. */
static bool key_is_denied(const redisReply *reply)
{
    return reply_is_error(reply, "NOPERM") &&
           strstr(reply->str, " key") != NULL;
}

static bool request_is_legal(const struct seqb_request *request)
{
    return request->want >= 1 && request->want <= SEQB_GRANT_MAX &&
           request->limit >= 1 && request->limit <= REDIS_WINDOW_MAX &&
           strlen(request->counter) < SEQB_COUNTER_SIZE;
}

static bool request_make(const struct batch *batch, size_t i, struct run *out)
{
    const struct seqb_request *request =
        &((const struct seqb_request *)batch->context)[i];

    if (!request_is_legal(request))
        return false;
    out->script =
        (struct script){"", {"alloc", out->numbers[0], out->numbers[1]}, NULL};
    (void)script_key(batch->redis, "", request->counter, out->script.key);
    script_number(request->want, out->numbers[0]);
    script_number(request->limit, out->numbers[1]);
    return true;
}

static enum seqb_status request_refuse(const struct script *script,
                                       const redisReply *reply,
                                       struct seqb_request *request)
{
    request->status = script_refuse(script, reply, &request->error);
    return reply_is_error(reply, "FOREIGN") || key_is_denied(reply)
               ? SEQB_OK
               : request->status;
}

static enum seqb_status request_take(const struct batch *batch, size_t i,
                                     const struct script *script,
                                     const redisReply *reply,
                                     struct seqb_error *err)
{
    struct seqb_request *request = &((struct seqb_request *)batch->context)[i];
    struct redis_link *link = &script->node->link;

    if (reply->type == REDIS_REPLY_ERROR) {
        const enum seqb_status status = request_refuse(script, reply, request);

        return status == SEQB_OK ? status : error_copy(err, &request->error);
    }
    request->status = grant_take(reply, request);
    if (request->status == SEQB_OK)
        return SEQB_OK;
    if (request->status == SEQB_PROTOCOL) {
        request->window = SEQB_NO_WINDOW;
        link_distrust(link, script->key, &request->error);
        return error_copy(err, &request->error);
    }
    error_set(&request->error, request->status, "%s: key %s %s", link->where,
              script->key, state_text(request->status));
    return SEQB_OK;
}

/* Answers the requests that are out of range, so that they are not sent. */
static void requests_check(const struct redis *redis,
                           struct seqb_request *requests, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (request_is_legal(&requests[i]))
            continue;
        requests[i].status =
            error_set(&requests[i].error, SEQB_INVALID,
                      "%s: counter %.64s: its name, the number of values or "
                      "the window's size is out of range",
                      redis->where, requests[i].counter);
    }
}

enum seqb_status redis_reserve(struct seqb_backend *backend,
                               struct seqb_request *requests, size_t n,
                               struct seqb_error *err)
{
    struct batch batch;
    struct seqb_error why;
    enum seqb_status status;

    batch.redis = redis_of(backend);
    batch.count = n;
    batch.context = requests;
    batch.make = request_make;
    batch.take = request_take;
    requests_begin(requests, n);
    requests_check(batch.redis, requests, n);
    status = batch_send(&batch, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    if (status == SEQB_UNREACHABLE)
        return requests_end(requests, n, status, &why, err);
    return requests_end(requests, n, SEQB_UNCERTAIN, &why, err);
}
