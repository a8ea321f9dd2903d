/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The internals of the redis engine: its struct, runs of redis.lua on one key,
 * and their answers: {word, text, ...}, or an error whose first word is a code.
 * redis.c and reserve.c are built on it.
 */
#pragma once

#include "backends/redis/cluster.h"
#include "backends/redis/session.h"

#define REDIS_PREFIX_SIZE 65
#define REDIS_KEY_SIZE                                                         \
    (REDIS_PREFIX_SIZE + SEQB_COUNTER_SIZE + sizeof ":claim:{}")
#define REDIS_NUMBER_SIZE 24 /* an int64 in decimal */
#define REDIS_SCRIPT_ARGS 5  /* at most; the verb is the first */

/* The offsets that Lua's doubles represent exactly. */
#define REDIS_WINDOW_MAX ((int64_t)1 << 40)

struct redis {
    struct seqb_backend base;
    struct redis_node node;        /* used without a cluster */
    struct redis_cluster *cluster; /* NULL: not a cluster */
    int32_t timeout_ms;
    char where[256]; /* for messages about no particular server */
    char prefix[REDIS_PREFIX_SIZE];
};

static inline struct redis *redis_of(struct seqb_backend *backend)
{
    return (struct redis *)backend;
}

/* One run of redis.lua. Arguments from the first NULL on are not sent. */
struct script {
    char key[REDIS_KEY_SIZE];
    const char *args[REDIS_SCRIPT_ARGS];
    struct redis_node *node; /* out: the server that it was last sent to */
};

/* The engine's reserve; reserve.c. */
enum seqb_status redis_reserve(struct seqb_backend *backend,
                               struct seqb_request *requests, size_t n,
                               struct seqb_error *err);

/* The engine's claims; claim.c. */
enum seqb_status redis_claim(struct seqb_backend *backend, const char *name,
                             const char *text, char *standing, size_t size,
                             struct seqb_error *err);
enum seqb_status redis_claim_many(struct seqb_backend *backend,
                                  struct seqb_claim *claims, size_t n,
                                  size_t *done, struct seqb_error *err);

/* The engine's description of the store; describe.c. */
enum seqb_status redis_describe(struct seqb_backend *backend,
                                struct seqb_details *out,
                                struct seqb_error *err);

/* The key of a counter or, with a `kind`, of something else; false if it is too
 * long. */
bool script_key(const struct redis *redis, const char *kind, const char *name,
                char out[static REDIS_KEY_SIZE]);

void script_number(int64_t value, char out[static REDIS_NUMBER_SIZE]);

/* Begins a call; SEQB_UNREACHABLE if a connection was lost earlier. */
enum seqb_status script_begin(struct redis *redis, struct seqb_error *err);

/* Finds the server that has the script's key. SEQB_UNREACHABLE, or another
 * error of connecting. */
enum seqb_status script_route(struct redis *redis, struct script *script,
                              struct seqb_error *err);

/* Adds a run to the buffer that link_flush sends to the script's server; false
 * when out of memory. */
bool script_append(const struct script *script);

/* Whether the error reply redirects the run to another server: nothing was
 * done. */
bool script_is_redirected(const struct redis *redis, const redisReply *reply);

/* The status of a run's error reply. */
enum seqb_status script_refuse(const struct script *script,
                               const redisReply *reply, struct seqb_error *err);

/* Sends what was added, if `is_added`, and reads its single answer, which may
 * be an error and is to be freed by the caller. Otherwise `*out` is unchanged,
 * and the status is SEQB_UNCERTAIN or one of link_lose. */
enum seqb_status script_answer(struct redis_node *node, bool is_added,
                               redisReply **out, struct seqb_error *err);

/* Does a run within the current call, following redirections. The answer is not
 * an error, and is to be freed by the caller. Otherwise `*out` is unchanged,
 * and the status is that of the refusal, SEQB_UNCERTAIN, SEQB_PROTOCOL, or an
 * error of script_route. */
enum seqb_status script_send(struct redis *redis, struct script *script,
                             redisReply **out, struct seqb_error *err);

/* A call that consists of one run. */
enum seqb_status script_run(struct redis *redis, struct script *script,
                            redisReply **out, struct seqb_error *err);

/* The rest parses answers. Pure. */

/* The status of the answer's word: SEQB_OK, SEQB_FENCED, SEQB_EXHAUSTED,
 * SEQB_LAYOUT, or SEQB_PROTOCOL if the script has no such word. */
enum seqb_status reply_status(const redisReply *reply);

/* The text after the word; NULL if there is none. */
const redisReply *reply_text(const redisReply *reply);

/* The text as a window or a floor: 0 or more. `*out` may be changed on
 * failure. */
bool reply_window(const redisReply *reply, int64_t *out);

/* The block after the text. False if `request` may not be granted it. */
bool reply_block(const redisReply *reply, const struct seqb_request *request,
                 struct seqb_block *out);

/* The answer to TIME, as ms since 1970. */
bool reply_time(const redisReply *reply, int64_t *out_ms);
