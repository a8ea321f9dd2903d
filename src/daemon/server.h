/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: the event loop, its listening sockets, the signals that stop it,
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
    struct seqb_topology *read; /* server_open takes ownership */
    int64_t read_ms;            /* when it was read, ms since 1970 */
    struct listeners_options places;
    struct daemon_place place_settings[INHERITED_KINDS]; /* all but `in_use` */
    const char *const *http;                             /* "ADDR:PORT" */
    size_t http_count;        /* with https_count at most HTTP_PORTS_MAX */
    const char *const *https; /* as `http`, with TLS */
    size_t https_count;
    struct tls_settings tls;
    /* How long the server continues to serve after it has announced its stop,
     * and how long it then waits for clients; ms. */
    int64_t stop_delay_ms, stop_timeout_ms; /* initial values */
    struct limits_options limits;
    struct users *users; /* NULL: none */
    bool is_open_to_all, has_open_metrics;
    const char *audit_file; /* NULL: none */
    char **argv;            /* for a restart; NULL: restarts are disabled */
    struct reloader *reloader;
};

struct restart_checker;

struct server {
    struct server_options options;
    struct event_base *base;
    struct inherited inherited;
    struct listeners listeners;
    struct event *wake, *again, *delay, *grace;
    struct event *restart, *child;
    struct restart_checker *checker; /* of a requested restart, or NULL */
    bool is_signalled;               /* a signal asked for the stop */
    bool is_restarting; /* it stops, but its sockets keep listening */
    struct daemon daemon;
    struct connections connections;
    struct tls_server *tls;        /* NULL: no TLS */
    struct handshakes *handshakes; /* the same */
    struct http *http;             /* or NULL */
    struct users *users; /* of a reload; NULL: the options' users are in use */
    char *topology;      /* the file's absolute path; NULL: none was given */
    int64_t stopped_ms;  /* when it began to stop */
    int64_t keep_ms;     /* for how long server_close may wait for a store to
                            keep the unused numbers; 0: as seqb_close does */
};

/*
 * Binds the addresses first, so that one in use is found before any store is
 * accessed; then opens the broker; then listens. `*out` is for server_close.
 * Any status of seqb_open, and SEQB_INVALID for an address or a socket that
 * cannot be used.
 */
enum seqb_status server_open(const struct server_options *options,
                             struct server **out, struct seqb_error *err);

/* Whether server_open could use the addresses of the options: takes them and
 * closes them again, without touching any store. SEQB_INVALID, SEQB_NO_MEMORY.
 * To be called with the lent sockets of a daemon that runs, which stay as they
 * are. */
enum seqb_status server_try(const struct server_options *options,
                            struct seqb_error *err);

/* Serves until SIGTERM, SIGINT, a drain or a restart, and then until the input
 * that had arrived is answered. A second signal exits the process at once, with
 * 1; but during the stop delay it only ends the delay. */
void server_run(struct server *server);

/* Whether the server ended for a restart. If so, `out` gets the sockets, which
 * stay listening. To be called before server_close. */
bool server_release(struct server *server, struct inherited *out);

/* Closes all that is left. NULL and half-built servers are allowed. */
void server_close(struct server *server);
