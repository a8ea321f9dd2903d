/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine's reserve: a run of redis.lua for each request, all of them
 * in one round trip, each with an answer of its own.
 */
#include <string.h>

#include "backends/redis/script.h"
#include "backends/requests.h"
#include "platform/error.h"

#define REQUESTS_MAX 1024 /* of a call, as backend.h says */

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
static bool request_answer(const struct script *script, const redisReply *reply,
                           struct seqb_request *request)
{
    struct redis_link *link = &script->node->link;

    if (reply->type == REDIS_REPLY_ERROR) {
        request->status = script_refuse(script, reply, &request->error);
        return reply_is_error(reply, "FOREIGN") || key_is_denied(reply);
    }
    request->status = grant_take(reply, request);
    if (request->status == SEQB_OK)
        return true;
    if (request->status == SEQB_PROTOCOL) {
        request->window = SEQB_NO_WINDOW;
        link_distrust(link, script->key, &request->error);
        return false;
    }
    error_set(&request->error, request->status, "%s: key %s %s", link->where,
              script->key, state_text(request->status));
    return true;
}

static bool request_is_legal(const struct seqb_request *request)
{
    return request->want >= 1 && request->want <= SEQB_GRANT_MAX &&
           request->limit >= 1 && request->limit <= REDIS_WINDOW_MAX &&
           strlen(request->counter) < SEQB_COUNTER_SIZE;
}

/* A request as it is sent. */
struct run {
    char want[REDIS_NUMBER_SIZE];
    char size[REDIS_NUMBER_SIZE];
    struct script script;
};

static void run_make(const struct redis *redis,
                     const struct seqb_request *request, struct run *out)
{
    out->script = (struct script){"", {"alloc", out->want, out->size}, NULL};
    (void)script_key(redis, "", request->counter, out->script.key);
    script_number(request->want, out->want);
    script_number(request->limit, out->size);
}

/* A call of reserve under way. */
struct reservation {
    struct redis *redis;
    struct seqb_request *requests;
    size_t count;
    /* Whom each request was sent to; NULL: to nobody, or on to another. */
    struct redis_node *nodes[REQUESTS_MAX];
    struct seqb_error why; /* the first that makes a connection unfit, else
                              SEQB_OK */
};

/* Queues a request; one that is out of range is answered here and not sent.
 * False if the call has failed. */
static bool request_add(struct reservation *call, size_t i)
{
    struct seqb_request *request = &call->requests[i];
    struct run run;

    if (!request_is_legal(request)) {
        request->status =
            error_set(&request->error, SEQB_INVALID,
                      "%s: counter %.64s: its name, the number of values or "
                      "the window's size is out of range",
                      call->redis->where, request->counter);
        return true;
    }
    run_make(call->redis, request, &run);
    if (script_route(call->redis, &run.script, &call->why) != SEQB_OK)
        return false;
    call->nodes[i] = run.script.node;
    if (script_append(&run.script))
        return true;
    (void)link_lose(&run.script.node->link, SEQB_UNCERTAIN, &call->why);
    return false;
}

static void node_lose(struct reservation *call, struct redis_node *node)
{
    (void)link_lose(&node->link, SEQB_UNCERTAIN,
                    call->why.status == SEQB_OK ? &call->why : NULL);
}

/* Each server once: what was added for it goes out with its first request. */
static void requests_send(struct reservation *call)
{
    for (size_t i = 0; i < call->count; i++) {
        struct redis_node *node = call->nodes[i];

        if (node != NULL && link_is_open(&node->link) &&
            !link_flush(&node->link))
            node_lose(call, node);
    }
}

/* Reads on after a refusal, so that every request knows its own answer. */
static void requests_read(struct reservation *call)
{
    for (size_t i = 0; i < call->count; i++) {
        struct redis_node *node = call->nodes[i];
        struct seqb_request *request = &call->requests[i];
        struct run run;
        redisReply *reply;

        if (node == NULL || !link_is_open(&node->link))
            continue; /* not sent, or its answer is lost */
        reply = link_read(&node->link);
        if (reply == NULL) {
            node_lose(call, node);
            continue;
        }
        run_make(call->redis, request, &run);
        run.script.node = node;
        if (script_is_redirected(call->redis, reply))
            call->nodes[i] = NULL;
        else if (!request_answer(&run.script, reply, request) &&
                 call->why.status == SEQB_OK)
            call->why = request->error;
        freeReplyObject(reply);
    }
}

/* Those that were redirected, one by one: a slot moves seldom. */
static void requests_send_on(struct reservation *call)
{
    for (size_t i = 0; i < call->count && call->why.status == SEQB_OK; i++) {
        struct seqb_request *request = &call->requests[i];
        redisReply *reply = NULL;
        struct run run;

        if (call->nodes[i] != NULL || request->status != SEQB_UNCERTAIN)
            continue;
        run_make(call->redis, request, &run);
        request->status =
            script_send(call->redis, &run.script, &reply, &request->error);
        if (reply == NULL) {
            call->why = request->error;
            continue;
        }
        if (!request_answer(&run.script, reply, request))
            call->why = request->error;
        freeReplyObject(reply);
    }
}

enum seqb_status redis_reserve(struct seqb_backend *backend,
                               struct seqb_request *requests, size_t n,
                               struct seqb_error *err)
{
    struct reservation call = {
        .redis = redis_of(backend), .requests = requests, .count = n};
    bool is_sent = true;

    requests_begin(requests, n);
    if (script_begin(call.redis, &call.why) != SEQB_OK)
        return requests_end(requests, n, call.why.status, &call.why, err);
    for (size_t i = 0; i < n && is_sent; i++)
        is_sent = request_add(&call, i);
    if (is_sent) {
        requests_send(&call);
        requests_read(&call);
        requests_send_on(&call);
    }
    if (call.why.status == SEQB_OK)
        return SEQB_OK;
    return requests_end(requests, n, SEQB_UNCERTAIN, &call.why, err);
}
