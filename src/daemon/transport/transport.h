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
struct daemon;
struct tls_server;

/* Reads the certificate files. From now on it reads them again when they have
 * changed, or about every minute if that failed, and checks once a day whether
 * the certificate expires soon.
 * `settings`, `base` and `daemon`, which counts the handshakes and the memory
 * of records, stay the caller's. Errors are those of tls_server_context;
 * SEQB_INVALID without a certificate. */
enum seqb_status tls_server_open(const struct tls_settings *settings,
                                 struct event_base *base, struct daemon *daemon,
                                 struct tls_server **out,
                                 struct seqb_error *err);

/* The server's side of a connection before its handshake, for SSL_free. A
 * failed handshake is logged. NULL if memory is short. */
SSL *tls_server_accept(struct tls_server *server);

/* Logs that the handshake at socket `fd` failed, at most one line a second. */
void tls_server_log(struct tls_server *server, int fd, const char *reason);

/* Checks the files, and reads them if it is time to. Called by the loop every
 * 2 s; also for tests. */
void tls_server_poll(struct tls_server *server, int64_t now_ms);

/* NULL is allowed, and does nothing. */
void tls_server_close(struct tls_server *server);

/* --- records.c: the time that a peer of HTTPS takes for its handshake and for
 * each record, which may come byte by byte: libevent reports only what was
 * decrypted --- */

struct records {
    int64_t begun_ms; /* of the handshake, or about when a record that is not
                         complete began; 0: there is none */
    uint64_t read;    /* encrypted bytes until the end of the last record */
    bool is_open;     /* the handshake is complete */
};

/* The connection was made at `now_ms`. */
void records_begin(struct records *records, int64_t now_ms);

/* Bytes were decrypted. `ssl` may be NULL: the connection is without TLS. */
void records_note(struct records *records, const SSL *ssl);

/* Whether the handshake or a record takes `most_ms` or longer (0: never). To be
 * called again and again: a record begins when this is called. `ssl` may be
 * NULL. */
bool records_are_late(struct records *records, const SSL *ssl, int64_t now_ms,
                      int64_t most_ms);

/* --- tls_input.c: what a client of TLS sends, before OpenSSL sees it --- */

/* The most bytes of a ClientHello. OpenSSL has one of up to 131,396, and
 * allocates as much as the client announces. */
#define TLS_HELLO_MAX 16384

#define TLS_RECORD_HEAD  5 /* bytes */
#define TLS_MESSAGE_HEAD 4

struct tls_head {
    unsigned char bytes[TLS_RECORD_HEAD];
    size_t length;
};

/* Where the bytes so far end, in records and in the messages of the handshake.
 * Zeroed is the begin. */
struct tls_framing {
    struct tls_head record; /* empty between two records */
    size_t record_left;     /* bytes of its body that are still to come */
    struct tls_head message;
    size_t message_left;
    bool is_encrypted; /* messages can no longer be seen */
};

/* Adds what has come. `is_1_2`: the handshake has agreed on TLS 1.2. False if a
 * ClientHello announces more than TLS_HELLO_MAX bytes. */
bool tls_framing_add(struct tls_framing *framing, const void *data,
                     size_t length, bool is_1_2);

/* Whether a record has begun and is not complete. */
bool tls_framing_is_within(const struct tls_framing *framing);

/* From now on, until the socket's BIO is freed, nothing of a connection is
 * passed to OpenSSL behind a ClientHello that is too large: the read fails with
 * SSL_R_EXCESSIVE_MESSAGE_SIZE. After the handshake, `limits` count the buffer
 * of records that are not complete, or not read completely. To be called when
 * the handshake begins. If memory is short, all reads fail. */
void tls_input_watch(const SSL *ssl, struct limits *limits);

/* To be called after a read that has returned data: counts the buffer if
 * OpenSSL holds more. */
void tls_input_note_rest(const SSL *ssl);

/* Whether a part of a record has come. False without TLS (NULL). */
bool tls_input_is_within(const SSL *ssl);

/* ms within which a record has to be complete while all memory for clients is
 * in use. */
#define TLS_FULL_MS 1000
