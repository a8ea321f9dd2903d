/* SPDX-License-Identifier: Apache-2.0 */
/* Handshakes and records of TLS that come byte by byte. Both ends are in
 * memory, and without certificates. */
#include "daemon/transport/transport.h"

#include <openssl/bio.h>
#include <openssl/ssl.h>

#include "support/test.h"

#define CIPHER  "ADH-AES128-GCM-SHA256:@SECLEVEL=0"
#define MOST_MS 100

struct ends {
    SSL_CTX *context;
    SSL *server, *client;
    struct records records;
};

static SSL *end_new(SSL_CTX *context)
{
    SSL *ssl = SSL_new(context);

    assert_true(ssl != NULL);
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    return ssl;
}

static struct ends ends_begin(void)
{
    struct ends ends = {.context = SSL_CTX_new(TLS_method())};

    assert_true(ends.context != NULL);
    assert_true(SSL_CTX_set_max_proto_version(ends.context, TLS1_2_VERSION) ==
                1);
    assert_true(SSL_CTX_set_cipher_list(ends.context, CIPHER) == 1);
    assert_true(SSL_CTX_set_dh_auto(ends.context, 1) == 1);
    ends.server = end_new(ends.context);
    ends.client = end_new(ends.context);
    SSL_set_accept_state(ends.server);
    SSL_set_connect_state(ends.client);
    records_begin(&ends.records, 1000);
    return ends;
}

static void ends_end(struct ends *ends)
{
    SSL_free(ends->server);
    SSL_free(ends->client);
    SSL_CTX_free(ends->context);
}

/* Carries up to `most` bytes. */
static void carry(SSL *from, SSL *to, int most)
{
    char bytes[16384];
    const int got = BIO_read(SSL_get_wbio(from), bytes, most);

    if (got > 0)
        assert_true(BIO_write(SSL_get_rbio(to), bytes, got) == got);
}

static void shake_hands(struct ends *ends)
{
    for (int i = 0; i < 10; i++) {
        (void)SSL_do_handshake(ends->client);
        carry(ends->client, ends->server, 16384);
        (void)SSL_do_handshake(ends->server);
        carry(ends->server, ends->client, 16384);
    }
    assert_true(SSL_is_init_finished(ends->server));
}

/* The server reads what has come. */
static int server_read(struct ends *ends)
{
    char bytes[100];
    const int got = SSL_read(ends->server, bytes, sizeof bytes);

    if (got > 0)
        records_note(&ends->records, ends->server);
    return got;
}

static bool is_late(struct ends *ends, int64_t now_ms)
{
    return records_are_late(&ends->records, ends->server, now_ms, MOST_MS);
}

TEST(handshake_has_a_deadline_however_its_bytes_come)
{
    struct ends ends = ends_begin();

    (void)SSL_do_handshake(ends.client);
    for (int64_t now_ms = 1000; now_ms < 1000 + MOST_MS; now_ms += 10) {
        assert_false(is_late(&ends, now_ms));
        carry(ends.client, ends.server, 1);
        (void)SSL_do_handshake(ends.server);
    }
    assert_true(is_late(&ends, 1000 + MOST_MS));
    assert_false(records_are_late(&ends.records, ends.server, 5000, 0));
    ends_end(&ends);
}

TEST(record_has_a_deadline_however_its_bytes_come)
{
    struct ends ends = ends_begin();

    shake_hands(&ends);
    assert_false(is_late(&ends, 5000)); /* it says nothing */
    assert_false(is_late(&ends, 6000));
    assert_true(SSL_write(ends.client, "GET", 3) == 3);
    for (int64_t now_ms = 6000; now_ms <= 6000 + MOST_MS; now_ms += 20) {
        carry(ends.client, ends.server, 1);
        assert_true(server_read(&ends) < 0);
        assert_int_equal(is_late(&ends, now_ms), now_ms == 6000 + MOST_MS);
    }
    ends_end(&ends);
}

TEST(record_that_is_complete_ends_the_clock)
{
    struct ends ends = ends_begin();

    shake_hands(&ends);
    assert_false(is_late(&ends, 5000));
    for (int64_t now_ms = 6000; now_ms < 8000; now_ms += 1000) {
        assert_true(SSL_write(ends.client, "GET", 3) == 3);
        carry(ends.client, ends.server, 1);
        assert_true(server_read(&ends) < 0);
        assert_false(is_late(&ends, now_ms));
        carry(ends.client, ends.server, 16384);
        assert_int_equal(server_read(&ends), 3);
        assert_false(is_late(&ends, now_ms + MOST_MS));
    }
    ends_end(&ends);
}

TEST(connection_without_tls_has_no_records)
{
    struct records records;

    records_begin(&records, 1000);
    records_note(&records, NULL);
    assert_false(records_are_late(&records, NULL, 9000, MOST_MS));
}
