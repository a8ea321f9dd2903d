/* SPDX-License-Identifier: Apache-2.0 */
/* Listening, and the limits of libevent's server; see http.h. */
#include "daemon/http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/bufferevent_ssl.h>
#include <event2/http.h>
#include <event2/listener.h>

#include "daemon/daemon.h"
#include "daemon/http/admit/admit.h"
#include "daemon/http/clients/clients.h"
#include "daemon/http/events/events.h"
#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"
#include "daemon/http/report.h"
#include "daemon/http/route.h"
#include "daemon/http/turns.h"
#include "daemon/listeners/listeners.h"
#include "daemon/transport/transport.h"

#define HEADERS_MAX     8192 /* bytes, with the line of the request */
#define BODY_MAX        1024 /* bytes; no request needs one */
#define HTTP_NAMES_SIZE ((size_t)HTTP_PORTS_MAX * ADDRESS_SIZE)
#define TIMEOUT_S       10 /* for a client that sends nothing, or does not read */

/* How long accepting pauses when descriptors run out; the loop would spin
 * otherwise. */
#define ACCEPT_PAUSE_US 100000L

/* All methods are accepted, so that a wrong one is refused with a list of the
 * right ones. */
#define METHODS                                                                \
    (EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |     \
     EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |               \
     EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH)

/* A socket, and libevent's server for it. */
struct port {
    struct http *http;
    bool is_tls;
    struct listener listener;        /* its event is NULL: `incoming` watches */
    struct evconnlistener *incoming; /* the server's, once it is bound */
    struct evhttp *server;
    struct http_clients *clients;
};

struct http {
    struct exchanges exchanges;
    struct tls_server *tls;
    int timeout_s;
    struct port ports[HTTP_PORTS_MAX];
    size_t count;
    char names[HTTP_NAMES_SIZE]; /* of the addresses in use */
    char tls_names[HTTP_NAMES_SIZE];
};

static enum seqb_status http_fail(struct seqb_error *err)
{
    err->status = SEQB_NO_MEMORY;
    snprintf(err->text, sizeof err->text, "cannot start: http: %s",
             strerror(errno));
    return err->status;
}

/* If memory was short for TLS, libevent serves the connection without it. */
static bool request_is_plain(struct evhttp_request *request)
{
    return bufferevent_openssl_get_ssl(evhttp_connection_get_bufferevent(
               evhttp_request_get_connection(request))) == NULL;
}

static void http_on_request(struct evhttp_request *request, void *context)
{
    const struct port *port = context;
    struct http *http = port->http;
    const struct bufferevent *stream = evhttp_connection_get_bufferevent(
        evhttp_request_get_connection(request));
    struct exchange *exchange;

    if (port->is_tls && request_is_plain(request)) {
        evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
        return;
    }
    exchange = exchange_open(&http->exchanges, request);
    if (exchange == NULL)
        return;
    exchange_take_over(exchange, port->clients);
    if (!http_clients_refuse(port->clients, stream)) {
        if (!port->is_tls || admit_certificate(exchange))
            route_request(exchange);
        return;
    }
    exchange_header(exchange, "Connection", "close");
    problem_answer(exchange, HTTP_SERVUNAVAIL, "ERR",
                   "max number of clients reached");
}

static void http_on_again(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    evconnlistener_enable(context);
}

/* The context is libevent's server. `incoming` lives until the loop has
 * ended. */
static void http_on_accept_error(struct evconnlistener *incoming, void *context)
{
    const struct timeval pause = {0, ACCEPT_PAUSE_US};

    (void)context;
    evconnlistener_disable(incoming);
    event_base_once(evconnlistener_get_base(incoming), -1, EV_TIMEOUT,
                    http_on_again, incoming, &pause);
}

/* libevent sets the socket later. NULL if memory is short. */
static struct bufferevent *port_make_stream(struct event_base *base,
                                            void *context)
{
    const struct port *port = context;
    SSL *ssl;

    if (!port->is_tls)
        return bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    ssl = tls_server_accept(port->http->tls);
    if (ssl == NULL)
        return NULL;
    return bufferevent_openssl_socket_new(
        base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
}

static void port_configure(struct port *port)
{
    evhttp_set_allowed_methods(port->server, METHODS);
    evhttp_set_max_headers_size(port->server, HEADERS_MAX);
    evhttp_set_max_body_size(port->server, BODY_MAX);
    evhttp_set_timeout(port->server, port->http->timeout_s);
    evhttp_set_gencb(port->server, http_on_request, port);
}

static enum seqb_status port_start(struct port *port, struct http *http,
                                   struct seqb_error *err)
{
    struct event_base *base = http->exchanges.base;

    port->server = evhttp_new(base);
    if (port->server == NULL)
        return http_fail(err);
    port_configure(port);
    port->incoming = evconnlistener_new(
        base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_DISABLED, 0,
        port->listener.fd);
    if (port->incoming == NULL)
        return http_fail(err);
    if (evhttp_bind_listener(port->server, port->incoming) == NULL) {
        evconnlistener_free(port->incoming);
        return http_fail(err);
    }
    evconnlistener_set_error_cb(port->incoming, http_on_accept_error);
    port->clients = http_clients_open(http->exchanges.daemon, port->server,
                                      port->incoming, port_make_stream, port);
    return port->clients != NULL ? SEQB_OK : http_fail(err);
}

static enum seqb_status http_start(struct http *http, struct seqb_error *err)
{
    struct event_base *base = http->exchanges.base;

    http->exchanges.reports = reports_open(http->exchanges.daemon, base);
    http->exchanges.streams = streams_open(base);
    http->exchanges.turns = turns_open(base);
    if (http->exchanges.reports == NULL || http->exchanges.streams == NULL ||
        http->exchanges.turns == NULL)
        return http_fail(err);
    for (size_t i = 0; i < http->count; i++)
        if (port_start(&http->ports[i], http, err) != SEQB_OK)
            return err->status;
    return SEQB_OK;
}

/* --- its sockets --- */

/* If the operator has not decided who may take numbers, the address must be of
 * loopback. */
static enum seqb_status port_check(const struct port *port,
                                   struct seqb_error *err)
{
    struct access *access = &port->http->exchanges.daemon->access;

    if (listener_check_guard(&port->listener, err) == SEQB_OK)
        return SEQB_OK;
    access->is_public = true;
    return access_has_guard(access) ? SEQB_OK : err->status;
}

static bool is_wanted(const struct http_places *places)
{
    return places->count + places->tls_count > 0 ||
           inherited_replaces(places->inherited, INHERITED_HTTP) ||
           inherited_replaces(places->inherited, INHERITED_HTTPS);
}

/* Adds the ports of one kind. */
static enum seqb_status ports_take(struct http *http,
                                   struct listener_places places,
                                   struct inherited *inherited,
                                   struct seqb_error *err)
{
    struct listener listeners[HTTP_PORTS_MAX];
    enum seqb_status status;
    size_t count = 0;

    places.room = HTTP_PORTS_MAX - http->count;
    status = places_take(&places, inherited, listeners, &count, err);
    for (size_t i = 0; i < count; i++) {
        struct port *port = &http->ports[http->count++];

        port->http = http;
        port->is_tls = places.kind == INHERITED_HTTPS;
        port->listener = listeners[i];
    }
    return status;
}

static void ports_name(const struct http *http, bool is_tls,
                       char out[HTTP_NAMES_SIZE])
{
    size_t used = 0;

    snprintf(out, HTTP_NAMES_SIZE, "none");
    for (size_t i = 0; i < http->count; i++)
        if (http->ports[i].is_tls == is_tls && used < HTTP_NAMES_SIZE)
            used += (size_t)snprintf(out + used, HTTP_NAMES_SIZE - used, "%s%s",
                                     used > 0 ? "," : "",
                                     http->ports[i].listener.name);
}

static enum seqb_status http_take(struct http *http,
                                  const struct http_places *places,
                                  struct seqb_error *err)
{
    const struct listener_places plain = {INHERITED_HTTP, places->addresses,
                                          places->count, 0};
    const struct listener_places tls = {INHERITED_HTTPS, places->tls_addresses,
                                        places->tls_count, 0};

    if (ports_take(http, plain, places->inherited, err) != SEQB_OK ||
        ports_take(http, tls, places->inherited, err) != SEQB_OK)
        return err->status;
    for (size_t i = 0; i < http->count; i++)
        if (port_check(&http->ports[i], err) != SEQB_OK)
            return err->status;
    ports_name(http, false, http->names);
    ports_name(http, true, http->tls_names);
    return SEQB_OK;
}

enum seqb_status http_open(struct daemon *daemon, struct event_base *base,
                           const struct http_places *places, struct http **out,
                           struct seqb_error *err)
{
    struct http *http = NULL;

    *out = NULL;
    if (!is_wanted(places))
        return SEQB_OK;
    http = calloc(1, sizeof *http);
    if (http == NULL)
        return http_fail(err);
    http->tls = places->tls;
    http->timeout_s = places->timeout_s > 0 ? places->timeout_s : TIMEOUT_S;
    http->exchanges.daemon = daemon;
    http->exchanges.base = base;
    TAILQ_INIT(&http->exchanges.all);
    if (http_take(http, places, err) != SEQB_OK ||
        http_start(http, err) != SEQB_OK) {
        http_close(http);
        return err->status;
    }
    *out = http;
    return SEQB_OK;
}

enum seqb_status http_listen(struct http *http, struct seqb_error *err)
{
    for (size_t i = 0; http != NULL && i < http->count; i++) {
        struct port *port = &http->ports[i];

        if (listener_start(&port->listener, err) != SEQB_OK)
            return err->status;
        evconnlistener_enable(port->incoming);
    }
    return SEQB_OK;
}

const char *http_name(const struct http *http)
{
    return http == NULL ? "none" : http->names;
}

const char *http_tls_name(const struct http *http)
{
    return http == NULL ? "none" : http->tls_names;
}

static void refuse_stopping(struct exchange *exchange)
{
    problem_answer(exchange, HTTP_SERVUNAVAIL, "CLOSED",
                   "the broker is closing");
}

/* Stops listening but keeps the descriptor open, so that its number is not
 * reused. A socket that other processes share is not shut down. */
static void port_finish(struct port *port, bool keeps)
{
    if (port->incoming == NULL)
        return;
    http_clients_stop(port->clients);
    evconnlistener_disable(port->incoming);
    evconnlistener_set_cb(port->incoming, NULL, NULL); /* never enabled again */
    if (port->listener.is_own && !keeps)
        shutdown(port->listener.fd, SHUT_RDWR);
}

void http_finish(struct http *http, bool keeps)
{
    if (http == NULL)
        return;
    for (size_t i = 0; i < http->count; i++)
        port_finish(&http->ports[i], keeps);
    exchanges_cancel(&http->exchanges, refuse_stopping);
}

void http_resolve(struct http *http)
{
    if (http != NULL)
        exchanges_resolve(&http->exchanges);
}

void http_lend(const struct http *http, struct inherited *out)
{
    for (size_t i = 0; http != NULL && i < http->count; i++) {
        struct inherited_socket socket =
            listener_socket(&http->ports[i].listener);

        socket.kind = http->ports[i].is_tls ? INHERITED_HTTPS : INHERITED_HTTP;
        (void)inherited_add(out, &socket); /* INHERITED_MAX includes all */
    }
}

void http_release(const struct http *http, struct inherited *out)
{
    struct inherited sockets = {.count = 0};

    http_lend(http, &sockets);
    for (size_t i = 0; i < sockets.count; i++) {
        struct inherited_socket socket = sockets.sockets[i];

        socket.fd = fcntl(socket.fd, F_DUPFD_CLOEXEC, 0);
        (void)inherited_add(out, &socket);
    }
}

static void exchange_ignore(struct exchange *exchange)
{
    (void)exchange; /* the connection is closed next */
}

void http_close(struct http *http)
{
    if (http == NULL)
        return;
    exchanges_cancel(&http->exchanges, exchange_ignore);
    for (size_t i = 0; i < http->count; i++) {
        if (http->ports[i].server != NULL)
            evhttp_free(http->ports[i].server);
        http_clients_close(http->ports[i].clients);
    }
    reports_close(http->exchanges.reports);
    streams_close(http->exchanges.streams);
    turns_close(http->exchanges.turns);
    for (size_t i = 0; i < http->count; i++)
        listener_close(&http->ports[i].listener);
    free(http);
}
