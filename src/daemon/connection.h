/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection: the socket of a session, its events in the loop, and its life:
 * read, execute, send, wait, close. Commands do not know connections.
 */
#pragma once

#include <stdbool.h>
#include <sys/queue.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "daemon/session.h"
#include "daemon/transport/transport.h"

/* Room for a session's unexecuted input (less than a request) and one read
 * after it. */
#define CONNECTION_INPUT_SIZE (RESP_REQUEST_MAX + 64 * 1024)

struct daemon;

struct connection {
    struct session session; /* first: a connection is found by its session */
    struct connections *all;
    struct transport transport;
    TAILQ_ENTRY(connection) deferred; /* in all->deferred if is_deferred */
    struct event readable, writable, timer;
    bool is_deferred;
    bool has_input_ended; /* the peer sends no more, or the daemon stops */
    bool lingers;         /* the peer may still send, though the daemon stops */
    int64_t received_us;  /* when the bytes arrived that are being executed */
    int64_t partial_ms; /* when an incomplete request began; 0: there is none */
    int64_t unsent_ms;  /* when the peer last took unsent output; 0: none is
                           unsent */
    int64_t answered;   /* commands whose answers are not sent yet */
};

TAILQ_HEAD(connection_list, connection);

/* What all connections share. */
struct connections {
    struct daemon *daemon;
    struct event_base *base;
    struct connection_list deferred; /* have more to execute in a later turn */
    struct event *defer, *sweep;
    struct session *swept; /* checked next; NULL: the first one */
    struct buffer spare;   /* see wire.h */
    char input[CONNECTION_INPUT_SIZE];
};

/* Makes the timer fire after `ms`. */
void timer_start(struct event *timer, int64_t ms);

/* False if memory is short. `daemon` and `base` stay the caller's.
 * connections_fini is needed in any case. */
bool connections_init(struct connections *all, struct daemon *daemon,
                      struct event_base *base);

/* Closes all that are left. A zeroed struct is allowed. */
void connections_fini(struct connections *all);

/* Executes the input that has arrived, reads no more, and closes each
 * connection when all is answered. A client that connected less than `new_ms`
 * ago and has sent no command yet gets `new_ms` for its first one. The last
 * connection to close breaks the loop; without connections this happens at
 * once. */
void connections_finish(struct connections *all, int64_t new_ms);

/* The same for the connection that was adopted last, while the daemon stops. */
void connections_finish_last(struct connections *all, int64_t new_ms);

/* The table of users was replaced: identifies all clients again, and closes the
 * connections whose user is gone. Commands must not call it. */
void connections_resolve(struct connections *all);

/* Takes over a client's transport; closes it if memory is short or its user has
 * too many connections. `is_local`: it is of a unix socket. */
void connection_adopt(struct connections *all, struct transport *transport,
                      bool is_local);

/* Closes the socket of a client that is over the limit. Unless it expects TLS,
 * it gets an error in the plain protocol first. */
void connections_refuse(struct connections *all, int fd, bool is_tls,
                        const char *limit);

/* Counts a client that was refused by that limit, and logs from time to time
 * how many were refused. */
void connections_tell_refused(struct daemon *daemon, const char *limit);

/* Executes the session's command again. Its wait is over, and it has left its
 * waitlist. The connection may be gone afterwards. */
void connection_resume(struct session *session);

/* --- for connections.c only --- */

/* Makes a connection, which is read from now on. NULL if memory is short, or if
 * its user has too many connections. The caller must add it to the daemon's
 * sessions. */
struct connection *connection_new(struct connections *all,
                                  const struct transport *transport,
                                  bool is_local);

/* Closes the connection if `is_over` (a time-out) or if its peer has left.
 * Otherwise reads again if input was held back and now may be read. The
 * connection may be gone afterwards. */
void connection_sweep(struct connection *connection, bool is_over);

/* Executes the input that has arrived and reads no more; see
 * connections_finish. The connection may be gone afterwards. */
void connection_finish(struct connection *connection, int64_t new_ms);

/* Executes one turn of the connection's input. The connection may be gone
 * afterwards. */
void connection_work(struct connection *connection);

/* Closes the connection, removes it from all lists and frees it. */
void connection_free(struct connection *connection);
