/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, writing and closing a client's socket; see transport.h. OpenSSL's
 * error queue is empty between two calls: each call that may fill it empties
 * it. */
#include "daemon/transport/transport.h"

#include <errno.h>
#include <limits.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "daemon/limits/limits.h"

/* --- reading --- */

/* Evaluates an SSL_read without data: returns 0 at the end, else -1 with
 * errno. */
static ssize_t tls_read_stopped(struct transport *transport, int result)
{
    const int why = SSL_get_error(transport->ssl, result);

    ERR_clear_error();
    if (why == SSL_ERROR_ZERO_RETURN)
        return 0;
    transport->reads_by_writing = why == SSL_ERROR_WANT_WRITE;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
        errno = EAGAIN;
        return -1;
    }
    transport->is_broken = true;
    errno = ECONNRESET;
    return -1;
}

/* SSL_read returns one record. The loop continues while more input is buffered,
 * so that a small request takes one read of the socket. */
static ssize_t tls_read(struct transport *transport, char *to, size_t size)
{
    size_t length = 0;

    transport->reads_by_writing = false;
    transport->holds_input = false;
    do {
        const size_t room = size - length;
        const int got = SSL_read(transport->ssl, to + length,
                                 room < INT_MAX ? (int)room : INT_MAX);

        if (got <= 0) {
            const ssize_t why = tls_read_stopped(transport, got);

            if (length == 0)
                return why;
            transport->holds_input = why == 0 || transport->is_broken;
            return (ssize_t)length;
        }
        length += (size_t)got;
    } while (length < size && SSL_has_pending(transport->ssl) == 1);
    transport->holds_input = SSL_has_pending(transport->ssl) == 1;
    tls_input_note_rest(transport->ssl);
    return (ssize_t)length;
}

ssize_t transport_read(struct transport *transport, void *to, size_t size)
{
    if (transport->ssl == NULL)
        return recv(transport->fd, to, size, 0);
    return tls_read(transport, to, size);
}

void transport_watch(const struct transport *transport, bool *reads,
                     bool *writes)
{
    if (!*reads || !transport->reads_by_writing)
        return;
    *reads = false;
    *writes = true;
}

/* --- writing --- */

/* Writes record after record until the socket is full. Writing never waits for
 * input, because there is no second handshake. */
static ssize_t tls_write(struct transport *transport, const char *from,
                         size_t size)
{
    size_t length = 0;

    while (length < size) {
        const size_t rest = size - length;
        const int put = SSL_write(transport->ssl, from + length,
                                  rest < INT_MAX ? (int)rest : INT_MAX);

        if (put > 0) {
            length += (size_t)put;
            continue;
        }
        transport->is_broken =
            SSL_get_error(transport->ssl, put) != SSL_ERROR_WANT_WRITE;
        ERR_clear_error();
        break;
    }
    if (length > 0)
        return (ssize_t)length;
    errno = transport->is_broken ? EPIPE : EAGAIN;
    return -1;
}

ssize_t transport_write(struct transport *transport, const void *from,
                        size_t size)
{
    if (transport->ssl == NULL)
        return send(transport->fd, from, size, MSG_NOSIGNAL);
    return tls_write(transport, from, size);
}

/* --- the end --- */

static void tls_end(struct transport *transport)
{
    if (transport->ssl == NULL || transport->is_broken)
        return;
    (void)SSL_shutdown(transport->ssl);
    ERR_clear_error();
}

void transport_end(struct transport *transport)
{
    tls_end(transport);
    shutdown(transport->fd, SHUT_WR);
}

void transport_close(struct transport *transport, bool tells)
{
    if (tells)
        tls_end(transport);
    SSL_free(transport->ssl);
    transport->ssl = NULL;
    source_leave(transport->source);
    transport->source = NULL;
    if (transport->limits != NULL)
        limits_hold(transport->limits, &transport->held, 0);
    close(transport->fd);
}
