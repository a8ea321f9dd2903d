/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine: windowed counters in a store that may forget. What must be
 * atomic is in redis.lua, one key a counter; here is what is asked of it and
 * what its answers mean. The connection is redis_link.c's, its
 * begin redis_session.c's; windows are leased in ha/.
 *
 * hiredis raises SIGPIPE on a broken connection: the calling thread blocks it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/redis_link.h"
#include "backends/redis_reply.h"
#include "backends/redis_session.h"
#include "backends/requests.h"
#include "platform/error.h"
#include "platform/text.h"

#define DEFAULT_PREFIX "seqbroker"
#define PREFIX_SIZE    65
#define KEY_SIZE       (PREFIX_SIZE + SEQB_COUNTER_SIZE + sizeof ":claim:{}")
#define NUMBER_SIZE    24 /* an int64 in decimal */
#define SCRIPT_ARGS    3  /* at most, the verb first */
#define WINDOW_SIZE_MAX                                                        \
    ((int64_t)1 << 40) /* offsets exact in Lua's doubles                       \
                        */

struct redis {
    struct seqb_backend base;
    struct redis_link link;
    struct redis_session session;
    int32_t timeout_ms;
    char prefix[PREFIX_SIZE];
};

/* One run of redis.lua; args from the first NULL on are not sent. */
struct script {
    char key[KEY_SIZE];
    const char *args[SCRIPT_ARGS];
};

static struct redis *redis_of(struct seqb_backend *backend)
{
    return (struct redis *)backend;
}

#define TEXT_OF(number) #number
#define VERSION(major, minor, patch)                                           \
    "hiredis " TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

static const char *redis_library(void)
{
    return VERSION(HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
}

/* --- keys and scripts --- */

static bool key_make(const struct redis *redis, const char *kind,
                     const char *name, char out[static KEY_SIZE])
{
    return text_format(out, KEY_SIZE, "%s:%s{%s}", redis->prefix, kind, name);
}

static void number_make(int64_t value, char out[static NUMBER_SIZE])
{
    (void)text_format(out, NUMBER_SIZE, "%" PRId64, value);
}

static bool script_append(struct redis *redis, const struct script *script)
{
    const char *words[LINK_ARGS_MAX] = {"EVALSHA", redis->session.script, "1",
                                        script->key};
    int count = 4;

    for (size_t i = 0; i < SCRIPT_ARGS && script->args[i] != NULL; i++)
        words[count++] = script->args[i];
    return link_append(&redis->link, words, count);
}

static enum seqb_status reply_refuse(const struct redis *redis, const char *key,
                                     const redisReply *reply,
                                     struct seqb_error *err)
{
    if (!reply_is_error(reply, "FOREIGN"))
        return link_refuse(&redis->link, reply, err);
    return error_set(err, SEQB_REFUSED,
                     "%s: key %s holds another type: it is none of ours, use "
                     "another prefix or database",
                     redis->link.where, key);
}

/* One script in one round trip; `*out` is the caller's to free. */
static enum seqb_status script_run(struct redis *redis,
                                   const struct script *script,
                                   redisReply **out, struct seqb_error *err)
{
    enum seqb_status status = link_begin(&redis->link, redis->timeout_ms, err);
    redisReply *reply = NULL;

    if (status != SEQB_OK)
        return status;
    if (script_append(redis, script) && link_flush(&redis->link))
        reply = link_read(&redis->link);
    if (reply == NULL)
        return link_lose(&redis->link, SEQB_UNCERTAIN, err);
    if (reply->type != REDIS_REPLY_ERROR) {
        *out = reply;
        return SEQB_OK;
    }
    status = reply_refuse(redis, script->key, reply, err);
    freeReplyObject(reply);
    return status;
}

/* --- reserve --- */

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

/* Answers one request; false if the connection is not fit for another call,
 * which `request->error` then explains. */
static bool request_answer(struct redis *redis, const redisReply *reply,
                           struct seqb_request *request)
{
    char key[KEY_SIZE];

    (void)key_make(redis, "", request->counter, key);
    if (reply->type == REDIS_REPLY_ERROR) {
        request->status = reply_refuse(redis, key, reply, &request->error);
        return reply_is_error(reply, "FOREIGN");
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
           request->limit >= 1 && request->limit <= WINDOW_SIZE_MAX &&
           strlen(request->counter) < SEQB_COUNTER_SIZE;
}

/* Queues a request; one that is out of range is answered here and not sent.
 * False when out of memory. */
static bool request_append(struct redis *redis, struct seqb_request *request)
{
    char want[NUMBER_SIZE];
    char size[NUMBER_SIZE];
    struct script script = {"", {"alloc", want, size}};

    if (!request_is_legal(request)) {
        request->status =
            error_set(&request->error, SEQB_INVALID,
                      "%s: counter %.64s: its name, the number of values or "
                      "the window's size is out of range",
                      redis->link.where, request->counter);
        return true;
    }
    (void)key_make(redis, "", request->counter, script.key);
    number_make(request->want, want);
    number_make(request->limit, size);
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
    for (size_t i = 0; i < n && redis->link.context != NULL; i++) {
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

static enum seqb_status redis_reserve(struct seqb_backend *backend,
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

/* --- the other calls --- */

static enum seqb_status redis_raise(struct seqb_backend *backend,
                                    const struct seqb_raise *raise,
                                    int64_t *out, struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    char floor[NUMBER_SIZE];
    struct script script = {"", {"raise", floor}};
    int64_t standing;
    enum seqb_status status;
    redisReply *reply = NULL;

    if (!key_make(redis, "", raise->counter, script.key) || raise->floor < 0)
        return error_set(err, SEQB_INVALID,
                         "%s: %.64s cannot be raised to %" PRId64,
                         redis->link.where, raise->counter, raise->floor);
    number_make(raise->floor, floor);
    status = script_run(redis, &script, &reply, err);
    if (reply == NULL)
        return status;
    if (reply_status(reply) != SEQB_OK || !reply_window(reply, &standing) ||
        standing < raise->floor)
        status = link_distrust(&redis->link, script.key, err);
    else
        *out = standing;
    freeReplyObject(reply);
    return status;
}

/* What the answer to an install means; `*standing` is the cell's window. */
static enum seqb_status install_answer(struct redis *redis,
                                       const struct script *script,
                                       const redisReply *reply,
                                       int64_t *standing,
                                       struct seqb_error *err)
{
    const enum seqb_status status = reply_status(reply);
    int64_t window;

    if (!reply_window(reply, &window))
        return link_distrust(&redis->link, script->key, err);
    if (status == SEQB_OK)
        return SEQB_OK;
    if (status == SEQB_FENCED) {
        *standing = window;
        return error_set(err, SEQB_FENCED,
                         "%s: key %s: window %" PRId64 " stands there, %s is "
                         "not above it",
                         redis->link.where, script->key, window,
                         script->args[1]);
    }
    if (status == SEQB_LAYOUT)
        return error_set(err, SEQB_LAYOUT, "%s: key %s %s", redis->link.where,
                         script->key, state_text(SEQB_LAYOUT));
    return link_distrust(&redis->link, script->key, err);
}

static enum seqb_status redis_install(struct seqb_backend *backend,
                                      const struct seqb_window *window,
                                      int64_t *standing, struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    char number[NUMBER_SIZE];
    char size[NUMBER_SIZE];
    struct script script = {"", {"install", number, size}};
    enum seqb_status status;
    redisReply *reply = NULL;

    if (!key_make(redis, "", window->counter, script.key) ||
        window->window < 1 || window->size < 1 ||
        window->size > WINDOW_SIZE_MAX)
        return error_set(
            err, SEQB_INVALID,
            "%s: %.64s: no window %" PRId64 " of %" PRId64 " offsets",
            redis->link.where, window->counter, window->window, window->size);
    number_make(window->window, number);
    number_make(window->size, size);
    status = script_run(redis, &script, &reply, err);
    if (reply == NULL)
        return status;
    status = install_answer(redis, &script, reply, standing, err);
    freeReplyObject(reply);
    return status;
}

static enum seqb_status claim_answer(struct redis *redis, const char *key,
                                     const redisReply *reply, char *standing,
                                     size_t size, struct seqb_error *err)
{
    const redisReply *text = reply_text(reply);

    if (reply_status(reply) != SEQB_OK || text == NULL)
        return link_distrust(&redis->link, key, err);
    if (text->len >= size || strlen(text->str) != text->len)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: key %s holds a text that is none of ours",
                         redis->link.where, key);
    (void)text_copy(standing, size, text->str);
    return SEQB_OK;
}

static enum seqb_status redis_claim(struct seqb_backend *backend,
                                    const char *name, const char *text,
                                    char *standing, size_t size,
                                    struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    struct script script = {"", {"claim", text}};
    enum seqb_status status;
    redisReply *reply = NULL;

    if (!key_make(redis, "claim:", name, script.key))
        return error_set(err, SEQB_INVALID,
                         "%s: the claim's name %.64s... is too long",
                         redis->link.where, name);
    status = script_run(redis, &script, &reply, err);
    if (reply == NULL)
        return status;
    status = claim_answer(redis, script.key, reply, standing, size, err);
    freeReplyObject(reply);
    return status;
}

static void redis_close(struct seqb_backend *backend)
{
    struct redis *redis = redis_of(backend);

    if (redis == NULL)
        return;
    link_close(&redis->link);
    free(redis);
}

static enum seqb_status redis_start(struct redis *redis,
                                    const struct seqb_backend_options *options,
                                    struct seqb_error *err)
{
    const char *prefix =
        options->prefix != NULL ? options->prefix : DEFAULT_PREFIX;
    enum seqb_status status;

    if (options->tls != SEQB_TLS_OFF)
        return error_set(err, SEQB_INVALID,
                         "%s: the redis engine has no TLS (%s): set tls to off "
                         "and reach the server by a socket, a private network "
                         "or a tunnel",
                         options->name, redis_library());
    if (!text_copy(redis->prefix, sizeof redis->prefix, prefix))
        return error_set(err, SEQB_INVALID, "%s: a prefix has at most %d bytes",
                         options->name, PREFIX_SIZE - 1);
    status = session_open(&redis->link, &redis->session, options, err);
    if (status != SEQB_OK)
        return status;
    redis->timeout_ms = options->timeout_ms;
    redis->base.fd = redis->link.context->fd;
    (void)text_copy(redis->base.domain, sizeof redis->base.domain,
                    redis->session.domain);
    (void)text_copy(redis->base.origin, sizeof redis->base.origin,
                    redis->session.origin);
    (void)text_format(redis->base.server, sizeof redis->base.server, "redis %s",
                      redis->session.version);
    return SEQB_OK;
}

static enum seqb_status redis_open(const struct seqb_backend_options *options,
                                   struct seqb_backend **out,
                                   struct seqb_error *err)
{
    struct redis *redis = calloc(1, sizeof *redis);
    enum seqb_status status;

    if (redis == NULL)
        return error_set(err, SEQB_NO_MEMORY, "%s: out of memory",
                         options->name);
    redis->base.ops = &backend_redis;
    redis->base.fd = -1;
    status = redis_start(redis, options, err);
    if (status != SEQB_OK) {
        redis_close(&redis->base);
        return status;
    }
    *out = &redis->base;
    return SEQB_OK;
}

const struct seqb_backend_ops backend_redis = {
    .engine = "redis",
    .guarantee = SEQB_WINDOWED,
    .library = redis_library,
    .open = redis_open,
    .reserve = redis_reserve,
    .raise = redis_raise,
    .install = redis_install,
    .claim = redis_claim,
    .close = redis_close,
};
