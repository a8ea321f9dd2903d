/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange: one request of HTTP and its answer. It lives until the answer is
 * sent, or its client has gone away. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include "daemon/access/access.h"

struct daemon;
struct exchange;
struct reports;
struct streams;
struct tls_peer;

TAILQ_HEAD(exchange_list, exchange);

/* What all exchanges share. */
struct exchanges {
    struct daemon *daemon;
    struct event_base *base;
    struct reports *reports;
    struct streams *streams;
    struct exchange_list all;
    int64_t held; /* bytes of their answers that are not sent */
};

/* What an exchange waits for; a member of it. */
struct pending {
    struct exchange *exchange;
    /* Nobody waits for it any more: ends and frees it, now or later. */
    void (*cancel)(struct pending *pending);
    /* Of an answer without an end: all that it has sent is with the socket. */
    void (*drained)(struct pending *pending);
};

struct exchange {
    struct exchanges *exchanges;
    TAILQ_ENTRY(exchange) entry;
    struct evhttp_request *request; /* libevent's, which frees it */
    struct pending *pending;        /* NULL: it need not wait */
    struct event *closed;           /* while it waits: the client went away */
    int64_t held; /* bytes of its answer, as counted by the daemon's limits */
    struct identity identity; /* who asks, if is_identified */
    bool is_identified;
    /* Routes it again, once it is known who asks. */
    void (*route)(struct exchange *exchange);
    bool is_answered; /* the answer is being sent */
    bool is_endless;  /* it is an answer without an end */
};

/* One for a request; NULL after answering it if memory is short. */
struct exchange *exchange_open(struct exchanges *exchanges,
                               struct evhttp_request *request);

/* The socket of its client. */
int exchange_socket(const struct exchange *exchange);

/* Who its client's certificate says that it is; for free. NULL: it has shown
 * none that was checked, or memory is short. */
struct tls_peer *exchange_certificate(const struct exchange *exchange);

/* It is answered later. A client that goes away meanwhile cancels. */
void exchange_wait(struct exchange *exchange, struct pending *pending);

/* What it waited for is there. */
void exchange_resume(struct exchange *exchange);

/* Whether an answer of so many bytes may be held, beside those of all clients.
 * One that is larger than all of them may be, is held while there is no other
 * one of HTTP. */
bool exchange_may_hold(const struct exchange *exchange, size_t size);

/* Sends the answer, with `body` (may be NULL), which it empties, as its
 * content. The exchange may be gone afterwards. */
void exchange_answer(struct exchange *exchange, int status, const char *type,
                     struct evbuffer *body);

/* The same for a text. */
void exchange_answer_text(struct exchange *exchange, int status,
                          const char *type, const char *text);

/* A header of the answer, before it is sent. */
void exchange_header(struct exchange *exchange, const char *name,
                     const char *value);

/* The header Retry-After: in so many ms, in whole seconds, 1 at least. */
void exchange_retry_after(struct exchange *exchange, int64_t ms);

/* Begins an answer without an end, which `pending` sends piece by piece, and
 * which no stop waits for. */
void exchange_begin(struct exchange *exchange, const char *type,
                    struct pending *pending);

/* Sends a piece of it. False: out of memory. */
bool exchange_send(struct exchange *exchange, const char *text, size_t length);

/* Bytes of such an answer that are not with the socket yet. */
size_t exchange_unsent(const struct exchange *exchange);

/* Closes the connection of such an answer, and so cancels what sends it. The
 * exchange is gone afterwards. */
void exchange_abort(struct exchange *exchange);

/* Another table of users holds: finds out again who asks, and aborts answers
 * without an end to those who may not read any more. */
void exchanges_resolve(struct exchanges *exchanges);

/* Aborts answers without an end, cancels what waits, and has `refuse` answer
 * instead. */
void exchanges_cancel(struct exchanges *exchanges,
                      void (*refuse)(struct exchange *exchange));
