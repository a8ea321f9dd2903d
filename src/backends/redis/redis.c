/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine: windowed counters in a store that may forget. redis.lua
 * does what must be atomic, with one key for each counter; this file calls it
 * and interprets its answers. reserve.c has the reservation, script.c a run of
 * the script, link.c the connection, session.c the begin of a session. Windows
 * are leased in ha/.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backends.h"
#include "backends/redis/script.h"
#include "platform/error.h"
#include "platform/text.h"

#define DEFAULT_PREFIX "seqbroker"

/* Seconds. A cell that is to be kept longer than that, 34 thousand years, never
 * expires: as ms since 1970 the time would not fit. */
#define KEEP_MAX ((int64_t)1 << 40)

#define TEXT_OF(number) #number
#define VERSION(major, minor, patch)                                           \
    "hiredis " TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)

static const char *redis_library(void)
{
    return VERSION(HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
}

/* --- raise --- */

static enum seqb_status redis_raise(struct seqb_backend *backend,
                                    const struct seqb_raise *raise,
                                    int64_t *out, struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    char floor[REDIS_NUMBER_SIZE];
    struct script script = {"", {"raise", floor}, NULL};
    int64_t standing;
    enum seqb_status status;
    redisReply *reply = NULL;

    if (!script_key(redis, "", raise->counter, script.key) || raise->floor < 0)
        return error_set(err, SEQB_INVALID,
                         "%s: %.64s cannot be raised to %" PRId64, redis->where,
                         raise->counter, raise->floor);
    script_number(raise->floor, floor);
    status = script_run(redis, &script, &reply, err);
    if (reply == NULL)
        return status;
    if (reply_status(reply) != SEQB_OK || !reply_window(reply, &standing) ||
        standing < raise->floor)
        status = link_distrust(&script.node->link, script.key, err);
    else
        *out = standing;
    freeReplyObject(reply);
    return status;
}

/* --- install --- */

/* Interprets the answer to an install; `*standing` is the cell's window. */
static enum seqb_status install_answer(const struct script *script,
                                       const redisReply *reply,
                                       int64_t *standing,
                                       struct seqb_error *err)
{
    const enum seqb_status status = reply_status(reply);
    int64_t window;

    if (!reply_window(reply, &window))
        return link_distrust(&script->node->link, script->key, err);
    if (status == SEQB_OK || status == SEQB_FENCED)
        *standing = window;
    if (status == SEQB_OK)
        return SEQB_OK;
    if (status == SEQB_FENCED)
        return error_set(err, SEQB_FENCED,
                         "%s: key %s: window %" PRId64 " stands there, %s is "
                         "not above it",
                         script->node->link.where, script->key, window,
                         script->args[1]);
    if (status == SEQB_LAYOUT)
        return error_set(err, SEQB_LAYOUT,
                         "%s: key %s was made with another window size",
                         script->node->link.where, script->key);
    return link_distrust(&script->node->link, script->key, err);
}

static enum seqb_status redis_install(struct seqb_backend *backend,
                                      const struct seqb_window *window,
                                      int64_t *standing, struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    char number[REDIS_NUMBER_SIZE];
    char size[REDIS_NUMBER_SIZE];
    char keep[REDIS_NUMBER_SIZE];
    char over[REDIS_NUMBER_SIZE];
    struct script script = {"", {"install", number, size, keep, over}, NULL};
    enum seqb_status status;
    redisReply *reply = NULL;

    if (!script_key(redis, "", window->counter, script.key) ||
        window->window < 1 || window->size < 1 ||
        window->size > REDIS_WINDOW_MAX || window->keep_s < 0)
        return error_set(err, SEQB_INVALID,
                         "%s: %.64s: no window %" PRId64 " of %" PRId64
                         " offsets, kept %" PRId64 " s",
                         redis->where, window->counter, window->window,
                         window->size, window->keep_s);
    script_number(window->window, number);
    script_number(window->size, size);
    script_number(window->keep_s <= KEEP_MAX ? window->keep_s : 0, keep);
    script_number(window->over, over);
    status = script_run(redis, &script, &reply, err);
    if (reply == NULL)
        return status;
    status = install_answer(&script, reply, standing, err);
    freeReplyObject(reply);
    return status;
}

/* --- clock --- */

static enum seqb_status redis_clock(struct seqb_backend *backend,
                                    int64_t *out_ms, struct seqb_error *err)
{
    struct redis *redis = redis_of(backend);
    enum seqb_status status = script_begin(redis, err);
    struct redis_node *node =
        redis->cluster != NULL ? redis->cluster->nodes[0] : &redis->node;
    redisReply *reply = NULL;

    if (status == SEQB_OK)
        status = script_answer(
            node, link_append(&node->link, (const char *[]){"TIME"}, 1), &reply,
            err);
    if (status != SEQB_OK)
        return status;
    if (reply->type == REDIS_REPLY_ERROR)
        status = link_refuse(&node->link, reply, err);
    else if (!reply_time(reply, out_ms))
        status = link_distrust(&node->link, "TIME", err);
    freeReplyObject(reply);
    if (status == SEQB_REFUSED) { /* scripts are allowed, but TIME may not be */
        *out_ms = 0;
        status = SEQB_OK;
    }
    return status;
}

/* --- open and close --- */

static void redis_close(struct seqb_backend *backend)
{
    struct redis *redis = redis_of(backend);

    if (redis == NULL)
        return;
    link_close(&redis->node.link);
    cluster_close(redis->cluster);
    free(redis);
}

/* Fills in the description of the server, or of the cluster by the server that
 * has slot 0. */
static void base_fill(struct redis *redis,
                      const struct seqb_backend_options *options)
{
    const struct redis_cluster *cluster = redis->cluster;
    const struct redis_node *node =
        cluster == NULL
            ? &redis->node
            : cluster->nodes[cluster->owner[0] > 0 ? cluster->owner[0] - 1 : 0];
    struct seqb_backend *base = &redis->base;
    const char *kind = cluster == NULL ? "redis" : "redis cluster";

    redis->timeout_ms = options->timeout_ms;
    (void)text_copy(base->domain, sizeof base->domain, node->session.domain);
    (void)text_format(base->server, sizeof base->server, "%s %s", kind,
                      node->session.version);
    (void)text_format(redis->where, sizeof redis->where, "%s (%s %s)",
                      options->name, kind, node->session.domain);
    if (cluster != NULL) { /* several sockets, whose streams enforce the
                              time-out */
        cluster_origin(cluster, base->origin);
        return;
    }
    base->fd = node->link.resp.stream.fd;
    (void)text_copy(base->origin, sizeof base->origin, node->session.origin);
}

static enum seqb_status redis_start(struct redis *redis,
                                    const struct seqb_backend_options *options,
                                    struct seqb_error *err)
{
    const char *prefix =
        options->prefix != NULL ? options->prefix : DEFAULT_PREFIX;
    enum seqb_status status;

    if (!text_copy(redis->prefix, sizeof redis->prefix, prefix))
        return error_set(err, SEQB_INVALID, "%s: a prefix has at most %d bytes",
                         options->name, REDIS_PREFIX_SIZE - 1);
    status = options->endpoints != NULL
                 ? cluster_open(options, &redis->cluster, err)
                 : session_open(&redis->node, options, err);
    if (status == SEQB_OK)
        base_fill(redis, options);
    return status;
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
    .claim_many = redis_claim_many,
    .describe = redis_describe,
    .clock = redis_clock,
    .close = redis_close,
};
