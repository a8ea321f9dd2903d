/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine's inside: its struct, runs of redis.lua on one key, and what
 * these answer: {word, text, ...}, or an error whose first word is a code.
 * redis.c and reserve.c are built on it.
 */
#pragma once

#include "backends/redis/cluster.h"
#include "backends/redis/session.h"

#define REDIS_PREFIX_SIZE 65
#define REDIS_KEY_SIZE                                                         \
    (REDIS_PREFIX_SIZE + SEQB_COUNTER_SIZE + sizeof ":claim:{}")
#define REDIS_NUMBER_SIZE 24 /* an int64 in decimal */
#define REDIS_SCRIPT_ARGS 5  /* at most, the verb first */

/* Offsets exact in Lua's doubles. */
#define REDIS_WINDOW_MAX ((int64_t)1 << 40)

struct redis {
    struct seqb_backend base;
    struct redis_node node;        /* without a cluster */
    struct redis_cluster *cluster; /* NULL: none */
    int32_t timeout_ms;
    char where[256]; /* in messages that no server in particular is in */
    char prefix[REDIS_PREFIX_SIZE];
};

static inline struct redis *redis_of(struct seqb_backend *backend)
{
    return (struct redis *)backend;
}

/* One run of redis.lua; args from the first NULL on are not sent. */
struct script {
    char key[REDIS_KEY_SIZE];
    const char *args[REDIS_SCRIPT_ARGS];
    struct redis_node *node; /* out: whom it was sent to last */
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

/* What it says of itself; describe.c. */
enum seqb_status redis_describe(struct seqb_backend *backend,
                                struct seqb_details *out,
                                struct seqb_error *err);

/* The key of a counter, or with a kind of something else; false if it is too
 * long. */
bool script_key(const struct redis *redis, const char *kind, const char *name,
                char out[static REDIS_KEY_SIZE]);

void script_number(int64_t value, char out[static REDIS_NUMBER_SIZE]);

/* A call begins; SEQB_UNREACHABLE if a connection was lost earlier. */
enum seqb_status script_begin(struct redis *redis, struct seqb_error *err);

/* Finds the server that the script's key is asked of. SEQB_UNREACHABLE and what
 * else connecting may end with. */
enum seqb_status script_route(struct redis *redis, struct script *script,
                              struct seqb_error *err);

/* Adds a run to what link_flush sends to the script's server; false when out of
 * memory. */
bool script_append(const struct script *script);

/* An error reply that sends the run on to another server: nothing was done. */
bool script_is_redirected(const struct redis *redis, const redisReply *reply);

/* The status of a run's error reply. */
enum seqb_status script_refuse(const struct script *script,
                               const redisReply *reply, struct seqb_error *err);

/* Sends what was added, if it was, and reads its one answer, which may be an
 * error, the caller's to free; else `*out` is not touched, and it is
 * SEQB_UNCERTAIN or as link_lose has it. */
enum seqb_status script_answer(struct redis_node *node, bool is_added,
                               redisReply **out, struct seqb_error *err);

/* A run within the call under way, wherever it is redirected to. Its answer is
 * no error, and the caller's to free; else `*out` is not touched, and it is the
 * refusal, SEQB_UNCERTAIN, SEQB_PROTOCOL, or an error of script_route. */
enum seqb_status script_send(struct redis *redis, struct script *script,
                             redisReply **out, struct seqb_error *err);

/* A call of one run. */
enum seqb_status script_run(struct redis *redis, struct script *script,
                            redisReply **out, struct seqb_error *err);

/* The rest takes answers apart. Pure. */

/* The word as a status: SEQB_OK, SEQB_FENCED, SEQB_EXHAUSTED, SEQB_LAYOUT, or
 * SEQB_PROTOCOL if it is no word of the script. */
enum seqb_status reply_status(const redisReply *reply);

/* The text after the word; NULL if there is none. */
const redisReply *reply_text(const redisReply *reply);

/* The text as a window or a floor: 0 or more. `*out` may be touched on
 * failure. */
bool reply_window(const redisReply *reply, int64_t *out);

/* The block after the text, which must be what `request` may be granted. */
bool reply_block(const redisReply *reply, const struct seqb_request *request,
                 struct seqb_block *out);

/* The answer to TIME as ms since 1970. */
bool reply_time(const redisReply *reply, int64_t *out_ms);
