/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine's connection: calls that end at their deadline, and what
 * error replies mean. A session's begin is session.h's; what is asked,
 * and what an answer says, is redis.c's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "net/net.h"
#include "resp/resp.h"

struct redis_link {
    struct resp resp; /* closed once answers may be outstanding: a later call
                         would take them for its own */
    char where[256];  /* "redis-a (redis 10.0.0.3:6379)" */
};

#define LINK_ELEMENTS_MAX 65536 /* of an answer: many times what any has */
#define LINK_ARGS_MAX     9     /* words of the longest command */

/* Connects as the options' TLS says, and begins a call that must end within
 * `budget_ms`, connecting included; `where` is set before. SEQB_UNREACHABLE,
 * SEQB_INVALID, SEQB_NO_MEMORY; link_close is due in any case. */
enum seqb_status link_connect(struct redis_link *link,
                              const struct seqb_backend_options *options,
                              const struct address *address, int32_t budget_ms,
                              struct seqb_error *err);

bool link_is_open(const struct redis_link *link);

/* SEQB_UNREACHABLE if the connection was lost earlier; else a call begins
 * that must end within `budget_ms`. */
enum seqb_status link_begin(struct redis_link *link, int32_t budget_ms,
                            struct seqb_error *err);

/* Adds a command of `argc` words to what link_flush sends; false when out of
 * memory. */
bool link_append(struct redis_link *link, const char *const *argv, int argc);

/* Sends; false on failure or at the deadline. */
bool link_flush(struct redis_link *link);

/* The next reply, the caller's to free; NULL on failure or at the deadline. */
redisReply *link_read(struct redis_link *link);

/* Closes the connection after a failure of the three above, and says why:
 * SEQB_PROTOCOL, SEQB_NO_MEMORY, or `status` if there was just no answer. */
enum seqb_status link_lose(struct redis_link *link, enum seqb_status status,
                           struct seqb_error *err);

/* Closes the connection after an answer that makes no sense: SEQB_PROTOCOL. */
enum seqb_status link_distrust(struct redis_link *link, const char *asked,
                               struct seqb_error *err);

/* The status of an error reply. */
enum seqb_status link_refuse(const struct redis_link *link,
                             const redisReply *reply, struct seqb_error *err);

/* Once is enough; later calls answer SEQB_UNREACHABLE. */
void link_close(struct redis_link *link);

/* It is an error, and its first word is `code`. */
bool reply_is_error(const redisReply *reply, const char *code);
