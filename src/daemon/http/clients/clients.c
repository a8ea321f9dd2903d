/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting connections that libevent owns. libevent reports when it makes a
 * connection, but not when it frees it. So this code holds a reference to each
 * bufferevent: when its callbacks are gone, libevent has freed the connection.
 * The peer has seen the close by then.
 */
#include "daemon/http/clients/clients.h"

#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "daemon/connection.h"
#include "daemon/daemon.h"

/* ms between two searches for connections that have ended. */
#define SWEEP_MS 100

struct http_client {
    TAILQ_ENTRY(http_client) entry;
    struct bufferevent *stream; /* our reference */
    struct source *source;      /* once its socket is known */
    bool is_refused;
};

TAILQ_HEAD(http_client_list, http_client);

struct http_clients {
    struct daemon *daemon;
    struct evconnlistener *incoming;
    http_make_stream *make;
    void *context; /* for make() */
    struct event *sweep;
    struct http_client_list all;
    bool is_resting; /* accepting is paused until some connections have ended */
    bool is_stopped;
};

static bool client_has_ended(const struct http_client *client)
{
    bufferevent_event_cb on_event = NULL;

    bufferevent_getcb(client->stream, NULL, NULL, &on_event, NULL);
    return on_event == NULL;
}

static void client_forget(struct http_clients *clients,
                          struct http_client *client)
{
    TAILQ_REMOVE(&clients->all, client, entry);
    clients->daemon->limits.http_connections--;
    source_leave(client->source);
    bufferevent_decref(client->stream);
    free(client);
}

/* Counts the connection at its address. It is done later than the connection is
 * made, because libevent sets the socket only then. A connection of an address
 * that has too many is shut down, which libevent sees as a close by the
 * peer. */
static void client_find_source(struct http_clients *clients,
                               struct http_client *client)
{
    struct limits *limits = &clients->daemon->limits;
    const int fd = bufferevent_getfd(client->stream);
    char name[LOGIN_SOURCE_SIZE];

    if (client->source != NULL || fd < 0 || client->is_refused)
        return;
    identity_source(fd, name);
    if (source_enter(&limits->sources, name,
                     limits->options.max_connections_per_address,
                     &client->source))
        return;
    client->is_refused = true;
    connections_tell_refused(clients->daemon, LIMIT_OF_ADDRESS);
    shutdown(fd, SHUT_RDWR);
}

static void clients_forget_ended(struct http_clients *clients)
{
    struct http_client *client = TAILQ_FIRST(&clients->all);

    while (client != NULL) {
        struct http_client *next = TAILQ_NEXT(client, entry);

        if (client_has_ended(client))
            client_forget(clients, client);
        else
            client_find_source(clients, client);
        client = next;
    }
}

static void clients_on_sweep(evutil_socket_t fd, short events, void *context)
{
    struct http_clients *clients = context;
    const struct daemon *daemon = clients->daemon;

    (void)fd;
    (void)events;
    clients_forget_ended(clients);
    if (clients->is_resting && !clients->is_stopped &&
        limits_admit(&daemon->limits, daemon->session_count, LIMITS_HTTP)) {
        clients->is_resting = false;
        evconnlistener_enable(clients->incoming);
    }
    if (clients->is_resting || !TAILQ_EMPTY(&clients->all))
        timer_start(clients->sweep, SWEEP_MS);
}

/* Pauses accepting when there are as many connections as can be refused:
 * further clients wait in the socket's backlog. */
static void clients_rest_if_full(struct http_clients *clients)
{
    const struct daemon *daemon = clients->daemon;

    if (limits_admit(&daemon->limits, daemon->session_count, LIMITS_HTTP))
        return;
    clients->is_resting = true;
    evconnlistener_disable(clients->incoming);
}

/* Makes and counts a connection. If it returns NULL for want of memory,
 * libevent makes the connection itself, and that one is not counted. */
static struct bufferevent *clients_on_connection(struct event_base *base,
                                                 void *context)
{
    struct http_clients *clients = context;
    struct daemon *daemon = clients->daemon;
    struct http_client *client = calloc(1, sizeof *client);

    if (client == NULL)
        return NULL;
    client->stream = clients->make(base, clients->context);
    if (client->stream == NULL) {
        free(client);
        return NULL;
    }
    if (!limits_admit(&daemon->limits, daemon->session_count, 0))
        clients_forget_ended(clients);
    client->is_refused =
        !limits_admit(&daemon->limits, daemon->session_count, 0);
    if (client->is_refused)
        connections_tell_refused(daemon, LIMIT_OF_ALL);
    bufferevent_incref(client->stream);
    if (TAILQ_EMPTY(&clients->all))
        timer_start(clients->sweep, SWEEP_MS);
    TAILQ_INSERT_HEAD(&clients->all, client, entry);
    daemon->limits.http_connections++;
    clients_rest_if_full(clients);
    return client->stream;
}

struct http_clients *http_clients_open(struct daemon *daemon,
                                       struct evhttp *server,
                                       struct evconnlistener *incoming,
                                       http_make_stream *make, void *context)
{
    struct http_clients *clients = calloc(1, sizeof *clients);

    if (clients == NULL)
        return NULL;
    clients->daemon = daemon;
    clients->incoming = incoming;
    clients->make = make;
    clients->context = context;
    TAILQ_INIT(&clients->all);
    clients->sweep = evtimer_new(evconnlistener_get_base(incoming),
                                 clients_on_sweep, clients);
    if (clients->sweep == NULL) {
        free(clients);
        return NULL;
    }
    evhttp_set_bevcb(server, clients_on_connection, clients);
    return clients;
}

bool http_clients_refuse(const struct http_clients *clients,
                         const struct bufferevent *stream)
{
    const struct http_client *client = NULL;

    if (clients->daemon->limits.connections_refused == 0)
        return false;
    TAILQ_FOREACH(client, &clients->all, entry)
    if (client->stream == stream)
        return client->is_refused;
    return false;
}

void http_clients_stop(struct http_clients *clients)
{
    clients->is_stopped = true;
}

void http_clients_close(struct http_clients *clients)
{
    struct http_client *client = NULL;

    if (clients == NULL)
        return;
    client = TAILQ_FIRST(&clients->all);
    while (client != NULL) {
        struct http_client *next = TAILQ_NEXT(client, entry);

        client_forget(clients, client);
        client = next;
    }
    event_free(clients->sweep);
    free(clients);
}
