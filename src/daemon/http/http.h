/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP interface: probes, metrics, the status, and numbers (docs/http.md).
 * It runs on the loop of the Redis protocol, and uses its commands with
 * sessions of its own. The front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <seqbroker/status.h>

#define HTTP_PORTS_MAX 16

struct daemon;
struct event_base;
struct http;
struct inherited;
struct tls_server;

/* Where to listen; see listeners.h. All fields stay the caller's. */
struct http_places {
    struct inherited *inherited;
    const char *const *addresses; /* "ADDR:PORT" */
    size_t count;                 /* with tls_count at most HTTP_PORTS_MAX */
    const char *const *tls_addresses; /* the same, with TLS */
    size_t tls_count;
    struct tls_server *tls; /* NULL: no TLS */
    int timeout_s;          /* of clients that send or read nothing; 0: 10 */
};

/* Opens the sockets; clients are refused or wait until http_listen. `*out` is
 * NULL if nothing is configured. `daemon` and `base` stay the caller's.
 * SEQB_INVALID if an address cannot be used; SEQB_NO_MEMORY. */
enum seqb_status http_open(struct daemon *daemon, struct event_base *base,
                           const struct http_places *places, struct http **out,
                           struct seqb_error *err);

/* Lets clients connect. To be called when the daemon's broker is open.
 * SEQB_INVALID. NULL is allowed. */
enum seqb_status http_listen(struct http *http, struct seqb_error *err);

/* The addresses in use, without and with TLS, separated by commas, or "none".
 * NULL is allowed. */
const char *http_name(const struct http *http);
const char *http_tls_name(const struct http *http);

/* Accepts no more connections, and refuses the requests that wait. The loop is
 * broken when their answers are sent and the daemon is done. `keeps`: the
 * sockets stay open, and clients that connect wait for the process that gets
 * the sockets by http_release. NULL is allowed. */
void http_finish(struct http *http, bool keeps);

/* The table of users was replaced: closes the streams of clients that may not
 * read any more, and refuses requests that wait and are permitted no more. To
 * be called while both tables exist. NULL is allowed. */
void http_resolve(struct http *http);

/* Lists its listening sockets, which stay its own. NULL is allowed. */
void http_lend(const struct http *http, struct inherited *out);

/* Hands over duplicates of its listening sockets. To be called after
 * http_finish. NULL is allowed. */
void http_release(const struct http *http, struct inherited *out);

/* Closes all connections. To be called before the broker is closed. NULL and
 * half-built objects are allowed. */
void http_close(struct http *http);
