/* SPDX-License-Identifier: Apache-2.0 */
/* Listening, and what libevent's server is allowed; see http.h. */
#include "daemon/http/http.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/http.h>
#include <event2/listener.h>

#include "daemon/daemon.h"
#include "daemon/http/clients/clients.h"
#include "daemon/http/events/events.h"
#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"
#include "daemon/http/report.h"
#include "daemon/http/route.h"
#include "daemon/listener.h"

#define HEADERS_MAX 8192 /* bytes, with the line of the request */
#define BODY_MAX    1024 /* bytes; no request needs one */
#define TIMEOUT_S   10   /* of a client that is silent, or does not read */

/* Out of descriptors, accepting rests: the loop would spin otherwise. */
#define ACCEPT_PAUSE_US 100000L

/* Of any method, so that a wrong one is refused with those that are right. */
#define METHODS                                                                \
    (EVHTTP_REQ_GET | EVHTTP_REQ_POST | EVHTTP_REQ_HEAD | EVHTTP_REQ_PUT |     \
     EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS | EVHTTP_REQ_TRACE |               \
     EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH)

struct http {
    struct exchanges exchanges;
    struct listener listener; /* its event stays NULL: `incoming` has it */
    struct evconnlistener *incoming; /* the server's, once it is bound */
    struct evhttp *server;
    struct http_clients *clients;
};

static enum seqb_status http_fail(struct seqb_error *err)
{
    err->status = SEQB_NO_MEMORY;
    snprintf(err->text, sizeof err->text, "cannot start: http: %s",
             strerror(errno));
    return err->status;
}

static void http_on_request(struct evhttp_request *request, void *context)
{
    struct http *http = context;
    const struct bufferevent *stream = evhttp_connection_get_bufferevent(
        evhttp_request_get_connection(request));
    struct exchange *exchange = exchange_open(&http->exchanges, request);

    if (exchange == NULL)
        return;
    if (!http_clients_refuse(http->clients, stream)) {
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

/* The context is libevent's server. The listener lives until the loop has
 * ended. */
static void http_on_accept_error(struct evconnlistener *incoming, void *context)
{
    const struct timeval pause = {0, ACCEPT_PAUSE_US};

    (void)context;
    evconnlistener_disable(incoming);
    event_base_once(evconnlistener_get_base(incoming), -1, EV_TIMEOUT,
                    http_on_again, incoming, &pause);
}

static void http_configure(struct http *http)
{
    evhttp_set_allowed_methods(http->server, METHODS);
    evhttp_set_max_headers_size(http->server, HEADERS_MAX);
    evhttp_set_max_body_size(http->server, BODY_MAX);
    evhttp_set_timeout(http->server, TIMEOUT_S);
    evhttp_set_gencb(http->server, http_on_request, http);
}

static enum seqb_status http_start(struct http *http, struct seqb_error *err)
{
    struct event_base *base = http->exchanges.base;

    http->server = evhttp_new(base);
    http->exchanges.reports = reports_open(http->exchanges.daemon, base);
    http->exchanges.streams = streams_open(base);
    if (http->server == NULL || http->exchanges.reports == NULL ||
        http->exchanges.streams == NULL)
        return http_fail(err);
    http_configure(http);
    http->incoming = evconnlistener_new(
        base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_DISABLED, 0,
        http->listener.fd);
    if (http->incoming == NULL)
        return http_fail(err);
    if (evhttp_bind_listener(http->server, http->incoming) == NULL) {
        evconnlistener_free(http->incoming);
        return http_fail(err);
    }
    evconnlistener_set_error_cb(http->incoming, http_on_accept_error);
    http->clients =
        http_clients_open(http->exchanges.daemon, http->server, http->incoming);
    return http->clients != NULL ? SEQB_OK : http_fail(err);
}

enum seqb_status http_open(struct daemon *daemon, struct event_base *base,
                           const struct listener *listener, struct http **out,
                           struct seqb_error *err)
{
    struct listener unused = *listener;
    struct http *http = calloc(1, sizeof *http);

    if (http == NULL) {
        listener_close(&unused);
        return http_fail(err);
    }
    http->listener = *listener;
    http->exchanges.daemon = daemon;
    http->exchanges.base = base;
    TAILQ_INIT(&http->exchanges.all);
    if (http_start(http, err) != SEQB_OK) {
        http_close(http);
        return err->status;
    }
    *out = http;
    return SEQB_OK;
}

enum seqb_status http_listen(struct http *http, struct seqb_error *err)
{
    if (listener_start(&http->listener, err) != SEQB_OK)
        return err->status;
    evconnlistener_enable(http->incoming);
    return SEQB_OK;
}

const char *http_name(const struct http *http)
{
    return http->listener.name;
}

static void refuse_stopping(struct exchange *exchange)
{
    problem_answer(exchange, HTTP_SERVUNAVAIL, "CLOSED",
                   "the broker is closing");
}

void http_finish(struct http *http, bool keeps)
{
    if (http == NULL)
        return;
    http_clients_stop(http->clients);
    /* Open, but no longer listening: its number stays ours. Others go on with
     * a socket that is not ours alone. */
    evconnlistener_disable(http->incoming);
    evconnlistener_set_cb(http->incoming, NULL, NULL); /* for good */
    if (http->listener.is_own && !keeps)
        shutdown(http->listener.fd, SHUT_RDWR);
    exchanges_cancel(&http->exchanges, refuse_stopping);
}

struct inherited_socket http_release(struct http *http)
{
    return (struct inherited_socket){
        .fd = fcntl(http->listener.fd, F_DUPFD_CLOEXEC, 0),
        .kind = INHERITED_HTTP,
        .is_own = http->listener.is_own,
    };
}

static void exchange_ignore(struct exchange *exchange)
{
    (void)exchange; /* its connection is closed next */
}

void http_close(struct http *http)
{
    if (http == NULL)
        return;
    exchanges_cancel(&http->exchanges, exchange_ignore);
    if (http->server != NULL)
        evhttp_free(http->server);
    http_clients_close(http->clients);
    reports_close(http->exchanges.reports);
    streams_close(http->exchanges.streams);
    listener_close(&http->listener);
    free(http);
}
