/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon as its commands see it: the broker, the waitlists, the sessions,
 * the counters. The loop and the sockets are in server.h. Only the callback of
 * waitlist.c and the calls of blocking_call.c run on other threads.
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
LIST_HEAD(listing_list, listing);

/* The parts of a stop, one after another; ms: for clients (the default), for
 * stores and the spool (see queue/queue.c), and for alarms and who reads the
 * log. In sum they leave half a second of 6 s for a last call that waits for a
 * disk. */
#define STOP_TIMEOUT_MS 3500
#define STOP_CLOSE_MS   1800
#define STOP_FINISH_MS  200

/* How long the daemon continues to serve after it has announced its stop, and
 * how long it then waits for clients; ms. A reload may write them at any time;
 * the loop reads each when it needs it. */
struct stop_times {
    _Atomic int64_t delay_ms;
    _Atomic int64_t timeout_ms;
};

/* A stop under way; ms of daemon_now_ms, and until clients are cut off. */
struct stop {
    int64_t begun_ms;
    int64_t left_ms;
};

/* Begins a stop now. `asked_ms`: when a signal asked for it, and that time
 * counts, unless the daemon served for the delay since; 0: none did. */
struct stop stop_begin(const struct stop_times *times, int64_t asked_ms,
                       int64_t now_ms);

/* What a stop has left; ms, below 0 if it is over. */
struct stop_rest {
    int64_t close_ms;  /* until the process ends although a store is open */
    int64_t keep_ms;   /* of that, to keep the unused numbers in a store */
    int64_t finish_ms; /* until it ends whatever else it waits for */
};

/* Of a stop that began at `begun_ms`. */
struct stop_rest stop_rest(const struct stop_times *times, int64_t begun_ms,
                           int64_t now_ms);

/* Where the daemon listens for one kind of client. */
struct daemon_place {
    const char *path;     /* of the setting, "daemon.listen" */
    const char *in_use;   /* the addresses, separated by commas, or "none" */
    const char *fallback; /* if the topology has no such setting; NULL: none */
    /* What decides instead of the topology, "--listen"; NULL: the topology
     * does. */
    const char *decider;
};

#define DAEMON_PLACES 5

#define DAEMON_DRAINS_MAX 8 /* clients that wait for the end of a drain */

/* A look at the stores answers all who had asked for it when it began. */
struct blocking_reads {
    struct blocking_call *current; /* in progress, or NULL */
    struct blocking_call *next;    /* of those who asked since, or NULL */
};

struct daemon {
    struct seqb_broker *broker;
    struct waitlists waitlists;
    struct blocking_call *order_call;  /* in progress, or NULL */
    struct blocking_reads reads;       /* looks at the stores */
    struct blocking_reads admin_reads; /* of clients that may give orders */
    struct reloader *reloader;
    struct session_list sessions;
    struct listing_list walks; /* lists of connections, in progress */
    struct access access;
    size_t session_size;         /* bytes of one session, without buffers */
    const char *state_dir;       /* for SEQ.STATUS; the caller's */
    struct status_config config; /* for SEQ.SHOW, without the log's options; the
                                    strings are the server's */
    struct daemon_place places[DAEMON_PLACES]; /* as above */
    int tcp_port;                              /* in use; 0: none */
    int wake_fd; /* an eventfd that wakes the loop */
    /* The connections that wait for the end of a drain. */
    int drain_fds[DAEMON_DRAINS_MAX];
    size_t drain_count;
    int64_t started_ms;
    int64_t session_count;
    int64_t connections_received;
    int64_t commands_processed;
    int64_t request_count; /* HTTP requests that are not completely answered */
    int64_t handshake_count; /* TLS handshakes in progress */
    struct counts counts;
    struct limits limits;
    struct stop_times stop;
    /* Active soon, it serves the light connections that queue; NULL: none does.
     * See daemon_interleave. */
    struct event *delayed;
    bool is_drain_asked; /* the loop stops in its next turn */
    bool is_leaving;     /* it still serves, and announces its stop */
    bool is_stopping;    /* it accepts nothing new */
    bool is_accepting;   /* but for those that wait already, just now */
};

/* Initializes all but the broker and the waitlists. */
void daemon_init(struct daemon *daemon, const char *state_dir);

/* ms and us on the monotonic clock. */
int64_t daemon_now_ms(void);
int64_t daemon_now_us(void);

/* ms since 1970. They may go back: for display only, and for the day of a
 * quota. */
int64_t daemon_wall_ms(void);

/* Both clocks, for quotas. */
struct quota_time daemon_quota_time(void);

/* Counts and logs a connection that was refused, because its user has as many
 * as it may. */
void daemon_refuse_place(struct daemon *daemon, struct quota *quota);

/* Whether the daemon stops, and no session, request or handshake is left. */
bool daemon_is_done(const struct daemon *daemon);

/* Why the daemon is not ready, for health checks: it stops, or is about to
 * stop; else NULL. */
const char *daemon_leaves(const struct daemon *daemon);

#define DAEMON_WARNING_SIZE 400

/* Who has no numbers because of the clock, and why; "": nobody. The verdict on
 * the health may be good even so. */
void daemon_warn(const struct daemon *daemon, char out[DAEMON_WARNING_SIZE]);

/* The place whose setting has that path; NULL: it is another setting. */
const struct daemon_place *daemon_find_place(const struct daemon *daemon,
                                             const char *path);

/* The addresses in use at that place, as a topology has them: "" for none. */
const char *place_in_use(const struct daemon_place *place);

/* To be called by events of LOOP_OTHERS of which many may be active at once:
 * light connections that queue since others have waited for too long are served
 * after a few of these, not after all. */
void daemon_interleave(const struct daemon *daemon);

/* Wakes the loop to check the marks that other threads have set. Any thread. */
void daemon_wake(const struct daemon *daemon);

/* Stops the daemon as SIGTERM does, in the next turn of the loop, also if it
 * was about to restart. The connection `fd` stays open until the broker is
 * closed: its close tells the client that the drain is over. False if that is
 * not possible: too many clients wait for it already, or no descriptor is left;
 * then nothing was changed. */
bool daemon_drain(struct daemon *daemon, int fd);

/* The broker is closed: closes those connections. */
void daemon_end_drains(struct daemon *daemon);
