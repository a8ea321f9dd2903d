/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenSSL holds of a client's input: it is out of the socket, and the
 * daemon has not read it. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/ssl.h>

#include "daemon/server.h"
#include "daemon/transport/transport.h"
#include "support/heap.h"
#include "support/test.h"
#include "support/tls_pair.h"
#include "support/wrap.h"
#include "unit/session_fixture.h"

/* A daemon whose memory for clients is used up, so that it reads LIMITS_SMALL
 * bytes at a time, and the two ends of a connection by TLS. */
struct scene {
    struct tls_files files;
    struct tls_pair pair;
    struct server *server;
    struct limits *limits;
};

static int scene_setup(void **state)
{
    struct scene *scene = calloc(1, sizeof *scene);

    assert_non_null(scene);
    signal(SIGPIPE, SIG_IGN); /* as main.c has it */
    scene->server = server_over_stub(PLENTY, SEQB_AGAIN, MINUTE_MS);
    scene->limits = &scene->server->daemon.limits;
    scene->limits->options.max_client_memory = -1;
    tls_files_make(&scene->files, "a", "DNS:a.example");
    tls_pair_open(&scene->pair, &scene->files);
    tls_input_watch(scene->pair.server, scene->limits);
    *state = scene;
    return 0;
}

static int scene_teardown(void **state)
{
    struct scene *scene = *state;

    tls_pair_close(&scene->pair); /* first: what it holds is the server's */
    server_close(scene->server);
    tls_files_remove(&scene->files);
    free(scene);
    return 0;
}

#define SCENE FIXTURE(struct scene *scene, scene_setup, scene_teardown)

/* The server's end becomes a connection of the daemon. */
static struct connection *scene_adopt(struct scene *scene)
{
    struct transport transport = {.fd = scene->pair.server_fd,
                                  .ssl = scene->pair.server};

    transport.holds_input = SSL_has_pending(transport.ssl) == 1;
    scene->pair.server_fd = -1;
    scene->pair.server = NULL;
    connection_adopt(&scene->server->connections, &transport, false);
    return (struct connection *)TAILQ_FIRST(&scene->server->daemon.sessions);
}

/* One record, if it fits. */
static void client_send(const struct scene *scene, const void *data,
                        size_t length)
{
    assert_int_equal(SSL_write(scene->pair.client, data, (int)length), length);
}

/* Counts the answers that have come. */
static size_t client_hear(const struct scene *scene)
{
    char heard[4096];
    size_t answers = 0;
    int got = 0;

    while ((got = SSL_read(scene->pair.client, heard, sizeof heard)) > 0)
        for (int i = 0; i < got; i++)
            answers += heard[i] == ':';
    return answers;
}

/* --- a stop --- */

static void expect_answered(struct scene *scene, size_t commands)
{
    size_t answers = 0;

    connections_finish(&scene->server->connections, MINUTE_MS);
    while (scene->server->daemon.session_count > 0) {
        dialogue_turn(scene->server);
        answers += client_hear(scene);
    }
    assert_int_equal(answers + client_hear(scene), commands);
}

/* Two records: of the second one OpenSSL holds a part, and the socket has the
 * rest. */
TEST_WITH(SCENE, commands_that_openssl_holds_at_a_stop_are_answered)
{
    struct script script = {.length = 0};
    char byte;

    script_add(&script, "INCR a\r\n", 2048);
    client_send(scene, script.data, script.length);
    client_send(scene, script.data, script.length);
    assert_int_equal(SSL_peek(scene->pair.server, &byte, 1), 1);
    (void)scene_adopt(scene);
    expect_answered(scene, 4096);
    script_fini(&script);
}

/* --- a record that the daemon itself does not read on --- */

static void request_begin(const struct scene *scene, size_t length)
{
    static const char head[] = "*2\r\n$4\r\nPING\r\n$20000\r\n";
    static char text[20000];

    memset(text, 'x', sizeof text);
    memcpy(text, head, sizeof head - 1);
    client_send(scene, text, length);
}

/* The begin of a record of data. */
static const unsigned char half[] = {0x17, 3, 3, 0x40, 0, 1, 2, 3};

static void record_begin(const struct scene *scene,
                         const struct connection *connection)
{
    assert_int_equal(send(scene->pair.client_fd, half, sizeof half, 0),
                     sizeof half);
    while (!tls_input_is_within(connection->transport.ssl))
        dialogue_turn(scene->server);
    assert_true(connection->record_ms > 0);
}

/* Memory is used up after it has begun. */
TEST_WITH(SCENE, a_record_that_waits_for_the_daemon_is_not_late)
{
    const struct connection *connection = scene_adopt(scene);

    scene->limits->options.max_client_memory = 1 << 20;
    request_begin(scene, LIMITS_SMALL);
    while (connection->session.in.length < LIMITS_SMALL)
        dialogue_turn(scene->server);
    record_begin(scene, connection);
    scene->limits->options.max_client_memory = -1;
    assert_true(connection_is_held_back(connection));
    assert_false(connection_is_stuck(connection, daemon_now_ms() + MINUTE_MS));
    assert_int_equal(send(scene->pair.client_fd, half, 1, 0), 1);
    while (connection->session.is_reading)
        dialogue_turn(scene->server);
    assert_int_equal(connection->record_ms, 0); /* until it is read again */
}

TEST_WITH(SCENE, a_record_has_its_own_time_within_a_request)
{
    struct connection *connection = scene_adopt(scene);

    request_begin(scene, 100);
    while (connection->session.in.length < 100)
        dialogue_turn(scene->server);
    connection->partial_ms -= MINUTE_MS / 2;
    record_begin(scene, connection);
    assert_false(connection_is_stuck(connection,
                                     connection->record_ms + TLS_FULL_MS - 1));
    assert_true(
        connection_is_stuck(connection, connection->record_ms + TLS_FULL_MS));
}

/* --- the memory --- */

static bool no_peer; /* there is no memory for the names in a certificate */

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return no_peer && size == sizeof(struct tls_peer)
               ? NULL
               : __real_calloc(count, size);
}

/* It could have the rights of one without a certificate. */
TEST_WITH(SCENE, a_client_whose_names_find_no_memory_is_disconnected)
{
    no_peer = true;
    assert_null(scene_adopt(scene));
    no_peer = false;
    assert_int_equal(scene->limits->connections_refused, 1);
}

/* A byte of a record is read, and later the rest. */
TEST_WITH(SCENE, the_buffer_of_what_is_not_read_yet_is_counted)
{
    struct transport transport = {.fd = scene->pair.server_fd,
                                  .ssl = scene->pair.server};
    static char data[16384];
    size_t before = 0;

    client_send(scene, data, 1); /* the client has its own buffers now */
    assert_int_equal(transport_read(&transport, data, sizeof data), 1);
    assert_int_equal(scene->limits->client_memory, 0);
    before = heap_used();
    client_send(scene, data, sizeof data);
    assert_int_equal(transport_read(&transport, data, 1), 1);
    assert_int_equal(scene->limits->client_memory, LIMITS_RECORD_BYTES);
    assert_true((int64_t)(heap_used() - before) <=
                scene->limits->client_memory);
    assert_int_equal(transport_read(&transport, data, sizeof data),
                     sizeof data - 1);
    assert_int_equal(scene->limits->client_memory, 0);
}
