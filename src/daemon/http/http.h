/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP interface: probes, metrics, the status, and numbers (docs/http.md).
 * It shares the loop with the Redis protocol, and commands with its sessions.
 * The front header of this folder.
 */
#pragma once

#include <stdbool.h>

#include <seqbroker/status.h>

struct daemon;
struct event_base;
struct http;
struct inherited;
struct tls_server;

/* Where it listens: at inherited sockets of its kinds, else at addresses. All
 * stay the caller's. */
struct http_places {
    const struct inherited *inherited;
    const char *address;     /* "ADDR:PORT"; NULL: nowhere */
    const char *tls_address; /* the same, by TLS */
    struct tls_server *tls;  /* NULL: nobody comes by TLS */
};

/* Takes its sockets, where clients are refused or wait until http_listen.
 * `*out` is NULL if there are none. `daemon` and `base` stay the caller's.
 * SEQB_INVALID: an address cannot be used; SEQB_NO_MEMORY. */
enum seqb_status http_open(struct daemon *daemon, struct event_base *base,
                           const struct http_places *places, struct http **out,
                           struct seqb_error *err);

/* From now on clients can connect: the daemon's broker is open. SEQB_INVALID.
 * Takes NULL. */
enum seqb_status http_listen(struct http *http, struct seqb_error *err);

/* The addresses in use, without and with TLS; "none". Take NULL. */
const char *http_name(const struct http *http);
const char *http_tls_name(const struct http *http);

/* Takes no new connection, and refuses what waits for a number. The loop is
 * broken when that is sent and the daemon is done. `keeps`: clients that
 * connect wait for who gets the socket by http_release. Takes NULL. */
void http_finish(struct http *http, bool keeps);

/* Another table of users holds: streams of those who may not read any more are
 * closed. To be called while both tables are there. Takes NULL. */
void http_resolve(struct http *http);

/* Gives its sockets away, as they listen; to be called after http_finish. Takes
 * NULL. */
void http_release(struct http *http, struct inherited *out);

/* Closes all connections; to be called before the broker is closed. Takes NULL
 * and half-built ones. */
void http_close(struct http *http);
