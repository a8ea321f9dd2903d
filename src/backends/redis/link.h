/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redis engine's connection: calls that end at their deadline, and the
 * meaning of error replies. session.h begins a session; redis.c sends commands
 * and interprets their answers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

#include "net/net.h"
#include "resp/resp.h"

struct redis_link {
    struct resp resp; /* closed when answers may be outstanding: a later call
                         would take them for its own */
    char where[256];  /* "redis-a (redis 10.0.0.3:6379)" */
};

#define LINK_ELEMENTS_MAX 65536 /* in an answer: far above any real one */
#define LINK_BYTES_MAX    ((size_t)4 << 20)
#define LINK_ARGS_MAX     9 /* words in the longest command */

/* Connects with the options' TLS settings, and begins a call that must end
 * within `budget_ms`, connecting included; `where` must be set.
 * SEQB_UNREACHABLE, SEQB_INVALID, SEQB_NO_MEMORY; the caller must call
 * link_close in any case. */
enum seqb_status link_connect(struct redis_link *link,
                              const struct seqb_backend_options *options,
                              const struct address *address, int32_t budget_ms,
                              struct seqb_error *err);

bool link_is_open(const struct redis_link *link);

/* Begins a call that must end within `budget_ms`. SEQB_UNREACHABLE if the
 * connection was lost earlier. */
enum seqb_status link_begin(struct redis_link *link, int32_t budget_ms,
                            struct seqb_error *err);

/* Adds a command of `argc` words to the buffer that link_flush sends; false
 * when out of memory. */
bool link_append(struct redis_link *link, const char *const *argv, int argc);

/* Sends the buffer; false on failure or at the deadline. */
bool link_flush(struct redis_link *link);

/* The next reply, to be freed by the caller; NULL on failure or at the
 * deadline. */
redisReply *link_read(struct redis_link *link);

/* Closes the connection after a failure of link_append, link_flush or
 * link_read, and sets the reason: SEQB_PROTOCOL, SEQB_NO_MEMORY, or `status` if
 * there was simply no answer. */
enum seqb_status link_lose(struct redis_link *link, enum seqb_status status,
                           struct seqb_error *err);

/* Closes the connection after an invalid answer: SEQB_PROTOCOL. */
enum seqb_status link_distrust(struct redis_link *link, const char *asked,
                               struct seqb_error *err);

/* The status of an error reply. */
enum seqb_status link_refuse(const struct redis_link *link,
                             const redisReply *reply, struct seqb_error *err);

/* May be called twice; later calls answer SEQB_UNREACHABLE. */
void link_close(struct redis_link *link);

/* Whether the reply is an error whose first word is `code`. */
bool reply_is_error(const redisReply *reply, const char *code);
