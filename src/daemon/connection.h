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

#include "daemon/limits/limits.h"
#include "daemon/loop/loop.h"
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
    TAILQ_ENTRY(connection) deferred; /* in a queue if is_deferred */
    struct event readable, writable, timer;
    bool is_deferred;
    bool is_delayed;      /* in all->delayed, not all->deferred */
    bool has_input_ended; /* the peer sends no more, or the daemon stops */
    bool lingers;         /* the peer may still send, though the daemon stops */
    bool is_finishing;    /* its input ends when `owed` is 0 */
    size_t owed;          /* bytes that had arrived when the stop began, and are
                             not read yet */
    int64_t received_us;  /* when the bytes arrived that are being executed */
    int64_t begun_us;     /* when this turn of it began */
    bool has_run;         /* this turn has read or executed */
    struct load load;     /* what it cost the loop lately */
    int64_t partial_ms; /* when an incomplete request began; 0: there is none */
    int64_t record_ms; /* the same of a record of TLS, while the daemon reads */
    int64_t unsent_ms; /* since when the peer takes too little of what is
                          unsent; 0: none is unsent */
    size_t taken;      /* bytes that it took since then */
    int64_t answered;  /* commands whose answers are not sent yet */
};

TAILQ_HEAD(connection_list, connection);

/* What all connections share. */
struct connections {
    struct daemon *daemon;
    struct event_base *base;
    struct connection_list deferred; /* the queue of fairness.h: heavy ones, and
                                        those with more to execute */
    struct connection_list delayed;  /* light ones, once all else has waited for
                                        too long */
    size_t delayed_count;
    int64_t marked_us; /* when it was last noted that others may wait */
    struct fairness fairness;
    struct event *defer, *sweep;
    struct event *mark;       /* of LOOP_OTHERS: active while others may wait */
    struct event *interleave; /* of LOOP_CLIENTS: serves the delayed ones */
    int64_t new_ms;           /* of connections_finish */
    struct session *swept;    /* checked next; NULL: the first one */
    struct buffer spare;      /* see wire.h */
    char input[CONNECTION_INPUT_SIZE];
};

/* Answers clients whose login is decided. */
void connections_answer_logins(struct connections *all);

/* Answers clients whose blocking calls are done. */
void connections_answer_calls(struct connections *all);

/* Resumes clients, of both protocols, whose numbers have come. */
void connections_serve_waiters(struct connections *all);

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

/* The table of users was replaced: identifies all clients again, and closes the
 * connections whose user is gone, those with a blocking call once that is
 * answered. Commands must not call it. */
void connections_resolve(struct connections *all);

/* Takes over a client's transport; closes it if memory is short or its user has
 * too many connections. `is_local`: it is of a unix socket. While the daemon
 * stops, connections_finish is applied to it. */
void connection_adopt(struct connections *all, struct transport *transport,
                      bool is_local);

/* Closes the socket of a client that is over the limit. Unless it expects TLS,
 * it gets an error in the plain protocol first. */
void connections_refuse(struct connections *all, int fd, bool is_tls,
                        enum connection_limit limit);

/* Counts a client that was refused by that limit, and logs from time to time
 * how many were refused. */
void connections_log_refused(struct daemon *daemon,
                             enum connection_limit limit);

/* --- for connections.c only --- */

/* Makes a connection, which is read from now on. NULL if memory is short, or if
 * its user has too many connections: `*is_full`; this is counted already. The
 * caller must add it to the daemon's sessions. */
struct connection *connection_new(struct connections *all,
                                  const struct transport *transport,
                                  bool is_local, bool *is_full);

/* Closes the connection if `is_over` (a time-out) or if its peer has left.
 * Otherwise reads again if input was held back and now may be read. The
 * connection may be gone afterwards. */
void connection_sweep(struct connection *connection, bool is_over);

/* Executes the input that has arrived and reads no more; see
 * connections_finish. The connection may be gone afterwards. */
void connection_finish(struct connection *connection, int64_t new_ms);

/* Gives a connection from the queue its turn, at `now_us`. The connection may
 * be gone afterwards. */
void connection_continue(struct connection *connection, int64_t now_us);

/* Puts it into the queue of heavy ones, to continue in a later turn of the
 * loop; or, if its input was not admitted, into that one or the one of light
 * ones. */
void connection_defer(struct connection *connection);
void connection_queue(struct connection *connection);

/* Takes it out of the queue that it is in, if any. */
void connection_dequeue(struct connection *connection);

/* Whether its input, which arrived at received_us, is read now. Otherwise it
 * has to queue. */
bool connection_is_admitted(struct connection *connection);

/* A large request is not read further until clients hold less memory, because
 * all of it would have to be held. */
bool connection_is_held_back(const struct connection *connection);

/* Whether its socket is to be read: it has no request in progress, takes its
 * answers and is not held back. */
bool connection_is_read(const struct connection *connection);

/* Whether its peer is gone: while input is held back, the socket is not read
 * and the close is not noticed. */
bool connection_has_left(const struct connection *connection);

/* Whether its client has just connected, and may be about to send its first
 * command. */
bool connection_is_new(const struct connection *connection, int64_t new_ms);

/* Whether its client has been silent for so many ms, so that closing it most
 * likely loses no answer. */
bool connection_is_idle(const struct connection *connection, int64_t ms);

/* Bytes to read at once behind the input that is held back. */
size_t connection_read_size(const struct connection *connection);

/* Bytes that have arrived and were not read; by TLS an upper bound. */
size_t connection_arrived(const struct connection *connection);

/* Notes that a read has returned `got`. If that is not more than 0, no more had
 * arrived. */
void connection_note_read(struct connection *connection, ssize_t got);

/* Notes since when a request, or a record of TLS, is incomplete. The time is
 * that of its first bytes, so that one that comes byte by byte times out as
 * well. */
void connection_note_input(struct connection *connection);

/* Whether a record is incomplete for too long while memory is used up, although
 * the daemon reads. */
bool connection_is_stuck(const struct connection *connection, int64_t now_ms);

/* Notes that output remains unsent after the peer took `taken` bytes. The clock
 * starts again only once it has taken a least number of bytes, so that one that
 * reads a byte now and then times out as well. */
void connection_note_unsent(struct connection *connection, size_t taken,
                            int64_t now_ms);

/* As resp_parse. A request before the login may not be large. */
enum resp_result connection_parse(const struct connection *connection,
                                  const char *data, size_t length,
                                  struct resp_request *out);

/* Closes the connection, removes it from all lists and frees it. */
void connection_free(struct connection *connection);
