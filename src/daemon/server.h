/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon as a whole: a broker, two listening sockets, the sessions, and
 * the one loop that serves them. Only lane.c's callback and errand.c's call
 * run on other threads.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include <seqbroker/seqbroker.h>

#include "daemon/errand.h"
#include "daemon/lane.h"
#include "daemon/listener.h"
#include "daemon/resp.h"
#include "daemon/session.h"

/* What a session holds back (less than a request) and one read behind it. */
#define SERVER_INPUT_SIZE (RESP_REQUEST_MAX + 64 * 1024)

TAILQ_HEAD(session_list, session);

/* The strings stay the caller's. */
struct server_options {
    const char *topology;    /* NULL: the embedded default */
    const char *state_dir;   /* for SEQ.STATUS */
    const char *listen;      /* "ADDR:PORT"; NULL: none */
    const char *socket_path; /* NULL: none */
};

struct server {
    struct server_options options;
    struct seqb_broker *broker;
    struct event_base *base;
    struct lanes lanes;
    struct errand *errand; /* under way, or NULL */
    struct listener tcp, local;
    struct session_list sessions;
    struct session_list deferred; /* have more to execute, next turn */
    struct event *wake, *defer, *again, *grace, *drain, *term, *interrupt;
    int wake_fd;
    int drain_fd; /* of who asked for a drain; -1: nobody did */
    int64_t started_ms;
    int64_t session_count;
    int64_t connections_received;
    int64_t commands_processed;
    bool is_stopping;
    struct buffer spare; /* see buffer.h */
    char input[SERVER_INPUT_SIZE];
};

/*
 * Opens the broker, then listens. `*out` is for server_close. Any status of
 * seqb_open, and SEQB_INVALID for an address or a socket that cannot be used.
 */
enum seqb_status server_open(const struct server_options *options,
                             struct server **out, struct seqb_error *err);

/* Serves until SIGTERM, SIGINT or a drain, and then until what had arrived is
 * answered. A second signal ends the process at once, with 1. */
void server_run(struct server *server);

/* Has the server stop, as SIGTERM does, in the next turn of the loop. The
 * connection `fd` stays open until the broker is closed: its end tells the
 * client that the drain is over. */
void server_drain(struct server *server, int fd);

/* Closes all that is left. Takes NULL and half-built servers. */
void server_close(struct server *server);

/* The port in use; 0 if there is none. */
int server_tcp_port(const struct server *server);

/* ms on the monotonic clock. */
int64_t server_now_ms(void);

/* For sessions: enter and leave the server's lists. */
void server_add(struct server *server, struct session *session);
void server_remove(struct server *server, struct session *session);

/* Has session_work called in the next turn of the loop. */
void server_defer(struct server *server, struct session *session);
