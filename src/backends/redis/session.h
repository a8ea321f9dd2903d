/* SPDX-License-Identifier: Apache-2.0 */
/* How a session with a Redis server begins. */
#pragma once

#include "backends/redis/link.h"

/* What the server says about itself. */
struct redis_session {
    char version[32];              /* "7.0.15" */
    char domain[SEQB_DOMAIN_SIZE]; /* "10.0.0.3:6379", or a socket's path */
    char origin[SEQB_ORIGIN_SIZE];
    char script[41]; /* redis.lua in the server's script cache: its SHA1 */
};

/* A server, and the session with it. */
struct redis_node {
    struct redis_link link;
    struct redis_session session;
    struct address address;
};

/* Connects to the server at the node's address, logs in, requires a master,
 * reads its origin and loads redis.lua, all within `budget_ms`. The link is
 * open if that is so, and closed otherwise. Errors as for session_open. */
enum seqb_status session_connect(struct redis_node *node,
                                 const struct seqb_backend_options *options,
                                 int32_t budget_ms, struct seqb_error *err);

/*
 * Asks the sentinels, if there are any, connects, logs in, requires a master,
 * reads its origin and loads redis.lua, all within `connect_timeout_ms`. The
 * caller must call link_close, whatever it returns. Errors as for open in
 * backend.h.
 */
enum seqb_status session_open(struct redis_node *node,
                              const struct seqb_backend_options *options,
                              struct seqb_error *err);

/* The value of the line "name:value" in an answer to INFO. False if there is
 * none, or if it was truncated to fit. */
bool session_field(const redisReply *info, const char *name, char *out,
                   size_t size);
