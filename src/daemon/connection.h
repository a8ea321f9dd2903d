/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection: a session's socket, what the loop watches it for, and its life:
 * read, execute, send, wait, close. Commands do not know of it.
 */
#pragma once

#include <stdbool.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "daemon/session.h"
#include "daemon/transport/transport.h"

/* What a session holds back (less than a request) and one read behind it. */
#define CONNECTION_INPUT_SIZE (RESP_REQUEST_MAX + 64 * 1024)

struct daemon;

struct connection {
    struct session session; /* first: one is found by its session */
    struct connections *all;
    struct transport transport;
    TAILQ_ENTRY(connection) deferred; /* in all->deferred if is_deferred */
    struct event readable, writable, timer;
    bool is_deferred;
    bool has_input_ended; /* the peer sends no more, or we stop */
    bool lingers;         /* the peer may send still, though we stop */
    int64_t received_us;  /* when the bytes came that are being executed */
    int64_t partial_ms;   /* when an incomplete request began; 0: none is */
    int64_t unsent_ms;    /* when its peer took something of what is unsent
                             last; 0: nothing is */
    int64_t answered;     /* commands whose answers are yet to be sent */
};

TAILQ_HEAD(connection_list, connection);

/* What all connections share. */
struct connections {
    struct daemon *daemon;
    struct event_base *base;
    struct connection_list deferred; /* have more to execute, next turn */
    struct event *defer, *sweep;
    struct session *swept; /* is looked at next; NULL: the first is */
    struct buffer spare;   /* see buffer.h */
    char input[CONNECTION_INPUT_SIZE];
};

/* Has the timer fire after that time. */
void timer_start(struct event *timer, int64_t ms);

/* False if memory is short. `daemon` and `base` stay the caller's. */
bool connections_init(struct connections *all, struct daemon *daemon,
                      struct event_base *base);

/* Closes those that are left. Takes zeroed ones. */
void connections_fini(struct connections *all);

/* Executes what has arrived, reads no more, and closes each one when all is
 * answered. A client that connected less than `new_ms` ago and has sent no
 * command yet has as long for its first one. The last connection then breaks
 * the loop, at once if there is none. */
void connections_finish(struct connections *all, int64_t new_ms);

/* The same for the connection that was adopted last, while we stop. */
void connections_finish_last(struct connections *all, int64_t new_ms);

/* Another table of users holds: finds out again who each one is, and closes
 * those whose user is gone. Not to be called by a command. */
void connections_resolve(struct connections *all);

/* Takes what a client's transport has over; closes it if memory is short.
 * `is_local`: it is a unix socket's. */
void connection_adopt(struct connections *all, struct transport *transport,
                      bool is_local);

/* Closes the socket of a client of whom there are too many; says so in the
 * plain protocol, unless it waits for TLS. */
void connections_refuse(struct connections *all, int fd, bool is_tls,
                        const char *limit);

/* Counts a client that was refused by that limit, and logs how many were, now
 * and then. */
void connections_tell_refused(struct daemon *daemon, const char *limit);

/* The session's wait is over, and it has left its line: its command is executed
 * again. The connection may be gone afterwards. */
void connection_resume(struct session *session);

/* --- what connections.c asks of one --- */

/* One that is read from now on; NULL if memory is short, or it was refused. It
 * must be added to the daemon's sessions. */
struct connection *connection_new(struct connections *all,
                                  const struct transport *transport,
                                  bool is_local);

/* Closes it if it is over a time-out or its peer has left, and reads again what
 * was held back if it may. It may be gone afterwards. */
void connection_sweep(struct connection *connection, bool is_over);

/* Executes what has come and takes no more; see connections_finish. It may be
 * gone afterwards. */
void connection_finish(struct connection *connection, int64_t new_ms);

/* Executes what it has, in its turn. It may be gone afterwards. */
void connection_work(struct connection *connection);

/* Closes it, leaves every list and frees it. */
void connection_free(struct connection *connection);
