/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: the one loop, its listening sockets, the signals that stop it,
 * and all that the loop serves.
 */
#pragma once

#include <event2/event.h>

#include <seqbroker/status.h>

#include "daemon/connection.h"
#include "daemon/daemon.h"
#include "daemon/http/http.h"
#include "daemon/listener.h"

#define SERVER_LISTENERS_MAX 16
#define SERVER_PLACES_SIZE   ((size_t)SERVER_LISTENERS_MAX * ADDRESS_SIZE)

/* The strings stay the caller's. */
struct server_options {
    const char *topology;  /* NULL: the embedded default */
    const char *state_dir; /* for SEQ.STATUS */
    /* "ADDR:PORT" and paths; SERVER_LISTENERS_MAX of both at most */
    const char *listen[SERVER_LISTENERS_MAX];
    size_t listen_count;
    const char *sockets[SERVER_LISTENERS_MAX];
    size_t socket_count;
    struct listener_rights rights; /* of all sockets */
    const char *http;              /* "ADDR:PORT"; NULL: none */
};

struct server {
    struct server_options options;
    struct event_base *base;
    struct listener listeners[SERVER_LISTENERS_MAX];
    size_t listener_count;
    /* In use, with commas between them; "none". */
    char addresses[SERVER_PLACES_SIZE];
    char sockets[SERVER_PLACES_SIZE];
    bool has_socket[SERVER_LISTENERS_MAX]; /* of options.sockets */
    struct event *wake, *again, *grace, *term, *interrupt;
    struct daemon daemon;
    struct connections connections;
    struct http *http; /* or NULL */
    char *topology;    /* its file's absolute path; NULL: none was named */
    int64_t read_ms;   /* when it was read, ms since 1970 */
};

/*
 * Takes the addresses, so that one that is in use is found before any store is
 * touched; opens the broker; then listens. `*out` is for server_close. Any
 * status of seqb_open, and SEQB_INVALID for an address or a socket that cannot
 * be used.
 */
enum seqb_status server_open(const struct server_options *options,
                             struct server **out, struct seqb_error *err);

/* Serves until SIGTERM, SIGINT or a drain, and then until what had arrived is
 * answered. A second signal ends the process at once, with 1. */
void server_run(struct server *server);

/* Closes all that is left. Takes NULL and half-built servers. */
void server_close(struct server *server);
