/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP connections, which libevent makes and closes by itself: counts them
 * and the memory of the requests that they have not finished, and finds those
 * that are too many.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>

struct daemon;
struct http_clients;
struct quota;

/* Makes the bufferevent of a connection, without its socket. NULL if memory is
 * short. */
typedef struct bufferevent *http_make_stream(struct event_base *base,
                                             void *context);

/* Counts in the daemon's limits the connections that `server` accepts from
 * `incoming`. The daemon, the server, the listener and the context must live as
 * long as the result. NULL if memory is short. */
struct http_clients *http_clients_open(struct daemon *daemon,
                                       struct evhttp *server,
                                       struct evconnlistener *incoming,
                                       http_make_stream *make, void *context);

/* Whether this connection is over the limit: its requests have to be
 * refused. */
bool http_clients_refuse(struct http_clients *clients,
                         const struct bufferevent *stream);

/* From now on the connection counts as one of the user with that quota, or of
 * no user (NULL). False if the user has as many as it may: nothing was
 * changed. */
bool http_clients_enter(struct http_clients *clients,
                        const struct bufferevent *stream, struct quota *quota);

/* A request of this connection is complete: returns the bytes that it is
 * counted with. From now on the caller counts them. What the client sends
 * behind it is not late before http_clients_answered. */
size_t http_clients_hand_over(struct http_clients *clients,
                              const struct bufferevent *stream);

/* The answer to that request was sent, and the connection is still open. */
void http_clients_answered(struct http_clients *clients,
                           const struct bufferevent *stream);

/* The answer of this connection has no end: it is not read any more once it has
 * sent some bytes. False if the connection is not counted, because memory was
 * short when it was made. */
bool http_clients_bound(struct http_clients *clients,
                        const struct bufferevent *stream);

/* Never accepts again, also when connections end. */
void http_clients_stop(struct http_clients *clients);

/* To be called after the server was freed. NULL is allowed. */
void http_clients_close(struct http_clients *clients);
