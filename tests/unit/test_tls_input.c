/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of TLS can make the daemon hold before it has proved
 * anything. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "daemon/server.h"
#include "daemon/transport/transport.h"
#include "support/dialogue.h"
#include "support/heap.h"
#include "support/stub_broker.h"
#include "support/test.h"
#include "support/tls_pair.h"

#define OPENSSL_HELLO_MAX 131392 /* bytes that OpenSSL itself accepts */
#define MINUTE_MS         60000

/* --- the framing --- */

#define HELLO(high, middle, low)                                               \
    {                                                                          \
        0x16, 3, 1, 0, 4, 1, high, middle, low                                 \
    }

static const unsigned char large[] = HELLO(2, 1, 0x40);
static const unsigned char most[] = HELLO(0, 0x40, 0);
static const unsigned char one_more[] = HELLO(0, 0x40, 1);

/* Adds it in pieces of `piece` bytes. */
static bool is_permitted(struct tls_framing *framing, const void *data,
                         size_t length, size_t piece, bool is_1_2)
{
    const char *at = data;

    for (size_t i = 0; i < length; i += piece)
        if (!tls_framing_add(framing, at + i,
                             length - i < piece ? length - i : piece, is_1_2))
            return false;
    return true;
}

static void expect_permitted(const void *data, size_t length, bool expected)
{
    for (size_t piece = 1; piece <= length; piece++) {
        struct tls_framing framing = {.record_left = 0};

        assert_int_equal(is_permitted(&framing, data, length, piece, false),
                         expected);
    }
}

TEST(hello_that_announces_too_much_is_seen_however_it_comes)
{
    static const unsigned char in_records_of_one[] = {
        0x16, 3, 1,    0, 1, 1, 0x16, 3, 1,    0, 0, 0x16, 3, 1,   0,
        1,    2, 0x16, 3, 1, 0, 1,    1, 0x16, 3, 1, 0,    1, 0x40};
    static const unsigned char behind_another[] = {0x16, 3, 1,   0, 9, 1, 0,
                                                   0,    1, 'a', 1, 2, 1, 0x40};
    static const unsigned char behind_a_change[] = {
        0x16, 3, 1, 0,    5, 1, 0, 0, 1, 'a', 0x14, 3,   3,
        0,    1, 1, 0x16, 3, 3, 0, 4, 1, 2,   1,    0x40};

    expect_permitted(most, sizeof most, true);
    expect_permitted(one_more, sizeof one_more, false);
    expect_permitted(large, sizeof large, false);
    expect_permitted(in_records_of_one, sizeof in_records_of_one, false);
    expect_permitted(behind_another, sizeof behind_another, false);
    expect_permitted(behind_a_change, sizeof behind_a_change, false);
}

TEST(what_is_encrypted_is_no_hello)
{
    static const unsigned char change[] = {0x14, 3, 3, 0, 1, 1};
    static const unsigned char data[] = {0x17, 3, 3, 0, 4, 1, 2, 1, 0x40};
    struct tls_framing framing = {.record_left = 0};

    expect_permitted(data, sizeof data, true);
    assert_true(is_permitted(&framing, change, sizeof change, 1, true));
    assert_true(is_permitted(&framing, large, sizeof large, 1, true));
}

TEST(framing_knows_whether_a_record_is_complete)
{
    struct tls_framing framing = {.record_left = 0};

    assert_false(tls_framing_is_within(&framing));
    for (size_t i = 0; i < sizeof most; i++) {
        assert_true(tls_framing_add(&framing, &most[i], 1, false));
        assert_int_equal(tls_framing_is_within(&framing), i + 1 < sizeof most);
    }
}

/* --- the memory --- */

/* A daemon with TLS, and a client that is connected to it. */
struct scene {
    struct tls_files files;
    struct server *server;
    struct tls_server *tls;
    SSL *ssl;
    int server_fd, client_fd;
};

static int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);
    struct tls_settings settings = {.is_1_3_only = true};
    struct seqb_error err;
    int fds[2];

    assert_non_null(scene);
    signal(SIGPIPE, SIG_IGN); /* as main.c has it */
    stub_reset(1, SEQB_AGAIN, MINUTE_MS);
    tls_files_make(&scene->files, "a", "DNS:a.example");
    settings.cert_file = scene->files.cert;
    settings.key_file = scene->files.key;
    scene->server = dialogue_server();
    assert_done(tls_server_open(&settings, scene->server->base,
                                &scene->server->daemon, &scene->tls, &err),
                err);
    assert_int_equal(
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds),
        0);
    scene->server_fd = fds[0];
    scene->client_fd = fds[1];
    scene->ssl = tls_server_accept(scene->tls);
    assert_non_null(scene->ssl);
    assert_int_equal(SSL_set_fd(scene->ssl, scene->server_fd), 1);
    *state = scene;
    return 0;
}

static int scene_teardown(void **state)
{
    struct scene *scene = *state;

    SSL_free(scene->ssl);
    close(scene->server_fd);
    close(scene->client_fd);
    tls_server_close(scene->tls);
    server_close(scene->server);
    tls_files_remove(&scene->files);
    free(scene);
    return 0;
}

#define SCENE FIXTURE(struct scene *scene, scene_setup, scene_teardown)

/* Whether the handshake needs more of its client. */
static bool is_waited_for(const struct scene *scene)
{
    const int result = SSL_do_handshake(scene->ssl);
    const int why = SSL_get_error(scene->ssl, result);

    ERR_clear_error();
    return why == SSL_ERROR_WANT_READ;
}

/* The bytes that the daemon allocates for what its client sends now. */
static size_t heap_for(struct scene *scene, const void *data, size_t length)
{
    static const char more[1024];
    const size_t before = heap_used();

    assert_int_equal(send(scene->client_fd, data, length, 0), length);
    if (is_waited_for(scene)) {
        assert_int_equal(send(scene->client_fd, more, sizeof more, 0),
                         sizeof more);
        (void)is_waited_for(scene);
    }
    return heap_used() - before;
}

static void expect_refused(const struct scene *scene)
{
    assert_int_equal(scene->server->daemon.counts.tls_failed, 1);
}

TEST_WITH(SCENE, hello_that_announces_too_much_takes_no_memory)
{
    assert_true(heap_for(scene, large, sizeof large) < OPENSSL_HELLO_MAX);
    expect_refused(scene);
}

/* A handshake of a client whose first choice of a group is not the server's. */
static SSL *client_begin(struct scene *scene, SSL_CTX **context)
{
    const struct tls_client_files own = {.is_unverified = true};
    struct seqb_error err;
    SSL *client = NULL;

    assert_done(tls_client_context(&own, context, &err), err);
    client = SSL_new(*context);
    assert_non_null(client);
    assert_int_equal(SSL_set_fd(client, scene->client_fd), 1);
    assert_int_equal(SSL_set1_groups_list(client, "X25519:P-256"), 1);
    assert_int_equal(SSL_set1_groups_list(scene->ssl, "P-256"), 1);
    assert_int_equal(SSL_connect(client), -1);
    assert_true(is_waited_for(scene));
    return client;
}

TEST_WITH(SCENE, second_hello_that_announces_too_much_takes_no_memory)
{
    SSL_CTX *context = NULL;
    SSL *client = client_begin(scene, &context);

    assert_true(heap_for(scene, large, sizeof large) < OPENSSL_HELLO_MAX);
    expect_refused(scene);
    SSL_free(client);
    SSL_CTX_free(context);
}

TEST_WITH(SCENE, second_hello_of_a_usual_client_is_served)
{
    SSL_CTX *context = NULL;
    SSL *client = client_begin(scene, &context);

    assert_int_equal(SSL_connect(client), -1);
    assert_true(is_waited_for(scene));
    assert_int_equal(SSL_connect(client), 1);
    assert_int_equal(SSL_do_handshake(scene->ssl), 1);
    SSL_free(client);
    SSL_CTX_free(context);
}

TEST_WITH(SCENE, certificates_are_bounded)
{
    assert_int_equal(SSL_get_max_cert_list(scene->ssl), 16384);
}

/* --- records --- */

/* What a record of data may begin with. */
static const unsigned char half[] = {0x17, 3, 3, 0x40, 0, 1, 2, 3};

/* Does the whole handshake. */
static void shake_hands(struct scene *scene)
{
    const struct tls_client_files own = {.is_unverified = true};
    SSL_CTX *context = NULL;
    SSL *client = NULL;
    struct seqb_error err;

    assert_done(tls_client_context(&own, &context, &err), err);
    client = SSL_new(context);
    assert_int_equal(SSL_set_fd(client, scene->client_fd), 1);
    assert_int_equal(SSL_connect(client), -1);
    assert_true(is_waited_for(scene));
    assert_int_equal(SSL_connect(client), 1);
    assert_int_equal(SSL_do_handshake(scene->ssl), 1);
    SSL_free(client);
    SSL_CTX_free(context);
}

TEST_WITH(SCENE, record_that_is_not_complete_is_counted)
{
    const struct limits *limits = &scene->server->daemon.limits;
    size_t before = 0;
    char byte;

    shake_hands(scene);
    assert_int_equal(SSL_read(scene->ssl, &byte, 1), -1);
    assert_int_equal(limits->client_memory, 0);
    before = heap_used();
    assert_int_equal(send(scene->client_fd, half, sizeof half, 0), sizeof half);
    assert_int_equal(SSL_read(scene->ssl, &byte, 1), -1);
    assert_true(tls_input_is_within(scene->ssl));
    assert_true((int64_t)(heap_used() - before) <= limits->client_memory);
    SSL_free(scene->ssl);
    scene->ssl = NULL;
    assert_int_equal(limits->client_memory, 0);
}

/* The connection of the scene, which has sent half a record, is one of the
 * daemon's. */
static void expect_timed_out(struct scene *scene, bool is_full)
{
    const struct connection *connection = NULL;
    struct server *server = scene->server;
    const struct limits *limits = &server->daemon.limits;
    struct transport transport = {.fd = scene->server_fd, .ssl = scene->ssl};

    shake_hands(scene);
    scene->ssl = NULL;                    /* the connection's from now on */
    scene->server_fd = dup(transport.fd); /* for the teardown */
    connection_adopt(&server->connections, &transport, false);
    assert_int_equal(send(scene->client_fd, half, sizeof half, 0), sizeof half);
    while (limits->client_memory == 0)
        dialogue_turn(server);
    connection =
        (const struct connection *)TAILQ_FIRST(&server->daemon.sessions);
    assert_true(connection->partial_ms > 0);
    assert_int_equal(
        connection_is_stuck(connection, connection->partial_ms + TLS_FULL_MS),
        is_full);
    while (limits->connections_timed_out == 0)
        dialogue_turn(server);
    assert_int_equal(server->daemon.session_count, 0);
    assert_int_equal(limits->client_memory, 0);
}

TEST_WITH(SCENE, record_that_is_not_completed_in_time_ends_the_connection)
{
    scene->server->daemon.limits.options.client_timeout_ms = 20;
    expect_timed_out(scene, false);
}

TEST_WITH(SCENE, while_memory_is_used_up_a_record_has_less_time)
{
    scene->server->daemon.limits.options.max_client_memory = 1;
    expect_timed_out(scene, true);
}

/* --- many of them --- */

#define CROWD        40
#define CROWD_MEMORY (1 << 20) /* max_client_memory: not enough for all */
#define PART         12000

/* The begin of a ClientHello of the greatest length, in one record. */
static void hello_begin(int fd)
{
    static const unsigned char head[] = {0x16, 3, 1, 0x3f, 0, 1, 0, 0x40, 0};
    static const char part[PART];

    assert_int_equal(send(fd, head, sizeof head, 0), sizeof head);
    assert_int_equal(send(fd, part, PART, 0), PART);
}

static void expect_bounded(const struct scene *scene, size_t before)
{
    const struct limits *limits = &scene->server->daemon.limits;

    assert_true(limits->client_memory > CROWD_MEMORY / 2);
    assert_true(limits->client_memory <= CROWD_MEMORY);
    assert_true(heap_used() <= before + CROWD_MEMORY);
}

TEST_WITH(SCENE, handshakes_wait_while_there_is_no_memory_for_them)
{
    struct server *server = scene->server;
    const size_t before = heap_used();
    struct handshakes *handshakes =
        handshakes_new(scene->tls, &server->connections, &server->listeners);
    int clients[CROWD];
    int count = 0;

    assert_non_null(handshakes);
    server->daemon.limits.options.max_client_memory = CROWD_MEMORY;
    while (handshakes_admit(handshakes) && count < CROWD) {
        struct transport plain = {.fd = -1};
        int fds[2];

        assert_int_equal(socketpair(AF_UNIX,
                                    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                    0, fds),
                         0);
        plain.fd = fds[0];
        clients[count++] = fds[1];
        handshakes_add(handshakes, &plain);
        hello_begin(fds[1]);
    }
    for (int i = 0; i < 3 * CROWD; i++)
        dialogue_turn(server);
    expect_bounded(scene, before);
    close(clients[--count]);
    while (!handshakes_admit(handshakes))
        dialogue_turn(server);
    while (count > 0)
        close(clients[--count]);
    handshakes_free(handshakes);
    assert_int_equal(server->daemon.limits.client_memory, 0);
}

/* libevent's own time-out of a client that sends nothing. */
#define SILENCE_S 30

static struct http *https_open(struct scene *scene)
{
    static const char *const address = "127.0.0.1:0";
    struct inherited none = {.count = 0};
    const struct http_places places = {.inherited = &none,
                                       .tls_addresses = &address,
                                       .tls_count = 1,
                                       .tls = scene->tls,
                                       .timeout_s = SILENCE_S};
    struct http *http = NULL;

    assert_ok(http_open(&scene->server->daemon, scene->server->base, &places,
                        &http, NULL));
    assert_ok(http_listen(http, NULL));
    scene->server->http = http; /* server_close closes it */
    return http;
}

static int https_connect(const struct http *http)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_port =
        htons((uint16_t)atoi(strrchr(http_tls_name(http), ':') + 1));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(
        connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

TEST_WITH(SCENE, handshakes_of_https_wait_while_there_is_no_memory_for_them)
{
    struct limits *limits = &scene->server->daemon.limits;
    const struct http *http = https_open(scene);
    const size_t before = heap_used();
    int clients[CROWD];

    limits->options.max_client_memory = CROWD_MEMORY;
    for (int i = 0; i < CROWD; i++) {
        clients[i] = https_connect(http);
        hello_begin(clients[i]);
    }
    while (limits->client_memory < CROWD_MEMORY / 2)
        dialogue_turn(scene->server);
    for (int i = 0; i < 3 * CROWD; i++)
        dialogue_turn(scene->server);
    expect_bounded(scene, before);
    assert_int_equal(limits->connections_refused, 0);
    while (limits->connections_timed_out == 0) /* so that others can come */
        dialogue_turn(scene->server);
    for (int i = 0; i < CROWD; i++)
        close(clients[i]);
    while (limits->http_connections > 0)
        dialogue_turn(scene->server);
    assert_int_equal(limits->client_memory, 0);
}

/* Does the whole handshake, until the daemon knows that it is done. */
static void https_shake_hands(struct scene *scene, int fd)
{
    const struct tls_client_files own = {.is_unverified = true};
    SSL_CTX *context = NULL;
    SSL *client = NULL;
    struct seqb_error err;

    assert_done(tls_client_context(&own, &context, &err), err);
    client = SSL_new(context);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(SSL_set_fd(client, fd), 1);
    while (SSL_connect(client) != 1)
        dialogue_turn(scene->server);
    while (scene->server->daemon.limits.client_memory >= LIMITS_HANDSHAKE_BYTES)
        dialogue_turn(scene->server);
    SSL_free(client);
    SSL_CTX_free(context);
}

/* There is no client_timeout: without the guard, libevent ends the connection
 * later, which is not counted. */
TEST_WITH(SCENE, while_memory_is_used_up_a_record_of_https_has_less_time)
{
    struct limits *limits = &scene->server->daemon.limits;
    const int fd = https_connect(https_open(scene));

    limits->options.client_timeout_ms = 0;
    https_shake_hands(scene, fd);
    limits->options.max_client_memory = 1;
    assert_int_equal(send(fd, half, sizeof half, 0), sizeof half);
    while (limits->http_connections > 0)
        dialogue_turn(scene->server);
    assert_int_equal(limits->connections_timed_out, 1);
    close(fd);
}
