/* SPDX-License-Identifier: Apache-2.0 */
/* How a session with a memcached server begins. */
#pragma once

#include "backends/memcached/link.h"

/* What the server says about itself. */
struct memcached_session {
    char version[32];              /* "1.6.18" */
    char origin[SEQB_ORIGIN_SIZE]; /* its process and the time when it
                                      started */
    char loss[SEQB_LOSS_SIZE];     /* as in struct seqb_backend */
    int64_t connections;           /* its limit of connections */
    int64_t time_s;                /* its clock, s since 1970 ... */
    int64_t seen_ms;               /* ... at this time of ours (clock_now_ms) */
};

/*
 * Connects, logs in if the server asks for it, and reads what kind of server it
 * is, all within `connect_timeout_ms`, except for the look-up of a host name.
 * The caller must call memcached_link_close whatever it returns. Errors as for
 * open in backend.h.
 */
enum seqb_status memcached_session_open(
    struct memcached_link *link, struct memcached_session *session,
    const struct seqb_backend_options *options, struct seqb_error *err);

/*
 * Asks the server, within the current call, for its clock, s since 1970: the
 * machine's clock when the server was started, plus the time since then.
 * SEQB_UNCERTAIN, SEQB_PROTOCOL, SEQB_REFUSED.
 */
enum seqb_status memcached_session_clock(struct memcached_link *link,
                                         int64_t *out_s,
                                         struct seqb_error *err);

/* The server's clock as it must be now, without asking. */
int64_t memcached_session_now_s(const struct memcached_session *session);
