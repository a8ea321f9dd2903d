/* SPDX-License-Identifier: Apache-2.0 */
/* Accepting clients of the Redis protocol, plain and by TLS. On the loop. */
#pragma once

#include <event2/util.h>

struct server;

/* Called by the loop when clients wait at a listener's socket. The context is
 * the server. */
void accept_incoming(evutil_socket_t fd, short events, void *context);

/* Called by the server's timer `again`: goes on after descriptors ran out. */
void accept_again(evutil_socket_t fd, short events, void *context);

/* Clients that wait at a socket of our own would be cut off with it: takes them
 * all. One that another process has, or will have, keeps them. */
void accept_rest(struct server *server);

/* Clients must leave descriptors to the stores and to the operator: lowers the
 * limit of connections to what they leave. */
void accept_fit(struct server *server);

/* Puts the limits of a reload in place, if there are any. Who is connected
 * stays, but for those who are over a time-out now. */
void accept_reload(struct server *server);
