/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting connections that libevent owns. libevent reports when it makes a
 * connection, but not when it frees it. So this code holds a reference to each
 * bufferevent: when its callbacks are gone, libevent has freed the connection.
 * The peer has seen the close by then.
 */
#include "daemon/http/clients/clients.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <event2/bufferevent_ssl.h>

#include "daemon/connection.h"
#include "daemon/daemon.h"
#include "daemon/http/clients/head.h"
#include "daemon/http/clients/intake.h"
#include "daemon/transport/transport.h"

/* ms between two searches for connections that have ended. */
#define SWEEP_MS 100

#define SLOTS 1024 /* of the table of connections by their stream */

/* When all memory for clients is in use, an unfinished request may still have
 * this many bytes: that of a probe has. */
#define SMALL_REQUEST ((size_t)2 * LIMITS_SMALL)

/* What a connection by TLS is counted as before its handshake is done. */
#define OPENING_BYTES (LIMITS_HTTP_BYTES + LIMITS_OPENING_BYTES)

/* When so many bytes have come during an answer without an end, nothing more is
 * read. libevent reads at most 16 KiB at once. */
#define INPUT_MAX 1024

#define FULL                                                                   \
    "{\"type\": \"about:blank\", \"title\": \"Service Unavailable\", "         \
    "\"status\": 503, \"code\": \"OOM\", \"detail\": \"clients hold all of "   \
    "max_client_memory, try again\"}"

#define FULL_ANSWER                                                            \
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"                   \
    "Connection: close\r\nContent-Type: application/problem+json\r\n\r\n" FULL

struct http_client {
    TAILQ_ENTRY(http_client) entry;
    LIST_ENTRY(http_client) same_slot;
    struct http_clients *all;
    struct bufferevent *stream;         /* our reference */
    struct evbuffer_cb_entry *on_input; /* counts what arrives */
    struct source *source;              /* once its socket is known */
    struct quota *quota; /* of the user of its last request, or NULL */
    size_t own;          /* bytes that it is counted with beside its request */
    size_t request;      /* bytes of the request that is not complete yet */
    int64_t begun_ms; /* when its first bytes came, or the answer before it was
                         sent */
    int64_t held;     /* the sum of both, as counted by the daemon's limits */
    struct records records;
    bool is_refused;
    bool is_too_large; /* memory was used up when it came */
    bool is_ended;     /* it was shut down because of the memory */
    bool is_answered;  /* the request before this one is not closed yet */
    bool is_opening;   /* by TLS: its handshake is not done */
    bool is_bounded;   /* its answer has no end */
};

TAILQ_HEAD(http_client_list, http_client);
LIST_HEAD(http_client_slot, http_client);

struct http_clients {
    struct daemon *daemon;
    struct intake intake;
    http_make_stream *make;
    void *context; /* for make() */
    struct event *sweep;
    struct http_client_list all;
    struct http_client_slot slots[SLOTS];
    size_t opening; /* connections that are */
};

static struct http_client_slot *slot_of(struct http_clients *clients,
                                        const struct bufferevent *stream)
{
    return &clients->slots[((uintptr_t)stream >> 6) % SLOTS];
}

/* NULL: memory was short when it was made. */
static struct http_client *client_find(struct http_clients *clients,
                                       const struct bufferevent *stream)
{
    struct http_client *client = NULL;

    LIST_FOREACH(client, slot_of(clients, stream), same_slot)
        if (client->stream == stream)
            break;
    return client;
}

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
    LIST_REMOVE(client, same_slot);
    clients->opening -= client->is_opening;
    clients->daemon->limits.http_connections--;
    limits_hold(&clients->daemon->limits, &client->held, 0);
    evbuffer_remove_cb_entry(bufferevent_get_input(client->stream),
                             client->on_input);
    source_leave(client->source);
    quota_occupy(&client->quota, NULL);
    bufferevent_decref(client->stream);
    free(client);
}

/* --- memory --- */

static void client_hold(struct http_client *client)
{
    limits_hold(&client->all->daemon->limits, &client->held,
                client->own + client->request);
}

/* Its handshake may be done since. */
static void client_open(struct http_client *client)
{
    if (!client->is_opening || !client->records.is_open)
        return;
    client->is_opening = false;
    client->all->opening--;
    client->own -= LIMITS_HANDSHAKE_BYTES;
    client_hold(client);
}

/* Shuts the connection down, which libevent sees as a close by the peer, and
 * says why, unless an answer is being sent. */
static void client_end(struct http_client *client)
{
    struct transport transport = {
        .fd = bufferevent_getfd(client->stream),
        .ssl = bufferevent_openssl_get_ssl(client->stream),
    };

    if (client->is_ended || transport.fd < 0)
        return;
    client->is_ended = true;
    connections_log_refused(client->all->daemon, LIMIT_OF_MEMORY);
    if (client->request > 0 &&
        evbuffer_get_length(bufferevent_get_output(client->stream)) == 0)
        (void)transport_write(&transport, FULL_ANSWER, strlen(FULL_ANSWER));
    shutdown(transport.fd, SHUT_RDWR);
}

/* A watermark would do the same, but libevent 2.1.12 crashes if it has no
 * memory for one. */
static void client_stop_reading(struct http_client *client)
{
    const struct evbuffer *input = bufferevent_get_input(client->stream);

    if (client->is_bounded && evbuffer_get_length(input) >= INPUT_MAX)
        bufferevent_disable(client->stream, EV_READ);
}

static void client_on_input(struct evbuffer *input,
                            const struct evbuffer_cb_info *info, void *context)
{
    struct http_client *client = context;

    daemon_interleave(client->all->daemon);
    if (info->n_added == 0)
        return;
    if (client->request == 0)
        client->begun_ms = daemon_now_ms();
    records_note(&client->records, bufferevent_openssl_get_ssl(client->stream));
    client_open(client);
    client->request += head_cost(input, info->n_added);
    client_hold(client);
    client_stop_reading(client);
    if (client->request <= SMALL_REQUEST ||
        !limits_are_full(&client->all->daemon->limits))
        return;
    client_end(client);
    /* What libevent parses takes more memory than the bytes do. */
    (void)evbuffer_drain(input, evbuffer_get_length(input));
}

/* --- counting --- */

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
    connections_log_refused(clients->daemon, LIMIT_OF_ADDRESS);
    shutdown(fd, SHUT_RDWR);
}

/* Whether its request, which may come byte by byte, takes too long. libevent's
 * own time-out is of silence. What comes while another request is answered has
 * to wait. */
static bool client_is_late(const struct http_client *client)
{
    const int64_t most = client->all->daemon->limits.options.client_timeout_ms;

    return most > 0 && client->request > 0 && !client->is_answered &&
           !client->is_ended && daemon_now_ms() - client->begun_ms >= most;
}

/* The same for what is not decrypted yet. What holds memory that others wait
 * for may take less time. */
static bool client_is_stuck(struct http_client *client)
{
    const struct http_clients *clients = client->all;
    const struct limits *limits = &clients->daemon->limits;
    const bool is_in_the_way = client->is_opening ? clients->intake.is_resting
                                                  : limits_are_full(limits);

    return !client->is_ended &&
           records_are_late(
               &client->records, bufferevent_openssl_get_ssl(client->stream),
               daemon_now_ms(),
               is_in_the_way ? TLS_FULL_MS : limits->options.client_timeout_ms);
}

static void client_time_out(struct http_client *client)
{
    const int fd = bufferevent_getfd(client->stream);

    if (fd < 0)
        return;
    client->is_ended = true;
    client->all->daemon->limits.connections_timed_out++;
    shutdown(fd, SHUT_RDWR);
}

static void client_look(struct http_client *client)
{
    client_open(client);
    client_find_source(client->all, client);
}

static void clients_forget_ended(struct http_clients *clients)
{
    struct http_client *client = TAILQ_FIRST(&clients->all);

    while (client != NULL) {
        struct http_client *next = TAILQ_NEXT(client, entry);

        if (client_has_ended(client))
            client_forget(clients, client);
        else if (client->is_too_large)
            client_end(client);
        else if (client_is_late(client) || client_is_stuck(client))
            client_time_out(client);
        else
            client_look(client);
        client = next;
    }
}

/* Whether a further connection can be made or refused. While there is no memory
 * for a further handshake, those in progress end first. */
static bool clients_have_room(const struct http_clients *clients)
{
    const struct daemon *daemon = clients->daemon;

    return limits_admit(&daemon->limits, daemon->session_count, LIMITS_HTTP) &&
           (clients->opening == 0 ||
            !limits_are_passed(&daemon->limits, OPENING_BYTES));
}

static void clients_on_sweep(evutil_socket_t fd, short events, void *context)
{
    struct http_clients *clients = context;

    (void)fd;
    (void)events;
    clients_forget_ended(clients);
    if (clients->intake.is_resting && clients_have_room(clients))
        intake_go_on(&clients->intake);
    if (clients->intake.is_resting || !TAILQ_EMPTY(&clients->all))
        timer_start(clients->sweep, SWEEP_MS);
}

/* NULL if memory is short. */
static struct http_client *client_new(struct http_clients *clients,
                                      struct event_base *base)
{
    struct http_client *client = calloc(1, sizeof *client);

    if (client == NULL)
        return NULL;
    client->all = clients;
    records_begin(&client->records, daemon_now_ms());
    client->stream = clients->make(base, clients->context);
    if (client->stream != NULL)
        client->on_input = evbuffer_add_cb(
            bufferevent_get_input(client->stream), client_on_input, client);
    if (client->on_input == NULL) {
        if (client->stream != NULL)
            bufferevent_free(client->stream);
        free(client);
        return NULL;
    }
    bufferevent_incref(client->stream);
    return client;
}

/* A connection by TLS is refused if there is no memory for it: it takes more
 * than a small request. */
static void client_count(struct http_client *client)
{
    struct limits *limits = &client->all->daemon->limits;
    const bool is_tls = bufferevent_openssl_get_ssl(client->stream) != NULL;

    client->own = is_tls ? OPENING_BYTES : LIMITS_HTTP_BYTES;
    client->is_opening = is_tls;
    client->all->opening += is_tls;
    client->is_too_large = is_tls && limits_are_passed(limits, client->own);
    client_hold(client);
    limits->http_connections++;
}

/* Makes and counts a connection. NULL: memory is short. Then libevent makes the
 * connection itself, and it is not counted. */
static struct bufferevent *clients_on_connection(struct event_base *base,
                                                 void *context)
{
    struct http_clients *clients = context;
    struct daemon *daemon = clients->daemon;
    struct http_client *client = client_new(clients, base);

    intake_count(&clients->intake);
    if (client == NULL)
        return NULL;
    if (!limits_admit(&daemon->limits, daemon->session_count, 0))
        clients_forget_ended(clients);
    client->is_refused =
        !limits_admit(&daemon->limits, daemon->session_count, 0);
    if (client->is_refused)
        connections_log_refused(daemon, LIMIT_OF_ALL);
    if (TAILQ_EMPTY(&clients->all))
        timer_start(clients->sweep, SWEEP_MS);
    TAILQ_INSERT_HEAD(&clients->all, client, entry);
    LIST_INSERT_HEAD(slot_of(clients, client->stream), client, same_slot);
    client_count(client);
    if (!clients_have_room(clients))
        intake_rest(&clients->intake);
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
    clients->make = make;
    clients->context = context;
    TAILQ_INIT(&clients->all);
    clients->sweep = evtimer_new(evconnlistener_get_base(incoming),
                                 clients_on_sweep, clients);
    if (clients->sweep == NULL || !intake_open(&clients->intake, incoming)) {
        http_clients_close(clients);
        return NULL;
    }
    evhttp_set_bevcb(server, clients_on_connection, clients);
    return clients;
}

bool http_clients_refuse(struct http_clients *clients,
                         const struct bufferevent *stream)
{
    const struct http_client *client = client_find(clients, stream);

    return client != NULL && client->is_refused;
}

bool http_clients_enter(struct http_clients *clients,
                        const struct bufferevent *stream, struct quota *quota)
{
    struct http_client *client = client_find(clients, stream);

    if (client == NULL || client->quota == quota)
        return true;
    if (quota != NULL && quota_is_full(quota))
        return false;
    quota_occupy(&client->quota, quota);
    return true;
}

size_t http_clients_hand_over(struct http_clients *clients,
                              const struct bufferevent *stream)
{
    struct http_client *client = client_find(clients, stream);
    struct evbuffer *rest = NULL;
    size_t bytes = 0;

    if (client == NULL)
        return 0;
    bytes = client->request;
    rest = bufferevent_get_input(client->stream);
    client->request = head_cost(rest, evbuffer_get_length(rest));
    client->is_answered = true;
    bytes -= client->request < bytes ? client->request : bytes;
    client_hold(client);
    return bytes;
}

void http_clients_answered(struct http_clients *clients,
                           const struct bufferevent *stream)
{
    struct http_client *client = client_find(clients, stream);

    if (client == NULL)
        return;
    client->is_answered = false;
    client->begun_ms = daemon_now_ms();
}

bool http_clients_bound(struct http_clients *clients,
                        const struct bufferevent *stream)
{
    struct http_client *client = client_find(clients, stream);

    if (client == NULL)
        return false;
    client->is_bounded = true;
    client_stop_reading(client);
    return true;
}

void http_clients_stop(struct http_clients *clients)
{
    intake_stop(&clients->intake);
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
    if (clients->sweep != NULL)
        event_free(clients->sweep);
    intake_close(&clients->intake);
    free(clients);
}
