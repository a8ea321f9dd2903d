/* SPDX-License-Identifier: Apache-2.0 */
/* Handshakes and records that take too long; see transport.h. */
#include "daemon/transport/transport.h"

#include <stddef.h>

#include <openssl/ssl.h>

/* Encrypted bytes that were read of the socket. */
static uint64_t bytes_read(const SSL *ssl)
{
    BIO *from = SSL_get_rbio(ssl);

    return from != NULL ? BIO_number_read(from) : 0;
}

void records_begin(struct records *records, int64_t now_ms)
{
    *records = (struct records){.begun_ms = now_ms};
}

void records_note(struct records *records, const SSL *ssl)
{
    if (ssl == NULL)
        return;
    records->is_open = true;
    records->read = bytes_read(ssl);
    records->begun_ms = 0;
}

bool records_are_late(struct records *records, const SSL *ssl, int64_t now_ms,
                      int64_t most_ms)
{
    if (ssl == NULL)
        return false;
    if (!records->is_open && SSL_is_init_finished(ssl))
        records_note(records, ssl);
    if (records->begun_ms == 0 && bytes_read(ssl) > records->read)
        records->begun_ms = now_ms;
    return records->begun_ms != 0 && most_ms > 0 &&
           now_ms - records->begun_ms >= most_ms;
}
