/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing by TLS as a connection does, and who a peer's certificate
 * says that it is. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/crypto.h>
#include <openssl/ssl.h>

#include "daemon/transport/transport.h"
#include "support/test.h"
#include "support/tls_pair.h"
#include "support/wrap.h"

#define NAMES "DNS:a.example,email:b@c.example,URI:spiffe://d/e,IP:127.0.0.1"

#define BIG 100000 /* bytes: several records */

/* Then one allocation fails. */
static size_t allocations_left = SIZE_MAX;

static bool allocation_fails(void)
{
    if (allocations_left == SIZE_MAX)
        return false;
    return allocations_left-- == 0;
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

static void *openssl_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return allocation_fails() ? NULL : malloc(size);
}

static void *openssl_realloc(void *old, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    return allocation_fails() ? NULL : realloc(old, size);
}

static void openssl_free(void *old, const char *file, int line)
{
    (void)file;
    (void)line;
    free(old);
}

/* OpenSSL accepts that only before its first allocation. */
static int openssl_prepare(void **state)
{
    (void)state;
    return CRYPTO_set_mem_functions(openssl_malloc, openssl_realloc,
                                    openssl_free) == 1
               ? 0
               : -1;
}

TEST_BEFORE_ALL(openssl_prepare);

/* A server's transport, and a client at its other end. */
struct scene {
    struct tls_files files;
    struct tls_pair pair;
    struct transport transport;
};

static int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    signal(SIGPIPE, SIG_IGN); /* as main.c has it */
    tls_files_make(&scene->files, "client-1", NAMES);
    tls_pair_open(&scene->pair, &scene->files);
    scene->transport = (struct transport){.fd = scene->pair.server_fd,
                                          .ssl = scene->pair.server};
    /* the transport's from now on */
    scene->pair.server = NULL;
    scene->pair.server_fd = -1;
    *state = scene;
    return 0;
}

static int scene_teardown(void **state)
{
    struct scene *scene = *state;

    transport_close(&scene->transport, true);
    tls_pair_close(&scene->pair);
    tls_files_remove(&scene->files);
    free(scene);
    return 0;
}

#define SCENE FIXTURE(struct scene *scene, scene_setup, scene_teardown)

static void client_send(const struct scene *scene, const char *text)
{
    assert_int_equal(SSL_write(scene->pair.client, text, (int)strlen(text)),
                     strlen(text));
}

static void expect_read(struct scene *scene, size_t size, const char *expected)
{
    char text[64] = "";

    assert_int_equal(transport_read(&scene->transport, text, size),
                     strlen(expected));
    assert_string_equal(text, expected);
}

static void expect_nothing(struct scene *scene)
{
    char text[64];

    errno = 0;
    assert_int_equal(transport_read(&scene->transport, text, sizeof text), -1);
    assert_int_equal(errno, EAGAIN);
    assert_false(scene->transport.holds_input);
}

TEST_WITH(SCENE, records_that_came_together_are_read_together)
{
    client_send(scene, "one");
    client_send(scene, "two");
    expect_read(scene, 64, "onetwo");
    expect_nothing(scene);
}

TEST_WITH(SCENE, what_does_not_fit_is_held_and_said_to_be)
{
    client_send(scene, "one");
    client_send(scene, "two");
    expect_read(scene, 2, "on");
    assert_true(scene->transport.holds_input);
    expect_read(scene, 2, "et");
    assert_true(scene->transport.holds_input);
    expect_read(scene, 64, "wo");
    assert_false(scene->transport.holds_input);
}

TEST_WITH(SCENE, part_of_a_record_is_nothing_yet)
{
    BIO *memory = BIO_new(BIO_s_mem());
    char record[256];
    int length = 0;

    SSL_set0_wbio(scene->pair.client, memory);
    client_send(scene, "one");
    length = BIO_read(memory, record, sizeof record);
    assert_int_equal(send(scene->pair.client_fd, record, 7, 0), 7);
    expect_nothing(scene);
    assert_int_equal(
        send(scene->pair.client_fd, record + 7, (size_t)length - 7, 0),
        length - 7);
    expect_read(scene, 64, "one");
}

TEST_WITH(SCENE, an_end_that_came_with_bytes_is_held_behind_them)
{
    client_send(scene, "last");
    assert_int_equal(SSL_shutdown(scene->pair.client), 0);
    expect_read(scene, 64, "last");
    assert_true(scene->transport.holds_input);
    expect_read(scene, 64, "");
    assert_int_equal(transport_write(&scene->transport, "answer", 6), 6);
}

TEST_WITH(SCENE, a_socket_that_ends_without_a_word_is_an_end)
{
    client_send(scene, "last");
    close(scene->pair.client_fd);
    scene->pair.client_fd = -1;
    expect_read(scene, 64, "last");
    expect_read(scene, 64, "");
}

TEST_WITH(SCENE, what_is_no_tls_is_a_failure)
{
    char text[64];

    assert_int_equal(send(scene->pair.client_fd, "garbage", 7, 0), 7);
    assert_int_equal(transport_read(&scene->transport, text, sizeof text), -1);
    assert_int_equal(errno, ECONNRESET);
    assert_true(scene->transport.is_broken);
}

/* How much the client can read, which is all one letter. */
static size_t client_drain(const struct scene *scene)
{
    static char text[BIG];
    size_t length = 0;
    int got = 0;

    while ((got = SSL_read(scene->pair.client, text, sizeof text)) > 0) {
        for (int i = 0; i < got; i++)
            assert_int_equal(text[i], 'x');
        length += (size_t)got;
    }
    return length;
}

TEST_WITH(SCENE, writing_goes_on_where_the_socket_was_full)
{
    static char text[BIG];
    const int small = 8192;
    size_t written = 0;
    size_t came = 0;
    bool was_full = false;

    memset(text, 'x', sizeof text);
    setsockopt(scene->transport.fd, SOL_SOCKET, SO_SNDBUF, &small,
               sizeof small);
    while (written < BIG) {
        char *copy = malloc(BIG - written); /* as a buffer that has moved */
        ssize_t put = 0;

        assert_non_null(copy);
        memcpy(copy, text + written, BIG - written);
        put = transport_write(&scene->transport, copy, BIG - written);
        free(copy);
        if (put < 0) {
            assert_int_equal(errno, EAGAIN);
            was_full = true;
            came += client_drain(scene);
            continue;
        }
        written += (size_t)put;
    }
    assert_true(was_full);
    assert_int_equal(came + client_drain(scene), BIG);
}

TEST(reading_that_has_to_write_watches_for_room)
{
    const struct transport blocked = {.reads_by_writing = true};
    bool reads = true;
    bool writes = false;

    transport_watch(&blocked, &reads, &writes);
    assert_false(reads);
    assert_true(writes);
    reads = false;
    writes = false;
    transport_watch(&blocked, &reads, &writes);
    assert_false(writes);
}

TEST_WITH(SCENE, a_peer_has_the_names_of_its_certificate)
{
    struct tls_peer *peer = NULL;

    assert_true(tls_peer_read(scene->transport.ssl, &peer));
    assert_non_null(peer);
    assert_string_equal(peer->common_name, "client-1");
    assert_int_equal(peer->name_count, 3);
    assert_string_equal(peer->names[0], "DNS:a.example");
    assert_string_equal(peer->names[1], "email:b@c.example");
    assert_string_equal(peer->names[2], "URI:spiffe://d/e");
    free(peer);
}

TEST_WITH(SCENE, a_peer_that_was_not_checked_has_no_names)
{
    SSL *ssl = scene->transport.ssl;
    struct tls_peer *peer = NULL;

    SSL_set_verify_result(ssl, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY);
    assert_true(tls_peer_read(ssl, &peer));
    assert_null(peer);
    SSL_set_verify_result(ssl, X509_V_OK);
    SSL_set_verify(ssl, SSL_VERIFY_NONE, NULL);
    assert_true(tls_peer_read(ssl, &peer));
    assert_null(peer);
}

/* One allocation after another fails, of ours and of OpenSSL. */
TEST_WITH(SCENE, a_peer_for_which_memory_is_short_is_unknown)
{
    struct tls_peer *peer = NULL;
    size_t failed = 0;

    for (bool is_read = false; !is_read; failed++) {
        allocations_left = failed;
        is_read = tls_peer_read(scene->transport.ssl, &peer);
        allocations_left = SIZE_MAX;
        assert_int_equal(peer != NULL, is_read);
    }
    assert_true(failed > 3);
    assert_string_equal(peer->common_name, "client-1");
    assert_int_equal(peer->name_count, 3);
    free(peer);
}

struct bytes {
    const char *at;
    int length;
};

static void subject_add(X509_NAME *subject, struct bytes name)
{
    assert_int_equal(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                                                (const unsigned char *)name.at,
                                                name.length, -1, 0),
                     1);
}

static void dns_add(GENERAL_NAMES *names, struct bytes name)
{
    GENERAL_NAME *one = GENERAL_NAME_new();
    ASN1_IA5STRING *text = ASN1_IA5STRING_new();

    assert_int_equal(ASN1_STRING_set(text, name.at, name.length), 1);
    GENERAL_NAME_set0_value(one, GEN_DNS, text);
    assert_true(sk_GENERAL_NAME_push(names, one) > 0);
}

static struct tls_peer *peer_of(const X509_NAME *subject, GENERAL_NAMES *names)
{
    struct tls_files files;
    struct tls_pair pair;
    struct tls_peer *peer = NULL;

    tls_files_make_of(&files, subject, names);
    tls_pair_open(&pair, &files);
    assert_true(tls_peer_read(pair.server, &peer));
    tls_pair_close(&pair);
    tls_files_remove(&files);
    assert_non_null(peer);
    return peer;
}

TEST(several_common_names_are_none)
{
    X509_NAME *subject = X509_NAME_new();
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    struct tls_peer *peer = NULL;

    dns_add(names, (struct bytes){"a.example", -1});
    subject_add(subject, (struct bytes){"boss", -1});
    subject_add(subject, (struct bytes){"shop", -1});
    peer = peer_of(subject, names);
    assert_string_equal(peer->common_name, "");
    assert_int_equal(peer->name_count, 1);
    free(peer);
    GENERAL_NAMES_free(names);
    X509_NAME_free(subject);
}

TEST(a_name_with_a_0_in_it_is_none)
{
    X509_NAME *subject = X509_NAME_new();
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    struct tls_peer *peer = NULL;

    subject_add(subject, (struct bytes){"boss\0.evil", 10});
    dns_add(names, (struct bytes){"boss.example\0.evil", 18});
    dns_add(names, (struct bytes){"boss.example\0", 13});
    dns_add(names, (struct bytes){"evil.example", 12});
    peer = peer_of(subject, names);
    assert_string_equal(peer->common_name, "");
    assert_int_equal(peer->name_count, 1);
    assert_string_equal(peer->names[0], "DNS:evil.example");
    free(peer);
    GENERAL_NAMES_free(names);
    X509_NAME_free(subject);
}
