/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine's inside: its struct, runs of redis.lua on one key, and what
 * these answer: {word, text, ...}, or an error whose first word is a code.
 * redis.c and reserve.c are built on it.
 */
#pragma once

#include "backends/redis/link.h"
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
    struct redis_link link;
    struct redis_session session;
    int32_t timeout_ms;
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
};

/* The engine's reserve; reserve.c. */
enum seqb_status redis_reserve(struct seqb_backend *backend,
                               struct seqb_request *requests, size_t n,
                               struct seqb_error *err);

/* The key of a counter, or with a kind of something else; false if it is too
 * long. */
bool script_key(const struct redis *redis, const char *kind, const char *name,
                char out[static REDIS_KEY_SIZE]);

void script_number(int64_t value, char out[static REDIS_NUMBER_SIZE]);

/* Adds a run to what link_flush sends; false when out of memory. */
bool script_append(struct redis *redis, const struct script *script);

/* The status of a run's error reply. */
enum seqb_status script_refuse(const struct redis *redis, const char *key,
                               const redisReply *reply, struct seqb_error *err);

/* Sends what was added, if it was, and reads its one answer, which is no error
 * and the caller's to free. Else `*out` is not touched, and `key` is what was
 * asked: SEQB_UNCERTAIN, SEQB_PROTOCOL, or the refusal. */
enum seqb_status script_answer(struct redis *redis, bool is_added,
                               const char *key, redisReply **out,
                               struct seqb_error *err);

/* One run in one round trip; as script_answer, and SEQB_UNREACHABLE. */
enum seqb_status script_run(struct redis *redis, const struct script *script,
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
