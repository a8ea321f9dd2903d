/* SPDX-License-Identifier: Apache-2.0 */
/* How a session with a memcached server begins. */
#pragma once

#include "backends/memcached/link.h"

/* What the server said of itself. */
struct memcached_session {
    char version[32];              /* "1.6.18" */
    char origin[SEQB_ORIGIN_SIZE]; /* its process and when that began */
    char loss[SEQB_LOSS_SIZE];     /* as struct seqb_backend has it */
    int64_t connections;           /* it holds at most so many at once */
    int64_t time_s;                /* its clock, s since 1970 ... */
    int64_t seen_ms;               /* ... when ours was that (clock_now_ms) */
};

/*
 * Connects, logs in where the server asks for it, and reads what kind of
 * server it is, all within `connect_timeout_ms`, but for the look-up of a host
 * name. Whatever it returns, memcached_link_close is due. Statuses as
 * backend.h has them for open.
 */
enum seqb_status memcached_session_open(
    struct memcached_link *link, struct memcached_session *session,
    const struct seqb_backend_options *options, struct seqb_error *err);

/*
 * Asks the server, in a call that is under way, for its clock, s since 1970:
 * the machine's when the server was started, and what has passed since.
 * SEQB_UNCERTAIN, SEQB_PROTOCOL, SEQB_REFUSED.
 */
enum seqb_status memcached_session_clock(struct memcached_link *link,
                                         int64_t *out_s,
                                         struct seqb_error *err);

/* The same as it must be by now, without asking. */
int64_t memcached_session_now_s(const struct memcached_session *session);
