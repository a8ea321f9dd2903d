/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: connections to servers, plain or by TLS, over TCP or a unix socket.
 * A call on a stream ends at its deadline, the look-up of a name included.
 * Nothing here raises SIGPIPE. Only one thread at a time may use a stream. An
 * open stream must not be moved in memory. The header also parses addresses. It
 * is the front header of the folder.
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

/* Parses "host:port"; the host may be an IPv6 address, with or without
 * brackets. False if the text is anything else or the host is too long; the
 * content of `out` is then of no use. */
bool address_parse(const char *text, struct address *out);

bool address_equal(const struct address *a, const struct address *b);

/* --- stream.c --- */

#define STREAM_FAILURE_SIZE 320

/* The address of a server, and whether to use TLS. */
struct stream_target {
    const char *host; /* name or address; a socket's path if port is 0 */
    int port;
    const struct tls_client_files *tls; /* NULL: plain */
    const char *alpn; /* the protocol that a server by TLS has to agree to, as
                         "h2"; NULL: any */
};

struct stream {
    int fd;              /* -1: closed */
    SSL *ssl;            /* NULL: plain */
    int64_t deadline_ms; /* of the current call, by clock_now_ms() */
    int32_t budget_ms;   /* the time of the current call, for messages */
    short awaits_in;     /* the poll(2) events to wait for ... */
    short awaits_out;    /* ... before a read, and before a write */
    bool is_renewed;     /* each arrival of bytes restarts the call's time;
                            stream_open sets it to false */
    bool has_ended;      /* the server has closed it */
    char failure[STREAM_FAILURE_SIZE]; /* why the stream is of no use any more;
                                          "" */
};

/*
 * Connects within `budget_ms`, including the look-up of the name and the TLS
 * handshake. The addresses of a name are tried in turn, each for its share of
 * the time, until one shakes hands. The rest of the time is that of the first
 * call. SEQB_UNREACHABLE. SEQB_INVALID: a TLS file is wrong, or a path is too
 * long. SEQB_NO_MEMORY. The text of `err` is the reason alone, without the
 * server's name. stream_close may follow after any status.
 */
enum seqb_status stream_open(struct stream *stream,
                             const struct stream_target *target,
                             int32_t budget_ms, struct seqb_error *err);

/* Begins a call, which has to end within `budget_ms`. */
void stream_begin(struct stream *stream, int32_t budget_ms);

/* Waits until a read (`in`) or a write (`out`) may be possible. False on
 * failure or at the deadline. */
bool stream_wait(struct stream *stream, bool in, bool out);

/* Reads or writes as many bytes as possible without waiting. Returns the number
 * of bytes; 0: none now; -1: failure, or the server closed the connection.
 * `size` is at least 1. */
ssize_t stream_read(struct stream *stream, char *to, size_t size);
ssize_t stream_write(struct stream *stream, const char *from, size_t size);

/* Writes all bytes. False on failure or at the deadline. */
bool stream_send(struct stream *stream, const char *from, size_t size);

/* Whether the call has passed its deadline. */
bool stream_is_late(const struct stream *stream);

/* The version of TLS, "TLSv1.3"; "none". Static. */
const char *stream_tls(const struct stream *stream);

/* Why a call on the stream failed: "no answer within 200 ms", "connection lost:
 * ...". The text is written to `out`. */
#define STREAM_WHY_SIZE (STREAM_FAILURE_SIZE + 32)
void stream_why(const struct stream *stream, char out[static STREAM_WHY_SIZE]);

/* One call is enough for any stream. It sends nothing to the server: in a
 * forked child the connection is the parent's. */
void stream_close(struct stream *stream);

/* --- lookup.c --- */

/*
 * getaddrinfo(3) has no deadline: if a name server does not answer, it takes 10
 * s by the defaults of resolv.conf(5), and may take longer. So a thread of its
 * own calls it, and the caller waits for that thread only until the deadline.
 */

/* The most look-ups that may hang at a time in the process: a further one fails
 * at once. The look-up of an address is not counted. */
#define LOOKUP_HANGING_MAX 32

/*
 * The addresses of a host, which is a name or an address, in the order in which
 * to try them. Free them with freeaddrinfo(3). Returns NULL, or a static text
 * that says why there are none. `deadline_ms` is by clock_now_ms(). Any thread
 * may call it.
 */
const char *lookup_host(const char *host, int port, int64_t deadline_ms,
                        struct addrinfo **out);
