/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections of HTTP, which libevent makes and ends by itself: how many
 * there are, and which of them are too many.
 */
#pragma once

#include <stdbool.h>

#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>

struct daemon;
struct http_clients;

/* Makes what a connection is read and written by, without its socket; NULL if
 * memory is short. */
typedef struct bufferevent *http_make_stream(struct event_base *base,
                                             void *context);

/* Counts what `server` accepts from `incoming`, in the daemon's limits. The
 * daemon, the server, the listener and the context must last as long. NULL: out
 * of memory. */
struct http_clients *http_clients_open(struct daemon *daemon,
                                       struct evhttp *server,
                                       struct evconnlistener *incoming,
                                       http_make_stream *make, void *context);

/* Whether this connection is one too many: it gets no more than a refusal. */
bool http_clients_refuse(const struct http_clients *clients,
                         const struct bufferevent *stream);

/* No more are accepted. */
void http_clients_stop(struct http_clients *clients);

/* After the server was freed. Takes NULL. */
void http_clients_close(struct http_clients *clients);
