/* SPDX-License-Identifier: Apache-2.0 */
/* The life of an exchange; see exchange.h. */
#include "daemon/http/exchange.h"

#include <assert.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/keyvalq_struct.h>

#include "credential/credential.h"
#include "daemon/daemon.h"
#include "daemon/http/clients/clients.h"
#include "tls/tls.h"

/* For answers without an end: how long a client may read nothing or its host
 * may be unreachable. */
#define PATIENCE_S 10

static void exchange_stop_waiting(struct exchange *exchange)
{
    if (exchange->closed != NULL)
        event_free(exchange->closed);
    exchange->closed = NULL;
    exchange->pending = NULL;
}

static void exchange_cancel(struct exchange *exchange)
{
    struct pending *pending = exchange->pending;

    exchange_stop_waiting(exchange);
    if (pending != NULL)
        pending->cancel(pending);
}

static void exchange_hold(struct exchange *exchange, size_t size)
{
    struct exchanges *exchanges = exchange->exchanges;

    exchanges->held += (int64_t)size - exchange->held;
    limits_hold(&exchanges->daemon->limits, &exchange->held, size);
}

static void exchange_hold_request(struct exchange *exchange, size_t size)
{
    limits_hold(&exchange->exchanges->daemon->limits, &exchange->held_request,
                size);
}

void exchange_take_over(struct exchange *exchange, struct http_clients *clients)
{
    exchange->clients = clients;
    exchange_hold_request(
        exchange,
        http_clients_hand_over(
            clients, evhttp_connection_get_bufferevent(
                         evhttp_request_get_connection(exchange->request))));
}

static void exchange_close(struct exchange *exchange)
{
    struct exchanges *exchanges = exchange->exchanges;
    struct daemon *daemon = exchanges->daemon;

    exchange_cancel(exchange);
    exchange_hold(exchange, 0);
    exchange_hold_request(exchange, 0);
    TAILQ_REMOVE(&exchanges->all, exchange, entry);
    if (!exchange->is_endless)
        daemon->request_count--;
    free(exchange);
    if (daemon_is_done(daemon))
        event_base_loopbreak(exchanges->base);
}

/* Called when the connection is closed between two requests. */
static void connection_on_close(struct evhttp_connection *connection,
                                void *context)
{
    (void)http_clients_enter(
        context, evhttp_connection_get_bufferevent(connection), NULL);
}

/* Called when the answer is sent. The connection may carry a further
 * request. */
static void exchange_on_sent(struct evhttp_request *request, void *context)
{
    struct evhttp_connection *connection =
        evhttp_request_get_connection(request);
    struct exchange *exchange = context;

    daemon_interleave(exchange->exchanges->daemon);
    if (connection != NULL) {
        evhttp_connection_set_closecb(connection, connection_on_close,
                                      exchange->clients);
        http_clients_answered(exchange->clients,
                              evhttp_connection_get_bufferevent(connection));
    }
    exchange_close(exchange);
}

void exchange_wipe(const struct exchange *exchange)
{
    const struct evkeyval *header = NULL;

    TAILQ_FOREACH(header, evhttp_request_get_input_headers(exchange->request),
                  next)
        if (evutil_ascii_strcasecmp(header->key, "Authorization") == 0)
            credential_wipe(header->value, strlen(header->value));
}

/* Called when the connection is closed. libevent frees the request with its
 * connection, unless it has detached them. */
static void exchange_on_close(struct evhttp_connection *connection,
                              void *context)
{
    struct exchange *exchange = context;
    struct evhttp_request *request = exchange->request;

    connection_on_close(connection, exchange->clients);
    if (!exchange->is_answered)
        exchange_wipe(exchange);
    if (!exchange->is_answered &&
        evhttp_request_get_connection(request) == NULL)
        evhttp_request_free(request);
    exchange_close(exchange);
}

static struct evhttp_connection *
exchange_connection(const struct exchange *exchange)
{
    return evhttp_request_get_connection(exchange->request);
}

static struct bufferevent *exchange_stream(const struct exchange *exchange)
{
    return evhttp_connection_get_bufferevent(exchange_connection(exchange));
}

static struct evbuffer *exchange_output(const struct exchange *exchange)
{
    return bufferevent_get_output(exchange_stream(exchange));
}

bool exchange_enter(const struct exchange *exchange)
{
    return http_clients_enter(exchange->clients, exchange_stream(exchange),
                              identity_quota(&exchange->identity));
}

int exchange_socket(const struct exchange *exchange)
{
    return bufferevent_getfd(exchange_stream(exchange));
}

/* libevent sends a large answer in parts. Without this, the last part of it
 * waits until the client has acknowledged the others, which takes 40 ms on a
 * connection that was used before: tcp(7). */
static void exchange_send_at_once(const struct exchange *exchange)
{
    const int on = 1;

    setsockopt(exchange_socket(exchange), IPPROTO_TCP, TCP_NODELAY, &on,
               sizeof on);
}

struct exchange *exchange_open(struct exchanges *exchanges,
                               struct evhttp_request *request)
{
    struct exchange *exchange = calloc(1, sizeof *exchange);

    if (exchange == NULL) {
        evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
        return NULL;
    }
    exchange->exchanges = exchanges;
    exchange->request = request;
    TAILQ_INSERT_TAIL(&exchanges->all, exchange, entry);
    exchanges->daemon->request_count++;
    evhttp_request_set_on_complete_cb(request, exchange_on_sent, exchange);
    evhttp_connection_set_closecb(evhttp_request_get_connection(request),
                                  exchange_on_close, exchange);
    exchange_send_at_once(exchange);
    return exchange;
}

bool exchange_certificate(const struct exchange *exchange,
                          struct tls_peer **out)
{
    const SSL *ssl = bufferevent_openssl_get_ssl(exchange_stream(exchange));

    *out = NULL;
    return ssl == NULL || tls_peer_read(ssl, out);
}

/* The client has closed its sending side. It may still read, so it gets an
 * answer. */
static void exchange_on_gone(evutil_socket_t fd, short events, void *context)
{
    struct exchange *exchange = context;

    (void)fd;
    (void)events;
    exchange_cancel(exchange);
    exchange_header(exchange, "Connection", "close");
    exchange_answer_text(exchange, HTTP_SERVUNAVAIL, "text/plain",
                         "the client closed the connection\n");
}

/* libevent does not read from a connection whose request is not answered yet,
 * so it would not notice the close. EV_CLOSED notices it without reading:
 * reading would require buffering what a client sends ahead. */
void exchange_wait(struct exchange *exchange, struct pending *pending)
{
    pending->exchange = exchange;
    exchange->pending = pending;
    exchange->closed =
        event_new(exchange->exchanges->base, exchange_socket(exchange),
                  EV_CLOSED, exchange_on_gone, exchange);
    if (exchange->closed != NULL)
        event_add(exchange->closed, NULL);
}

void exchange_resume(struct exchange *exchange)
{
    exchange_stop_waiting(exchange);
}

void exchange_header(struct exchange *exchange, const char *name,
                     const char *value)
{
    exchange->is_short |=
        evhttp_add_header(evhttp_request_get_output_headers(exchange->request),
                          name, value) != 0;
}

void exchange_retry_after(struct exchange *exchange, int64_t ms)
{
    char seconds[24];

    snprintf(seconds, sizeof seconds, "%lld",
             ms > 1000 ? (long long)(ms + 999) / 1000 : 1);
    exchange_header(exchange, "Retry-After", seconds);
}

static void exchange_common_headers(struct exchange *exchange, int status,
                                    const char *type)
{
    struct daemon *daemon = exchange->exchanges->daemon;

    exchange_wipe(exchange);
    if (status / 100 < COUNTS_CLASSES)
        daemon->counts.responses[status / 100]++;
    exchange_header(exchange, "Content-Type", type);
    exchange_header(exchange, "Cache-Control", "no-store");
    exchange_header(exchange, "X-Content-Type-Options", "nosniff");
    if (daemon_leaves(daemon) != NULL)
        exchange_header(exchange, "Connection", "close");
}

bool exchange_may_hold(const struct exchange *exchange, size_t size)
{
    const struct exchanges *exchanges = exchange->exchanges;

    return exchanges->held == 0 ||
           !limits_are_passed(&exchanges->daemon->limits, size);
}

/* Whether libevent has put a whole answer into the empty output: it leaves out
 * what it has no memory for. */
static bool output_is_whole(const struct exchange *exchange, size_t body_size)
{
    struct evbuffer *output = exchange_output(exchange);
    const struct evbuffer_ptr end =
        evbuffer_search_eol(output, NULL, NULL, EVBUFFER_EOL_CRLF_STRICT);
    const struct evkeyval *header = NULL;
    size_t size = body_size + 2; /* each line ends in two bytes */

    TAILQ_FOREACH(header, evhttp_request_get_output_headers(exchange->request),
                  next)
        size += strlen(header->key) + 2 + strlen(header->value) + 2;
    return !exchange->is_short && end.pos >= 0 &&
           evbuffer_get_length(output) == (size_t)end.pos + 2 + size;
}

/* The client of an answer that is not whole sees a close instead: libevent
 * takes it for one by the client. */
static void exchange_cut(const struct exchange *exchange)
{
    (void)shutdown(exchange_socket(exchange), SHUT_RDWR);
}

/* Content-Length is set here, because an answer to HEAD has it without a
 * body. */
void exchange_answer(struct exchange *exchange, int status, const char *type,
                     struct evbuffer *body)
{
    const size_t size = body != NULL ? evbuffer_get_length(body) : 0;
    const bool is_head =
        evhttp_request_get_command(exchange->request) == EVHTTP_REQ_HEAD;
    const bool is_checked = exchange_connection(exchange) != NULL &&
                            evbuffer_get_length(exchange_output(exchange)) == 0;
    char length[24];

    assert(exchange->pending == NULL && !exchange->is_answered);
    exchange->is_answered = true;
    exchange_hold(exchange, size);
    exchange_common_headers(exchange, status, type);
    snprintf(length, sizeof length, "%zu", size);
    exchange_header(exchange, "Content-Length", length);
    evhttp_send_reply(exchange->request, status, NULL, is_head ? NULL : body);
    if (is_checked && !output_is_whole(exchange, is_head ? 0 : size))
        exchange_cut(exchange);
}

void exchange_answer_text(struct exchange *exchange, int status,
                          const char *type, const char *text)
{
    struct evbuffer *body = evbuffer_new();

    if (body != NULL && evbuffer_add(body, text, strlen(text)) == 0)
        exchange_answer(exchange, status, type, body);
    else
        exchange_answer(exchange, HTTP_SERVUNAVAIL, "text/plain", NULL);
    if (body != NULL)
        evbuffer_free(body);
}

/* --- answers without an end --- */

/* libevent keeps reading, to notice the close. Without these settings its read
 * timeout would end a client that sends nothing. */
static void stream_configure(struct bufferevent *stream)
{
    const struct timeval patience = {PATIENCE_S, 0};
    const int patience_ms = PATIENCE_S * 1000;

    bufferevent_set_timeouts(stream, NULL, &patience);
    /* A host that has failed sends no close. */
    setsockopt(bufferevent_getfd(stream), IPPROTO_TCP, TCP_USER_TIMEOUT,
               &patience_ms, sizeof patience_ms);
}

bool exchange_begin(struct exchange *exchange, const char *type,
                    struct pending *pending)
{
    if (!http_clients_bound(exchange->clients, exchange_stream(exchange)))
        return false;
    pending->exchange = exchange;
    exchange->pending = pending;
    exchange->is_endless = true;
    exchange->exchanges->daemon->request_count--;
    exchange_common_headers(exchange, HTTP_OK, type);
    exchange_header(exchange, "Connection", "close");
    stream_configure(exchange_stream(exchange));
    evhttp_send_reply_start(exchange->request, HTTP_OK, "OK");
    exchange->is_short = !output_is_whole(exchange, 0);
    return true;
}

static void exchange_on_drained(struct evhttp_connection *connection,
                                void *context)
{
    struct exchange *exchange = context;

    (void)connection;
    exchange->pending->drained(exchange->pending);
}

bool exchange_send(struct exchange *exchange, const char *text, size_t length)
{
    struct evbuffer *piece = evbuffer_new();
    const bool is_made = piece != NULL && !exchange->is_short &&
                         evbuffer_add(piece, text, length) == 0;

    if (is_made)
        evhttp_send_reply_chunk_with_cb(exchange->request, piece,
                                        exchange_on_drained, exchange);
    if (piece != NULL)
        evbuffer_free(piece);
    return is_made;
}

size_t exchange_unsent(const struct exchange *exchange)
{
    return evbuffer_get_length(exchange_output(exchange));
}

void exchange_abort(struct exchange *exchange)
{
    evhttp_connection_free(exchange_connection(exchange));
}

/* --- all of them --- */

/* Whether the client may have what it was admitted to. */
static bool exchange_may_go_on(const struct exchange *exchange)
{
    const struct identity *identity = &exchange->identity;
    const char *key = exchange->key;

    return (identity->rights & exchange->needs) != 0 &&
           (key[0] == '\0' || identity_may_use(identity, key, strlen(key)));
}

/* Routed again, a request that waits is refused for what its client is now. */
static void exchange_end(struct exchange *exchange, bool has_memory)
{
    if (exchange->is_endless || (exchange->pending != NULL && !has_memory)) {
        exchange_abort(exchange);
    } else if (exchange->pending != NULL) {
        exchange_cancel(exchange);
        exchange->route(exchange);
    }
}

/* Identifies the client again. A client that is unknown now keeps no user of
 * the old table. */
static void exchange_resolve(struct exchange *exchange)
{
    struct tls_peer *certificate = NULL;
    const bool has_memory = exchange_certificate(exchange, &certificate);

    if (!has_memory ||
        !identity_resolve(
            &exchange->exchanges->daemon->access,
            (struct origin){exchange_socket(exchange), certificate},
            &exchange->identity))
        exchange->identity = (struct identity){.rights = RIGHTS_NONE};
    free(certificate);
    if (!exchange_may_go_on(exchange))
        exchange_end(exchange, has_memory);
}

void exchanges_resolve(struct exchanges *exchanges)
{
    struct exchange *exchange = NULL;
    struct exchange *next = NULL;

    for (exchange = TAILQ_FIRST(&exchanges->all); exchange != NULL;
         exchange = next) {
        next = TAILQ_NEXT(exchange, entry);
        if (exchange->is_identified &&
            evhttp_request_get_connection(exchange->request) != NULL)
            exchange_resolve(exchange);
    }
}

void exchanges_cancel(struct exchanges *exchanges,
                      void (*refuse)(struct exchange *exchange))
{
    struct exchange *exchange = NULL;
    struct exchange *next = NULL;

    for (exchange = TAILQ_FIRST(&exchanges->all); exchange != NULL;
         exchange = next) {
        next = TAILQ_NEXT(exchange, entry);
        if (exchange->is_endless) {
            exchange_abort(exchange);
        } else if (!exchange->is_answered) {
            exchange_cancel(exchange);
            refuse(exchange);
        }
    }
}
