/* SPDX-License-Identifier: Apache-2.0 */
/* TLS between hiredis' reader and its socket; see secure.h. */
#include "ctl/secure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

/* --- the handshake --- */

static bool host_is_address(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];

    return inet_pton(AF_INET, host, address) == 1 ||
           inet_pton(AF_INET6, host, address) == 1;
}

/* Whom the certificate has to be of. */
static bool host_expect(SSL *ssl, const char *host)
{
    if (host_is_address(host))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 &&
           SSL_set_tlsext_host_name(ssl, host) == 1;
}

static enum seqb_status fail(struct seqb_error *err, const char *why)
{
    ERR_clear_error();
    err->status = SEQB_UNREACHABLE;
    snprintf(err->text, sizeof err->text, "TLS: %s", why);
    return err->status;
}

static enum seqb_status handshake_fail(const SSL *ssl, int result,
                                       struct seqb_error *err)
{
    const int error = errno;
    char reason[TLS_REASON_SIZE];

    if (ERR_peek_error() != 0) {
        tls_handshake_reason(ssl, reason);
        return fail(err, reason);
    }
    if (SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ)
        return fail(err, "the server did not answer the handshake in time");
    return fail(err, error != 0 ? strerror(error)
                                : "the server closed the connection: does "
                                  "this port speak TLS?");
}

enum seqb_status secure_open(redisContext *connection, const char *host,
                             const struct tls_client_files *files, SSL **out,
                             struct seqb_error *err)
{
    SSL_CTX *context = NULL;
    SSL *ssl = NULL;
    int result = 0;

    if (tls_client_context(files, &context, err) != SEQB_OK)
        return err->status;
    ssl = SSL_new(context);
    SSL_CTX_free(context); /* the connection keeps it */
    if (ssl == NULL || !host_expect(ssl, host) ||
        SSL_set_fd(ssl, connection->fd) != 1) {
        SSL_free(ssl);
        return fail(err, "out of memory");
    }
    errno = 0;
    result = SSL_connect(ssl);
    if (result != 1) {
        (void)handshake_fail(ssl, result, err);
        SSL_free(ssl);
        return err->status;
    }
    *out = ssl;
    return SEQB_OK;
}

/* --- requests and answers --- */

/* As hiredis notes it when a socket fails. */
static void connection_fail(redisContext *connection, const char *why)
{
    connection->err = REDIS_ERR_IO;
    snprintf(connection->errstr, sizeof connection->errstr, "%.*s",
             (int)sizeof connection->errstr - 1, why);
}

/* Why OpenSSL gave or took nothing; errno stays that of the socket. */
static void stop(redisContext *connection, const SSL *ssl, int result)
{
    const int error = errno;
    char reason[TLS_REASON_SIZE];

    if (SSL_get_error(ssl, result) == SSL_ERROR_ZERO_RETURN) {
        connection->err = REDIS_ERR_EOF;
        snprintf(connection->errstr, sizeof connection->errstr,
                 "Server closed the connection");
    } else if (ERR_peek_error() != 0) {
        tls_reason(reason);
        connection_fail(connection, reason);
    } else {
        connection_fail(connection, strerror(error));
    }
    ERR_clear_error();
    errno = error;
}

static bool secure_write(SSL *ssl, redisContext *connection, const char *text,
                         size_t length)
{
    while (length > 0) {
        const int put = SSL_write(ssl, text, (int)length);

        if (put <= 0) {
            stop(connection, ssl, put);
            return false;
        }
        text += put;
        length -= (size_t)put;
    }
    return true;
}

/* More for the reader; false if no more came. */
static bool secure_feed(SSL *ssl, redisContext *connection)
{
    char text[16384]; /* a record */
    const int got = SSL_read(ssl, text, sizeof text);

    if (got <= 0) {
        stop(connection, ssl, got);
        return false;
    }
    return redisReaderFeed(connection->reader, text, (size_t)got) == REDIS_OK;
}

redisReply *secure_reply(SSL *ssl, redisContext *connection)
{
    void *reply = NULL;

    for (;;) {
        if (redisReaderGetReply(connection->reader, &reply) != REDIS_OK) {
            connection_fail(connection, connection->reader->errstr);
            return NULL;
        }
        if (reply != NULL)
            return reply;
        if (!secure_feed(ssl, connection))
            return NULL;
    }
}

redisReply *secure_command(SSL *ssl, redisContext *connection, int argc,
                           const char **argv)
{
    char *text = NULL;
    const int length = redisFormatCommandArgv(&text, argc, argv, NULL);
    bool is_sent = false;

    if (length < 0) {
        connection_fail(connection, "out of memory");
        return NULL;
    }
    is_sent = secure_write(ssl, connection, text, (size_t)length);
    redisFreeCommand(text);
    return is_sent ? secure_reply(ssl, connection) : NULL;
}

void secure_close(SSL *ssl)
{
    if (ssl == NULL)
        return;
    (void)SSL_shutdown(ssl);
    ERR_clear_error();
    SSL_free(ssl);
}
