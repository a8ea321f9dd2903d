/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket of a client, plain or with TLS: bytes in and out, without
 * blocking, as recv and send have them. Handshakes come before (handshakes/);
 * whom the loop calls is the connection's affair. The front header of this
 * folder.
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
struct source;

/* --- transport.c --- */

struct transport {
    int fd;
    struct source *source; /* where it comes from; NULL: it is not counted */
    SSL *ssl;              /* NULL: a plain one. Its handshake is done */
    bool reads_by_writing; /* reading goes on once the socket has room */
    /* Bytes, or the end, have come of which the socket knows no more: the loop
     * does not tell of them. */
    bool holds_input;
    bool is_broken; /* TLS has failed, and says no end */
};

/* As recv: the number of bytes, 0 at the end, -1 with errno (EAGAIN: nothing is
 * there). With TLS it fills `to` as far as it can. */
ssize_t transport_read(struct transport *transport, void *to, size_t size);

/* Of what the socket is watched for, so that reading and writing go on. */
void transport_watch(const struct transport *transport, bool *reads,
                     bool *writes);

/* As send. What is not written must be the begin of the next write. */
ssize_t transport_write(struct transport *transport, const void *from,
                        size_t size);

/* We send no more, as the peer is told. What it sends may still be read from
 * the socket, and means nothing. */
void transport_end(struct transport *transport);

/* Closes it; its source has a connection less. `tells`: a peer that was not
 * told of the end is. */
void transport_close(struct transport *transport, bool tells);

/* --- tls_server.c --- */

/* What the daemon's TLS is made with. */
struct tls_server;
struct counts;

/* Reads the files. From now on it reads them again once they have changed, and
 * looks once a day whether the certificate expires. `settings`, `base` and the
 * counts of handshakes stay the caller's. Errors as of tls_server_context;
 * SEQB_INVALID without a certificate. */
enum seqb_status tls_server_open(const struct tls_settings *settings,
                                 struct event_base *base, struct counts *counts,
                                 struct tls_server **out,
                                 struct seqb_error *err);

/* Our side of a connection, which waits for a handshake; for SSL_free. One that
 * fails is logged. NULL if memory is short. */
SSL *tls_server_accept(struct tls_server *server);

/* Logs that the handshake at a socket failed, a line a second at most. */
void tls_server_log(struct tls_server *server, int fd, const char *reason);

/* NULL is allowed, and does nothing. */
void tls_server_close(struct tls_server *server);
