/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon as its commands see it: the broker, its waitlists, who is
 * connected, what was counted. The loop and the sockets are left to server.h.
 * Only waitlist.c's callback and blocking call.c's call run on other threads.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/seqbroker.h>

#include "daemon/access/access.h"
#include "daemon/counts.h"
#include "daemon/limits/limits.h"
#include "daemon/session.h"
#include "daemon/waitlist.h"
#include "status/status.h"

TAILQ_HEAD(session_list, session);

#define STOP_TIMEOUT_MS 5000 /* unless the topology says otherwise */

/* How long it serves on after it said that it will stop, and how long it then
 * waits for clients; ms. A reload writes them at any moment, the loop reads
 * each when it needs it. */
struct stop_times {
    _Atomic int64_t delay_ms;
    _Atomic int64_t timeout_ms;
};

struct daemon {
    struct seqb_broker *broker;
    struct waitlists waitlists;
    struct blocking_call *blocking_call; /* under way, or NULL */
    struct reloader *reloader;
    struct session_list sessions;
    struct access access;
    size_t session_size;   /* bytes of memory of one, without its buffers */
    const char *state_dir; /* for SEQ.STATUS; the caller's */
    struct status_config config; /* for SEQ.SHOW, without the log's options; the
                                    strings are the server's */
    int tcp_port;                /* in use; 0: none */
    int wake_fd;                 /* an eventfd that wakes the loop */
    int drain_fd;                /* of who asked for a drain; -1: none */
    int64_t started_ms;
    int64_t session_count;
    int64_t connections_received;
    int64_t commands_processed;
    int64_t request_count;   /* of HTTP, not yet answered whole */
    int64_t handshake_count; /* of TLS, under way */
    struct counts counts;
    struct limits limits;
    struct stop_times stop;
    bool is_drain_asked; /* the loop stops in its next turn */
    bool is_leaving;     /* it serves on, and says that it will not for long */
    bool is_stopping;    /* it takes nothing new */
};

/* Without a broker and waitlists yet. */
void daemon_init(struct daemon *daemon, const char *state_dir);

/* ms, and us, on the monotonic clock. */
int64_t daemon_now_ms(void);
int64_t daemon_now_us(void);

/* ms since 1970, which may go back: to be shown only. */
int64_t daemon_wall_ms(void);

/* Both, for limits. */
struct quota_time daemon_quota_time(void);

/* Whether it stops, and nobody waits for an answer. */
bool daemon_is_done(const struct daemon *daemon);

/* What health says beside the broker's own: NULL, or why it is not serving. */
const char *daemon_leaves(const struct daemon *daemon);

/* Has the loop look at what was marked for it. Any thread. */
void daemon_wake(const struct daemon *daemon);

/* Has the daemon stop, as SIGTERM does, in the next turn of the loop. The
 * connection `fd` stays open until the broker is closed: its end tells the
 * client that the drain is over. */
void daemon_drain(struct daemon *daemon, int fd);
