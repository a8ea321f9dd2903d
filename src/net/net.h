/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: connections to servers, plain or by TLS, over TCP or a unix socket.
 * A call on one ends at its deadline, the look-up of a name included. Nothing
 * here raises SIGPIPE. One thread at a time uses a stream, which stays where it
 * is while it is open. And addresses, as texts. The front header of this
 * folder.
 */
#pragma once

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <openssl/types.h>

#include <seqbroker/status.h>

#include "tls/tls.h"

/* --- address.c, pure --- */

#define HOST_SIZE 256

struct address {
    char host[HOST_SIZE]; /* name or address; a socket's path if port is 0 */
    int port;
};

/* 1 ... 65535. */
bool port_parse(const char *text, int *out);

/* "host:port"; the host may be an IPv6 address, in brackets or not. False, and
 * `out` is of no use, if it is none or the host is too long. */
bool address_parse(const char *text, struct address *out);

bool address_equal(const struct address *a, const struct address *b);

/* --- stream.c --- */

#define STREAM_FAILURE_SIZE 320

/* Where a server listens, and how to speak to it. */
struct stream_target {
    const char *host; /* its name or address; a socket's path if port is 0 */
    int port;
    const struct tls_client_files *tls; /* NULL: plain */
};

struct stream {
    int fd;              /* -1: closed */
    SSL *ssl;            /* NULL: plain */
    int64_t deadline_ms; /* of the call under way, by clock_now_ms() */
    int32_t budget_ms;   /* its length, for messages */
    short awaits_in;     /* what poll(2) has to see before one can go on to */
    short awaits_out;    /* read, and to write */
    bool is_renewed;     /* what arrives begins the call's time anew; off as
                            it is opened */
    bool has_ended;      /* the server has closed it */
    char failure[STREAM_FAILURE_SIZE]; /* why it is of no use any more; "" */
};

/*
 * Connects within `budget_ms`, names, TLS and all; the addresses of a name are
 * tried in turn, each with its share of the time. A call is under way then,
 * which has what is left. SEQB_UNREACHABLE; SEQB_INVALID: a file of TLS, or a
 * path that is too long; SEQB_NO_MEMORY. The text of `err` is the reason alone,
 * without the server's name. Whatever it returns, stream_close may follow.
 */
enum seqb_status stream_open(struct stream *stream,
                             const struct stream_target *target,
                             int32_t budget_ms, struct seqb_error *err);

/* A call begins that must end within `budget_ms`. */
void stream_begin(struct stream *stream, int32_t budget_ms);

/* Waits until it may be possible to read, if `in`, or to write, if `out`.
 * False on failure or at the deadline. */
bool stream_wait(struct stream *stream, bool in, bool out);

/* Reads or writes what goes without waiting: how many bytes, 0 if none go now,
 * -1 on failure or at the server's end. `size` is at least 1. */
ssize_t stream_read(struct stream *stream, char *to, size_t size);
ssize_t stream_write(struct stream *stream, const char *from, size_t size);

/* Writes all; false on failure or at the deadline. */
bool stream_send(struct stream *stream, const char *from, size_t size);

/* Whether the call has passed its deadline. */
bool stream_is_late(const struct stream *stream);

/* The version of TLS, "TLSv1.3"; "none". Static. */
const char *stream_tls(const struct stream *stream);

/* Why a call on it failed: "no answer within 200 ms", "connection lost: ...".
 * The text lives in `out`. */
#define STREAM_WHY_SIZE (STREAM_FAILURE_SIZE + 32)
void stream_why(const struct stream *stream, char out[static STREAM_WHY_SIZE]);

/* Once is enough. It says nothing to the server: in a forked child the
 * connection is the parent's. */
void stream_close(struct stream *stream);

/* --- lookup.c --- */

/*
 * getaddrinfo(3) has no deadline: with a name server that does not answer it
 * takes 10 s by resolv.conf(5)'s defaults, and may take longer. So a thread of
 * its own asks, and nobody waits for that thread longer than the deadline.
 */

/* Look-ups that hang at a time, of the whole process: a further one fails at
 * once. An address needs none. */
#define LOOKUP_HANGING_MAX 32

/*
 * The addresses of a host, a name or an address, in the order in which they
 * are to be tried; for freeaddrinfo(3). NULL, or why there are none, a text
 * that lives for ever. `deadline_ms` is by clock_now_ms(). Any thread may call.
 */
const char *lookup_host(const char *host, int port, int64_t deadline_ms,
                        struct addrinfo **out);
