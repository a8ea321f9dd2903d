/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange: one HTTP request and its answer. It lives until the answer is
 * sent, or until its client has closed the connection. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include <seqbroker/seqbroker.h>

#include "daemon/access/access.h"

struct daemon;
struct exchange;
struct http_clients;
struct reports;
struct streams;
struct tls_peer;
struct turns;

TAILQ_HEAD(exchange_list, exchange);

/* What all exchanges share. */
struct exchanges {
    struct daemon *daemon;
    struct event_base *base;
    struct reports *reports;
    struct streams *streams;
    struct turns *turns; /* of takes that need several */
    struct exchange_list all;
    int64_t held; /* bytes of their answers that are not sent yet */
};

/* What an exchange waits for, such as a report. It is a member of the struct
 * that does the work. */
struct pending {
    struct exchange *exchange;
    /* The exchange waits no more: ends the work and frees its struct, now or
     * later. */
    void (*cancel)(struct pending *pending);
    /* Called during an answer without an end, when all that was sent is in the
     * socket. */
    void (*drained)(struct pending *pending);
};

struct exchange {
    struct exchanges *exchanges;
    TAILQ_ENTRY(exchange) entry;
    struct evhttp_request *request; /* libevent's, which frees it */
    struct pending *pending;        /* NULL: it need not wait */
    struct event *closed; /* while it waits: fires when the client closes */
    int64_t held; /* bytes of its answer, as counted by the daemon's limits */
    int64_t held_request;         /* the same of its request */
    struct http_clients *clients; /* its connection is one of these */
    struct identity identity;     /* who the client is, if is_identified */
    bool is_identified;
    enum right needs;           /* of the client, once it is admitted */
    char key[SEQB_KEY_MAX + 1]; /* the same; "": the request has no key */
    /* Routes the request again, after the client was identified. */
    void (*route)(struct exchange *exchange);
    bool is_answered; /* the answer is being sent */
    bool is_endless;  /* the answer has no end */
    bool is_short;    /* there was no memory for a part of the answer's head */
};

/* Opens the exchange of a request. NULL if memory is short; the request is
 * answered then. */
struct exchange *exchange_open(struct exchanges *exchanges,
                               struct evhttp_request *request);

/* Counts the bytes of its request from now on, until the exchange is closed.
 * `clients` has counted them. To be called before it can be answered. */
void exchange_take_over(struct exchange *exchange,
                        struct http_clients *clients);

/* Counts its connection as one of the user that has sent it. False if that user
 * has as many as it may. */
bool exchange_enter(const struct exchange *exchange);

/* The socket of its client. */
int exchange_socket(const struct exchange *exchange);

/* Reads the client's verified certificate as tls_peer_read does. NULL also if
 * the client does not speak TLS. If it returns false, the connection must
 * end. */
bool exchange_certificate(const struct exchange *exchange,
                          struct tls_peer **out);

/* The exchange waits for `pending` and is answered later. If the client closes
 * meanwhile, pending->cancel is called. */
void exchange_wait(struct exchange *exchange, struct pending *pending);

/* The exchange waits no more, and can be answered. */
void exchange_resume(struct exchange *exchange);

/* Overwrites the secrets in the request's headers: libevent keeps them until
 * the request is freed, and does not wipe them. An answer does it, too. */
void exchange_wipe(const struct exchange *exchange);

/* Whether an answer of `size` bytes may be held within the memory of all
 * clients. Any size may if no other answer of HTTP is held, so that an answer
 * larger than the limit is possible. */
bool exchange_may_hold(const struct exchange *exchange, size_t size);

/* Sends the answer with the content of `body` (may be NULL), which is emptied.
 * If memory is short for the whole answer, closes the connection. The exchange
 * may be gone afterwards. */
void exchange_answer(struct exchange *exchange, int status, const char *type,
                     struct evbuffer *body);

/* The same for a text. */
void exchange_answer_text(struct exchange *exchange, int status,
                          const char *type, const char *text);

/* Adds a header to the answer, which must not be sent yet. */
void exchange_header(struct exchange *exchange, const char *name,
                     const char *value);

/* Adds the header Retry-After: `ms`, rounded up to seconds, at least 1. */
void exchange_retry_after(struct exchange *exchange, int64_t ms);

/* Begins an answer without an end, which `pending` sends in parts. A stop of
 * the daemon does not wait for it. False if memory is short: nothing is begun,
 * and the exchange can be answered. */
bool exchange_begin(struct exchange *exchange, const char *type,
                    struct pending *pending);

/* Sends a part of such an answer. False if memory is short. */
bool exchange_send(struct exchange *exchange, const char *text, size_t length);

/* Bytes of such an answer that are not in the socket yet. */
size_t exchange_unsent(const struct exchange *exchange);

/* Closes the connection of such an answer, which cancels its `pending`. The
 * exchange is gone afterwards. */
void exchange_abort(struct exchange *exchange);

/* The table of users was replaced: identifies all clients again. Of those that
 * may not do any more what they asked for, answers without an end are aborted,
 * and requests that wait are refused. */
void exchanges_resolve(struct exchanges *exchanges);

/* Aborts answers without an end. Cancels what exchanges wait for, and calls
 * `refuse` to answer them. */
void exchanges_cancel(struct exchanges *exchanges,
                      void (*refuse)(struct exchange *exchange));
