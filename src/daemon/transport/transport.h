/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket of a client, plain or with TLS: nonblocking reading and writing in
 * the manner of recv and send. Handshakes happen before (handshakes/). The
 * connection sets up the events of the loop. The front header of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <openssl/types.h>

#include <seqbroker/status.h>

#include "tls/tls.h"

struct event_base;
struct limits;
struct source;

/* --- transport.c --- */

struct transport {
    int fd;
    struct source *source; /* the address that counts it; NULL: not counted */
    SSL *ssl;              /* NULL: plain. The handshake is done */
    struct limits *limits; /* that count it, if it has TLS */
    int64_t held;          /* bytes, as counted by them */
    bool reads_by_writing; /* TLS has to write before it can read */
    /* Input, or its end, is buffered in TLS and no longer in the socket: the
     * loop will not report it as readable. */
    bool holds_input;
    bool is_broken; /* TLS has failed: it sends no close_notify */
};

/* As recv: returns the number of bytes, 0 at the end, or -1 with errno (EAGAIN:
 * no input now). With TLS it fills `to` as far as it can. */
ssize_t transport_read(struct transport *transport, void *to, size_t size);

/* Changes what the caller wants to do next, read or write, into what the socket
 * must be watched for. */
void transport_watch(const struct transport *transport, bool *reads,
                     bool *writes);

/* As send. The next write must begin with the bytes that were not written. */
ssize_t transport_write(struct transport *transport, const void *from,
                        size_t size);

/* Tells the peer that we send no more. What the peer sends may still be read
 * from the socket, but has to be discarded. */
void transport_end(struct transport *transport);

/* Closes the transport, which no longer counts at its source. `tells`: sends
 * close_notify, unless transport_end has done so. */
void transport_close(struct transport *transport, bool tells);

/* --- tls_server.c --- */

/* The TLS context of the daemon, and its reload. */
struct tls_server;
struct counts;

/* Reads the certificate files. From now on it reads them again when they have
 * changed, and checks once a day whether the certificate expires soon.
 * `settings`, `base` and `counts`, which counts the handshakes, stay the
 * caller's. Errors are those of tls_server_context; SEQB_INVALID without a
 * certificate. */
enum seqb_status tls_server_open(const struct tls_settings *settings,
                                 struct event_base *base, struct counts *counts,
                                 struct tls_server **out,
                                 struct seqb_error *err);

/* The server's side of a connection before its handshake, for SSL_free. A
 * failed handshake is logged. NULL if memory is short. */
SSL *tls_server_accept(struct tls_server *server);

/* Logs that the handshake at socket `fd` failed, at most one line a second. */
void tls_server_log(struct tls_server *server, int fd, const char *reason);

/* NULL is allowed, and does nothing. */
void tls_server_close(struct tls_server *server);
