/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client of TLS sends, seen as it comes from the socket, before OpenSSL
 * sees it; see transport.h. A callback of the socket's BIO is called for both
 * protocols, also where libevent reads.
 */
#include "daemon/transport/transport.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/sslerr.h>

#include "daemon/limits/limits.h"

/* Of RFC 8446, 5.1 and 4. */
#define RECORD_CHANGE_CIPHER 20
#define RECORD_HANDSHAKE     22
#define MESSAGE_CLIENT_HELLO 1

/* Of a connection. It lives as long as its BIO. */
struct tls_input {
    struct tls_framing framing;
    const SSL *ssl;
    struct limits *limits;
    int64_t held; /* bytes, as counted by them */
};

/* --- the framing --- */

/* Fills a head of `size` bytes. Returns the bytes that it took. */
static size_t head_fill(struct tls_head *head, size_t size,
                        const unsigned char *data, size_t length)
{
    size_t taken = size - head->length;

    if (taken > length)
        taken = length;
    memcpy(head->bytes + head->length, data, taken);
    head->length += taken;
    return taken;
}

/* The head of a message is complete. */
static bool message_begin(struct tls_framing *framing)
{
    const unsigned char *bytes = framing->message.bytes;

    framing->message_left =
        (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
    framing->message.length = 0;
    return bytes[0] != MESSAGE_CLIENT_HELLO ||
           framing->message_left <= TLS_HELLO_MAX;
}

/* A part of the messages in records of handshakes, which is in the clear. */
static bool messages_add(struct tls_framing *framing, const unsigned char *data,
                         size_t length)
{
    while (length > 0) {
        size_t taken = framing->message_left;

        if (taken == 0) {
            taken =
                head_fill(&framing->message, TLS_MESSAGE_HEAD, data, length);
            if (framing->message.length == TLS_MESSAGE_HEAD &&
                !message_begin(framing))
                return false;
        } else {
            taken = taken < length ? taken : length;
            framing->message_left -= taken;
        }
        data += taken;
        length -= taken;
    }
    return true;
}

/* The head of a record is complete. In TLS 1.2 all is encrypted behind the
 * message that changes the cipher; in 1.3 that message means nothing. */
static void record_begin(struct tls_framing *framing, bool is_1_2)
{
    const unsigned char *bytes = framing->record.bytes;

    framing->record_left = (size_t)bytes[3] << 8 | bytes[4];
    if (bytes[0] == RECORD_CHANGE_CIPHER && is_1_2)
        framing->is_encrypted = true;
    if (framing->record_left == 0)
        framing->record.length = 0;
}

/* A part of a record's body. */
static bool record_add(struct tls_framing *framing, const unsigned char *data,
                       size_t length)
{
    framing->record_left -= length;
    if (framing->record_left == 0)
        framing->record.length = 0;
    return framing->is_encrypted ||
           framing->record.bytes[0] != RECORD_HANDSHAKE ||
           messages_add(framing, data, length);
}

bool tls_framing_add(struct tls_framing *framing, const void *data,
                     size_t length, bool is_1_2)
{
    const unsigned char *at = data;

    while (length > 0) {
        size_t taken = framing->record_left;

        if (taken == 0) {
            taken = head_fill(&framing->record, TLS_RECORD_HEAD, at, length);
            if (framing->record.length == TLS_RECORD_HEAD)
                record_begin(framing, is_1_2);
        } else {
            taken = taken < length ? taken : length;
            if (!record_add(framing, at, taken))
                return false;
        }
        at += taken;
        length -= taken;
    }
    return true;
}

bool tls_framing_is_within(const struct tls_framing *framing)
{
    return framing->record.length > 0;
}

/* --- the socket --- */

static bool input_add(struct tls_input *input, const char *data, size_t length)
{
    if (tls_framing_add(&input->framing, data, length,
                        SSL_version(input->ssl) == TLS1_2_VERSION))
        return true;
    ERR_raise(ERR_LIB_SSL, SSL_R_EXCESSIVE_MESSAGE_SIZE);
    return false;
}

/* `is_in_use`: OpenSSL keeps its buffer. It does so if a read of the socket has
 * stopped within a record, and while records are not taken completely. A
 * handshake is counted with its buffers. */
static void input_hold(struct tls_input *input, bool is_in_use)
{
    const bool holds = is_in_use && SSL_is_init_finished(input->ssl);

    limits_hold(input->limits, &input->held, holds ? LIMITS_RECORD_BYTES : 0);
}

static long input_read(struct tls_input *input, const char *data, size_t length,
                       int result)
{
    if (result > 0 && !input_add(input, data, length))
        return -1;
    input_hold(input, result <= 0 && tls_framing_is_within(&input->framing));
    return result;
}

static void input_free(struct tls_input *input)
{
    if (input != NULL)
        limits_hold(input->limits, &input->held, 0);
    free(input);
}

/* Called by OpenSSL around each call of the socket's BIO. The result replaces
 * that of the call. */
// NOLINTNEXTLINE(readability-function-size): OpenSSL sets the parameters.
static long on_socket(BIO *socket, int call, const char *data, size_t size,
                      int command, long argument, int result, size_t *length)
{
    struct tls_input *input = (void *)BIO_get_callback_arg(socket);

    (void)size;
    (void)command;
    (void)argument;
    if (call == BIO_CB_FREE)
        input_free(input);
    if (call != (BIO_CB_READ | BIO_CB_RETURN))
        return result;
    return input != NULL ? input_read(input, data, *length, result) : -1;
}

void tls_input_watch(const SSL *ssl, struct limits *limits)
{
    BIO *socket = SSL_get_rbio(ssl);
    struct tls_input *input = NULL;

    if (BIO_get_callback_ex(socket) == on_socket)
        return;
    input = calloc(1, sizeof *input);
    if (input != NULL)
        *input = (struct tls_input){.ssl = ssl, .limits = limits};
    BIO_set_callback_arg(socket, (char *)input); /* which frees it */
    BIO_set_callback_ex(socket, on_socket);      /* NOLINT(*-unix.Malloc) */
}

/* NULL: it is not watched. */
static struct tls_input *input_of(const SSL *ssl)
{
    const BIO *socket = ssl != NULL ? SSL_get_rbio(ssl) : NULL;

    if (socket == NULL || BIO_get_callback_ex(socket) != on_socket)
        return NULL;
    return (void *)BIO_get_callback_arg(socket);
}

void tls_input_note_rest(const SSL *ssl)
{
    struct tls_input *input = input_of(ssl);

    if (input != NULL)
        input_hold(input, SSL_has_pending(ssl) == 1);
}

bool tls_input_is_within(const SSL *ssl)
{
    const struct tls_input *input = input_of(ssl);

    return input != NULL && tls_framing_is_within(&input->framing);
}
