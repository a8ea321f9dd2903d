/* SPDX-License-Identifier: Apache-2.0 */
/* See secure.h. */
#include "net/secure.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

/* --- the socket as a BIO of OpenSSL --- */

static struct stream *stream_of(BIO *bio)
{
    return BIO_get_data(bio);
}

static int bio_done(BIO *bio, ssize_t count, int retry)
{
    BIO_clear_retry_flags(bio);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
    return (int)count;
}

static int bio_write(BIO *bio, const char *from, int size)
{
    return bio_done(bio,
                    send(stream_of(bio)->fd, from, (size_t)size, MSG_NOSIGNAL),
                    BIO_FLAGS_WRITE);
}

static int bio_read(BIO *bio, char *to, int size)
{
    return bio_done(bio, recv(stream_of(bio)->fd, to, (size_t)size, 0),
                    BIO_FLAGS_READ);
}

static long bio_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH; /* nothing is buffered here */
}

static BIO_METHOD *method; /* one for the process */

static void method_make(void)
{
    BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK,
                                    "socket without SIGPIPE");

    if (made == NULL || BIO_meth_set_write(made, bio_write) != 1 ||
        BIO_meth_set_read(made, bio_read) != 1 ||
        BIO_meth_set_ctrl(made, bio_control) != 1) {
        BIO_meth_free(made);
        return;
    }
    method = made;
}

static BIO *bio_new(struct stream *stream)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    BIO *bio = NULL;

    pthread_once(&once, method_make);
    if (method != NULL)
        bio = BIO_new(method);
    if (bio == NULL)
        return NULL;
    BIO_set_data(bio, stream);
    BIO_set_init(bio, 1);
    return bio;
}

/* --- the handshake --- */

static enum seqb_status begin_fail(struct seqb_error *err,
                                   enum seqb_status status, const char *why)
{
    ERR_clear_error();
    err->status = status;
    snprintf(err->text, sizeof err->text, "TLS: %s", why);
    return status;
}

/* Takes ownership of the bio, also on failure. */
static SSL *ssl_new(SSL_CTX *context, BIO *bio)
{
    SSL *ssl = bio != NULL ? SSL_new(context) : NULL;

    if (ssl == NULL) {
        BIO_free(bio);
        return NULL;
    }
    SSL_set_bio(ssl, bio, bio);
    SSL_set_connect_state(ssl);
    return ssl;
}

static enum seqb_status handshake_fail(const struct stream *stream,
                                       struct seqb_error *err)
{
    char reason[TLS_REASON_SIZE];

    if (ERR_peek_error() == 0)
        return begin_fail(err, SEQB_UNREACHABLE,
                          stream->has_ended
                              ? "the server closed the connection: does this "
                                "port speak TLS?"
                              : stream->failure);
    tls_handshake_reason(stream->ssl, reason);
    return begin_fail(err, SEQB_UNREACHABLE, reason);
}

/* The poll events that one step of OpenSSL has to wait for; 0: it failed. */
static short awaited(const SSL *ssl, int result)
{
    switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
        return POLLIN;
    case SSL_ERROR_WANT_WRITE:
        return POLLOUT;
    default:
        return 0;
    }
}

/* Notes why a read or write of OpenSSL failed. */
static void note_failure(struct stream *stream, int result)
{
    const int error = errno;
    char reason[TLS_REASON_SIZE];

    if (ERR_peek_error() != 0) {
        tls_reason(reason);
        snprintf(stream->failure, sizeof stream->failure, "TLS: %s", reason);
    } else if (SSL_get_error(stream->ssl, result) == SSL_ERROR_ZERO_RETURN ||
               error == 0) {
        stream->has_ended = true;
    } else {
        snprintf(stream->failure, sizeof stream->failure, "%s",
                 strerror(error));
    }
}

/* Offers the one protocol, in the form of RFC 7301, 3.1: after its length. */
static bool offer_protocol(SSL *ssl, const char *name)
{
    unsigned char list[16];
    const size_t length = strlen(name);

    if (length >= sizeof list)
        return false;
    list[0] = (unsigned char)length;
    memcpy(list + 1, name, length);
    return SSL_set_alpn_protos(ssl, list, (unsigned)length + 1) == 0;
}

enum seqb_status secure_begin(struct stream *stream,
                              const struct stream_target *target,
                              struct seqb_error *err)
{
    SSL_CTX *context = NULL;
    const enum seqb_status status =
        tls_client_context(target->tls, &context, err);

    if (status != SEQB_OK)
        return status;
    stream->ssl = ssl_new(context, bio_new(stream));
    SSL_CTX_free(context); /* the connection holds a reference */
    if (stream->ssl == NULL || !tls_expect_host(stream->ssl, target->host) ||
        (target->alpn != NULL && !offer_protocol(stream->ssl, target->alpn)))
        return begin_fail(err, SEQB_NO_MEMORY, "out of memory");
    return SEQB_OK;
}

bool secure_has_agreed(const struct stream *stream,
                       const struct stream_target *target)
{
    const unsigned char *name = NULL;
    unsigned length = 0;

    if (target->alpn == NULL)
        return true;
    SSL_get0_alpn_selected(stream->ssl, &name, &length);
    return length == strlen(target->alpn) &&
           memcmp(name, target->alpn, length) == 0;
}

enum secure_step secure_shake(struct stream *stream, struct seqb_error *err)
{
    int result;

    errno = 0;
    ERR_clear_error();
    stream->awaits_in = POLLIN;
    result = SSL_do_handshake(stream->ssl);
    if (result == 1)
        return SECURE_DONE;
    stream->awaits_in = awaited(stream->ssl, result);
    if (stream->awaits_in != 0)
        return SECURE_WAITS;
    note_failure(stream, result);
    (void)handshake_fail(stream, err);
    return SECURE_FAILED;
}

/* --- bytes --- */

static ssize_t step_done(struct stream *stream, int result, short *awaits,
                         short usual)
{
    *awaits = usual;
    if (result > 0)
        return result;
    *awaits = awaited(stream->ssl, result);
    if (*awaits != 0)
        return 0;
    *awaits = usual;
    note_failure(stream, result);
    ERR_clear_error();
    return -1;
}

static int bounded(size_t size)
{
    return size < INT_MAX ? (int)size : INT_MAX;
}

ssize_t secure_read(struct stream *stream, char *to, size_t size)
{
    errno = 0;
    ERR_clear_error();
    return step_done(stream, SSL_read(stream->ssl, to, bounded(size)),
                     &stream->awaits_in, POLLIN);
}

ssize_t secure_write(struct stream *stream, const char *from, size_t size)
{
    errno = 0;
    ERR_clear_error();
    return step_done(stream, SSL_write(stream->ssl, from, bounded(size)),
                     &stream->awaits_out, POLLOUT);
}

bool secure_holds(const struct stream *stream)
{
    return SSL_pending(stream->ssl) > 0;
}

const char *stream_tls(const struct stream *stream)
{
    return stream->ssl != NULL ? SSL_get_version(stream->ssl) : "none";
}

void secure_end(struct stream *stream)
{
    SSL_free(stream->ssl);
    stream->ssl = NULL;
}
