/* SPDX-License-Identifier: Apache-2.0 */
/* Accepting clients of the Redis protocol, plain and with TLS. All functions
 * run on the loop. */
#pragma once

#include <event2/util.h>

struct server;

/* The loop calls it when clients wait at a listener's socket. The context is
 * the server. */
void accept_incoming(evutil_socket_t fd, short events, void *context);

/* The server's timer `again` calls it: accepts again after descriptors ran
 * out. */
void accept_again(evutil_socket_t fd, short events, void *context);

/* Accepts all clients that wait at our own sockets, since closing such a socket
 * would disconnect them, but not those that keep coming meanwhile. At a socket
 * that another process holds, or will hold, clients keep waiting. */
void accept_rest(struct server *server);

/* Accepts all clients that wait at inherited sockets that are no longer wanted,
 * and closes these sockets. */
void accept_left(struct server *server);

/* Lowers the limit of connections so that enough descriptors remain for the
 * stores and the operator. */
void accept_fit(struct server *server);

/* Applies the limits of a reload, if there are new ones. Existing connections
 * stay, except those over a new time-out. */
void accept_reload(struct server *server);
