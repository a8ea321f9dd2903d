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

/* What a session holds back (less than a request) and one read behind it. */
#define CONNECTION_INPUT_SIZE (RESP_REQUEST_MAX + 64 * 1024)

struct daemon;

struct connection {
    struct session session; /* first: one is found by its session */
    struct connections *all;
    TAILQ_ENTRY(connection) deferred; /* in all->deferred if is_deferred */
    struct event readable, writable, timer;
    bool is_deferred;
    bool has_input_ended; /* the peer sends no more, or we stop */
    bool lingers;         /* the peer may send still, though we stop */
    int64_t received_us;  /* when the bytes came that are being executed */
    int64_t answered;     /* commands whose answers are yet to be sent */
};

TAILQ_HEAD(connection_list, connection);

/* What all connections share. */
struct connections {
    struct daemon *daemon;
    struct event_base *base;
    struct connection_list deferred; /* have more to execute, next turn */
    struct event *defer;
    struct buffer spare; /* see buffer.h */
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

/* Takes a socket over; closes it if memory is short. */
void connection_adopt(struct connections *all, int fd);

/* The session's wait is over, and it has left its line: its command is executed
 * again. The connection may be gone afterwards. */
void connection_resume(struct session *session);
