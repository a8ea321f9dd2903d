/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the server listens on for Redis clients. Each kind of socket, TCP,
 * TLS or unix, is inherited or opened by us: where one of a kind is inherited,
 * none of that kind is opened.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <event2/event.h>

#include <seqbroker/status.h>

#include "daemon/listeners/inherited.h"
#include "daemon/listeners/listener.h"

#define SERVER_LISTENERS_MAX 16
#define SERVER_PLACES_SIZE   ((size_t)SERVER_LISTENERS_MAX * ADDRESS_SIZE)

/* Where to listen. The strings stay the caller's. */
struct listeners_options {
    /* "ADDR:PORT" and paths; SERVER_LISTENERS_MAX of all at most */
    const char *listen[SERVER_LISTENERS_MAX];
    size_t listen_count;
    const char *tls_listen[SERVER_LISTENERS_MAX];
    size_t tls_listen_count;
    const char *sockets[SERVER_LISTENERS_MAX];
    size_t socket_count;
    struct listener_rights rights; /* of all sockets */
};

struct listeners {
    struct listener all[SERVER_LISTENERS_MAX];
    size_t count;
    /* In use, with commas between them; "none". */
    char addresses[SERVER_PLACES_SIZE];
    char tls_addresses[SERVER_PLACES_SIZE];
    char sockets[SERVER_PLACES_SIZE];
    bool has_socket[SERVER_LISTENERS_MAX]; /* of options.sockets */
};

/* Takes all but sockets in a state directory that the broker has still to
 * make: nobody can have those. SEQB_INVALID. */
enum seqb_status listeners_take(struct listeners *listeners,
                                const struct listeners_options *options,
                                const struct inherited *inherited,
                                struct seqb_error *err);

/* See listener_check_guard. */
enum seqb_status listeners_check_guard(const struct listeners *listeners,
                                       struct seqb_error *err);

/* The rest; from now on clients can connect. They wait until their sockets are
 * watched. SEQB_INVALID. */
enum seqb_status listeners_start(struct listeners *listeners,
                                 const struct listeners_options *options,
                                 struct seqb_error *err);

/* Whether the loop looks for clients; an event for each socket is the
 * server's to make. */
void listeners_watch(struct listeners *listeners, bool wanted);

/* Whether the loop looks for clients of TLS. */
void listeners_watch_tls(struct listeners *listeners, bool wanted);

/* Whether one of them is for TLS. */
bool listeners_have_tls(const struct listeners *listeners);

/* The one that has that socket, which one of them has. */
const struct listener *listeners_find(const struct listeners *listeners,
                                      int fd);

/* The port of the first TCP socket; 0 if there is none. */
int listeners_port(const struct listeners *listeners);

/* Gives all sockets away, as they listen. */
void listeners_release(struct listeners *listeners, struct inherited *out);

/* Takes closed ones. */
void listeners_close(struct listeners *listeners);
