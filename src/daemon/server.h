/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: the one loop, its listening sockets, the signals that stop it,
 * and all that the loop serves.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include <event2/event.h>

#include <seqbroker/status.h>

#include "daemon/connection.h"
#include "daemon/daemon.h"
#include "daemon/handshakes/handshakes.h"
#include "daemon/http/http.h"
#include "daemon/listeners/listeners.h"

/* The strings stay the caller's. */
struct server_options {
    const char *topology;       /* NULL: the embedded default */
    struct seqb_topology *read; /* what it says; server_open takes it over */
    int64_t read_ms;            /* when it was read, ms since 1970 */
    const char *state_dir;      /* for SEQ.STATUS */
    struct listeners_options places;
    const char *http;  /* "ADDR:PORT"; NULL: none */
    const char *https; /* the same */
    struct tls_settings tls;
    /* How long it serves on after it said that it will stop, and how long it
     * then waits for clients; ms. */
    int64_t stop_delay_ms, stop_timeout_ms; /* at the start */
    struct limits_options limits;
    struct users *users; /* NULL: none */
    bool is_open_to_all, has_open_metrics;
    const char *audit_file; /* NULL: none */
    char **argv;            /* of a restart; NULL: there is none */
    struct reloader *reloader;
};

struct server {
    struct server_options options;
    struct event_base *base;
    struct inherited inherited;
    struct listeners listeners;
    struct event *wake, *again, *delay, *grace, *term, *interrupt;
    struct event *restart, *child;
    pid_t checker;      /* of a restart that is asked for; 0: none is */
    bool is_restarting; /* it stops, and its sockets go on listening */
    struct daemon daemon;
    struct connections connections;
    struct tls_server *tls;        /* NULL: nobody comes by TLS */
    struct handshakes *handshakes; /* the same */
    struct http *http;             /* or NULL */
    struct users *users; /* of a reload; NULL: those of the options hold */
    char *topology;      /* its file's absolute path; NULL: none was named */
    int64_t stopped_ms;  /* when it began to stop */
};

/*
 * Takes the addresses, so that one that is in use is found before any store is
 * touched; opens the broker; then listens. `*out` is for server_close. Any
 * status of seqb_open, and SEQB_INVALID for an address or a socket that cannot
 * be used.
 */
enum seqb_status server_open(const struct server_options *options,
                             struct server **out, struct seqb_error *err);

/* Serves until SIGTERM, SIGINT, a drain or a restart, and then until what had
 * arrived is answered. A second signal ends the process at once, with 1; but
 * one in the delay ends that. */
void server_run(struct server *server);

/* Whether it ended for a restart: then `out` has the sockets, which listen. To
 * be called before server_close. */
bool server_release(struct server *server, struct inherited *out);

/* Closes all that is left. Takes NULL and half-built servers. */
void server_close(struct server *server);
