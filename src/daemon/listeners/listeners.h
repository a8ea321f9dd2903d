/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All sockets on which the server listens for Redis clients. If another program
 * passes sockets of a kind, TCP, TLS or unix, they replace the settings of that
 * kind. If this program passes them, at a restart, the settings decide: sockets
 * at their addresses stay, the others are closed, and what is missing is
 * opened.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <event2/event.h>

#include <seqbroker/status.h>

#include "daemon/listeners/inherited.h"
#include "daemon/listeners/listener.h"
#include "daemon/listeners/places.h"

#define SERVER_LISTENERS_MAX PLACES_MAX
#define SERVER_PLACES_SIZE   ((size_t)SERVER_LISTENERS_MAX * ADDRESS_SIZE)

/* Where to listen. The strings stay the caller's. */
struct listeners_options {
    /* "ADDR:PORT" and paths; at most SERVER_LISTENERS_MAX in all */
    const char *listen[SERVER_LISTENERS_MAX];
    size_t listen_count;
    const char *tls_listen[SERVER_LISTENERS_MAX];
    size_t tls_listen_count;
    const char *sockets[SERVER_LISTENERS_MAX];
    size_t socket_count;
    struct listener_rights rights; /* of all unix sockets */
    const char *state_dir;         /* also what SEQ.STATUS says */
};

struct listeners {
    struct listener all[SERVER_LISTENERS_MAX];
    size_t count;
    /* The addresses in use, separated by commas, or "none". */
    char addresses[SERVER_PLACES_SIZE];
    char tls_addresses[SERVER_PLACES_SIZE];
    char sockets[SERVER_PLACES_SIZE];
    bool has_socket[SERVER_LISTENERS_MAX]; /* whether that path of
                                              options.sockets was inherited */
    /* Inherited, but at no address of the settings any more. */
    struct listener left[INHERITED_MAX];
    size_t left_count;
};

/* Opens the TCP sockets, and takes the inherited unix sockets. SEQB_INVALID. */
enum seqb_status listeners_take(struct listeners *listeners,
                                const struct listeners_options *options,
                                struct inherited *inherited,
                                struct seqb_error *err);

/* Whether the unix sockets that were not inherited can have their paths and
 * rights, as far as that is known without opening them. SEQB_INVALID. */
enum seqb_status listeners_check_local(const struct listeners *listeners,
                                       const struct listeners_options *options,
                                       struct seqb_error *err);

/* Whether other files are in the way of the unix sockets, and whether their
 * folders are there. The state directory need not be: a start makes it. A
 * folder that this user may not search is not checked. SEQB_INVALID. */
enum seqb_status listeners_check_files(const struct listeners_options *options,
                                       struct seqb_error *err);

/* Makes the state directory, which is the usual place of a unix socket, and
 * opens the unix sockets that were not inherited. SEQB_INVALID;
 * SEQB_STATE_DIR. */
enum seqb_status listeners_take_local(struct listeners *listeners,
                                      const struct listeners_options *options,
                                      struct seqb_error *err);

/* Adopts the inherited sockets that nobody has taken, until
 * listeners_close_left. Closes those of HTTP. */
void listeners_leave(struct listeners *listeners, struct inherited *inherited);
void listeners_close_left(struct listeners *listeners);

/* See listener_check_guard. */
enum seqb_status listeners_check_guard(const struct listeners *listeners,
                                       struct seqb_error *err);

/* Starts to listen on all. Clients can connect, and wait until the loop watches
 * the sockets. SEQB_INVALID. */
enum seqb_status listeners_start(struct listeners *listeners,
                                 struct seqb_error *err);

/* Sets whether the loop accepts clients. The server makes the events of the
 * sockets. */
void listeners_watch(struct listeners *listeners, bool wanted);

/* Sets whether the loop accepts clients of TLS. */
void listeners_watch_tls(struct listeners *listeners, bool wanted);

/* Whether one of the sockets is for TLS. */
bool listeners_have_tls(const struct listeners *listeners);

/* The listener of the socket `fd`, which must be one of them. */
const struct listener *listeners_find(const struct listeners *listeners,
                                      int fd);

/* The port of the first TCP socket, plain or TLS; 0 if there is none. */
int listeners_port(const struct listeners *listeners);

/* Lists all sockets, which stay the listeners'. */
void listeners_lend(const struct listeners *listeners, struct inherited *out);

/* Hands over all sockets, which stay listening. */
void listeners_release(struct listeners *listeners, struct inherited *out);

/* Closes all. Closed ones are allowed. */
void listeners_close(struct listeners *listeners);
