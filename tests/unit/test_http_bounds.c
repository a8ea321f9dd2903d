/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients of HTTP can make the daemon hold: many that ask for the status
 * of very many sequences, and do not read. The broker is a stub, which holds
 * nothing itself.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/server.h"
#include "support/dialogue.h"
#include "support/heap.h"
#include "support/stub_broker.h"
#include "support/test.h"
#include "support/web.h"
#include "support/wrap.h"

#define PLENTY       1000000000
#define MINUTE_MS    60000
#define SEQUENCES    10000
#define CROWD        17  /* one report is made, and as many wait as may */
#define CROWD_MAX    200 /* the kernel takes a part of each report, too */
#define MEMORY_BOUND ((size_t)64 << 20) /* bytes */
#define ASK          "GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n"

static int64_t answered(const struct web *web)
{
    const int64_t *responses = web->server->daemon.counts.responses;

    return responses[2] + responses[5];
}

static int reader_connect(const struct web *web)
{
    return web_dial(web, ASK);
}

static struct web *web_begin(size_t sequences)
{
    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    snprintf(stub.status.key, sizeof stub.status.key, "a-sequence");
    stub.status_count = sequences;
    return web_open();
}

/* Reports are made by a thread, which needs the processor. */
static void turn_and_rest(struct web *web)
{
    dialogue_turn(web->server);
    usleep(100);
}

/* Until its answer has begun. */
static void head_read(struct web *web, int fd, char *out, size_t size)
{
    ssize_t got = -1;

    while (got <= 0) {
        turn_and_rest(web);
        got = recv(fd, out, size - 1, MSG_DONTWAIT);
    }
    out[got] = '\0';
}

/* Until so many were answered; returns the most that was in use by then. */
static size_t crowd_answered(struct web *web, int64_t count)
{
    size_t most = 0;

    while (answered(web) < count) {
        const size_t used = heap_used();

        turn_and_rest(web);
        most = used > most ? used : most;
    }
    return most;
}

TEST(reports_of_those_who_do_not_read_are_bounded)
{
    struct web *web = web_begin(SEQUENCES);
    const struct limits *limits = &web->server->daemon.limits;
    const size_t before = heap_used();
    int crowd[CROWD_MAX];
    char head[512];
    int count = 0;
    int served = 0;
    size_t most;

    while (count < CROWD)
        crowd[count++] = reader_connect(web);
    most = crowd_answered(web, count);
    while (limits->answers_refused == 0 && count < CROWD_MAX) {
        size_t used;

        crowd[count++] = reader_connect(web);
        used = crowd_answered(web, count);
        most = used > most ? used : most;
    }
    assert_true(most <= before + MEMORY_BOUND);
    assert_true(limits->client_memory <=
                limits->options.max_client_memory +
                    (int64_t)count * (LIMITS_HTTP_BYTES + LIMITS_SMALL));
    assert_true(limits->answers_refused > 0);
    for (int i = 0; i < count; i++) {
        head_read(web, crowd[i], head, sizeof head);
        if (strncmp(head, "HTTP/1.1 200 ", 13) == 0) {
            served++;
        } else {
            assert_non_null(strstr(head, "HTTP/1.1 503 "));
            assert_non_null(strstr(head, "Retry-After: "));
        }
        close(crowd[i]);
    }
    assert_true(served > 0);
    assert_int_equal(served + limits->answers_refused, count);
    web_close(web);
}

TEST(a_report_beyond_the_bound_is_sent_to_one_client_at_a_time)
{
    struct web *web = web_begin(SEQUENCES);
    struct limits *limits = &web->server->daemon.limits;
    char head[512];
    int one;
    int other;

    limits->options.max_client_memory = 1 << 16;
    one = reader_connect(web);
    head_read(web, one, head, sizeof head);
    assert_non_null(strstr(head, "HTTP/1.1 200 "));
    other = reader_connect(web);
    head_read(web, other, head, sizeof head);
    assert_non_null(strstr(head, "HTTP/1.1 503 "));
    close(one);
    close(other);
    while (limits->client_memory > LIMITS_HTTP_BYTES) /* of web's own */
        dialogue_turn(web->server);
    one = reader_connect(web);
    head_read(web, one, head, sizeof head);
    assert_non_null(strstr(head, "HTTP/1.1 200 "));
    close(one);
    web_close(web);
}

/* --- turns --- */

/* Until the report may go on, the loop has to serve others. */
static void expect_served_during(const char *ask)
{
    struct web *web = web_begin(SEQUENCES);
    struct talker other;
    int gate[2];
    int one;

    assert_int_equal(pipe(gate), 0);
    stub.clock_gate = gate[0];
    talker_init(&other, web->server);
    one = web_dial(web, ask);
    while (web->server->daemon.request_count == 0)
        dialogue_turn(web->server);
    talker_say(&other, "INCR a\r\n", 8);
    dialogue_finish(web->server, &other);
    assert_true(other.length > 0 && other.heard[0] == ':');
    assert_int_equal(answered(web), 0);
    close(gate[1]);
    (void)crowd_answered(web, 1);
    close(one);
    close(gate[0]);
    talker_fini(&other);
    web_close(web);
}

TEST(others_are_served_while_a_report_is_made)
{
    expect_served_during(ASK);
    expect_served_during("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
}

/* --- numbers --- */

#define LOOPERS      150 /* that all ask at once */
#define EACH         INT64_C(10000)
#define TAKERS       30
#define TAKERS_ROOM  (INT64_C(2) << 20)  /* max_client_memory */
#define TAKERS_SLACK ((size_t)256 << 10) /* what one answer takes in a turn */
#define TAKE         "POST /v1/sequences/a/next?count=10000 HTTP/1.1\r\nHost: a\r\n\r\n"

/* Of the limits, and of the heap, while they are used. */
static int64_t most_held;
static size_t most_used;

/* The linker replaces limits_hold by this. */

WRAPPED(void, limits_hold, struct limits *limits, int64_t *held, size_t now)
{
    const size_t used = heap_used();

    __real_limits_hold(limits, held, now);
    most_used = used > most_used ? used : most_used;
    if (limits->client_memory > most_held)
        most_held = limits->client_memory;
}

static int64_t taken(void)
{
    return stub.sequences[0].next - STUB_FIRST;
}

/* All of them wait for numbers; then the numbers come. */
TEST(many_numbers_for_many_clients_are_bounded_before_they_are_taken)
{
    struct web *web = NULL;
    struct limits *limits = NULL;
    int crowd[TAKERS];
    int64_t refused = 0;
    size_t before = 0;

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    limits = &web->server->daemon.limits;
    limits->options.max_client_memory = TAKERS_ROOM;
    before = heap_used();
    web_crowd_join(web, crowd, TAKERS);
    web_crowd_say(crowd, TAKERS, TAKE);
    while (limits->answers_refused +
               web->server->daemon.waitlists.waiter_count <
           TAKERS)
        dialogue_turn(web->server);
    refused = limits->answers_refused;
    assert_in_range(refused, 1, TAKERS - 2);
    stub_refill(EACH * TAKERS);
    most_held = 0;
    most_used = 0;
    while (answered(web) < TAKERS)
        dialogue_turn(web->server);
    assert_true(most_held <= TAKERS_ROOM);
    assert_true(most_used <= before + (size_t)TAKERS_ROOM + TAKERS_SLACK);
    assert_int_equal(taken(), EACH * (TAKERS - refused));
    web_crowd_leave(crowd, TAKERS);
    web_close(web);
}

/* Their numbers come at the same time. */
TEST(a_light_client_is_served_between_those_that_take_many)
{
    const int64_t share = (int64_t)(WAITLISTS_TURNS + FAIRNESS_TURNS) * 1024;
    struct web *web = NULL;
    struct talker light;
    int crowd[LOOPERS];

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    web->server->daemon.limits.options.max_client_memory = PLENTY;
    talker_init(&light, web->server);
    for (int i = 0; i < LOOPERS; i++)
        crowd[i] = web_dial(web, TAKE);
    while (web->server->daemon.waitlists.waiter_count < LOOPERS)
        dialogue_turn(web->server);
    stub_refill(EACH * LOOPERS + 2);
    talker_say(&light, "INCR b\r\n", 8);
    while (light.length == 0) {
        dialogue_turn(web->server);
        (void)talker_receive(&light);
    }
    assert_true(taken() <= share);
    while (answered(web) < LOOPERS) {
        const int64_t before = taken();

        dialogue_turn(web->server);
        assert_true(taken() - before <= share);
    }
    assert_int_equal(taken(), EACH * LOOPERS);
    web_crowd_leave(crowd, LOOPERS);
    talker_fini(&light);
    web_close(web);
}

/* --- requests that are not complete --- */

#define HEAD_SIZE   8000
#define PART        8192 /* of libevent's buffer, at most: it is not counted */
#define HALF_COUNT  40
#define HALF_MEMORY (1 << 17) /* max_client_memory: not enough for all */

#define WHOLE "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"

/* The begin of a request, with the header again and again. `whole` comes
 * before. */
static char *half_new(const char *whole, const char *header)
{
    char *text = calloc(1, HEAD_SIZE + 1);
    size_t length;

    assert_non_null(text);
    length =
        (size_t)snprintf(text, HEAD_SIZE, "%sGET /livez HTTP/1.1\r\n", whole);
    while (length + strlen(header) < HEAD_SIZE)
        length +=
            (size_t)snprintf(text + length, HEAD_SIZE - length, "%s", header);
    return text;
}

TEST(requests_that_are_not_finished_are_bounded)
{
    struct web *web = web_begin(1);
    struct limits *limits = &web->server->daemon.limits;
    char *half = half_new("", "X-Header: of a usual length\r\n");
    int crowd[HALF_COUNT];
    char head[512];

    limits->options.max_client_memory = HALF_MEMORY;
    for (int i = 0; i < HALF_COUNT; i++)
        crowd[i] = web_dial(web, half);
    while (limits->connections_refused == 0)
        dialogue_turn(web->server);
    head_read(web, crowd[HALF_COUNT - 1], head, sizeof head);
    assert_non_null(strstr(head, "HTTP/1.1 503 "));
    assert_non_null(strstr(head, "clients hold all of max_client_memory"));
    web_ask(web, "GET", "/livez"); /* a small request has room */
    web_receive(web, 1);
    assert_non_null(strstr(web->heard, "HTTP/1.1 200 "));
    web_crowd_leave(crowd, HALF_COUNT);
    while (limits->client_memory > LIMITS_HTTP_BYTES) /* of web's own */
        dialogue_turn(web->server);
    assert_int_equal(limits->client_memory, LIMITS_HTTP_BYTES);
    free(half);
    web_close(web);
}

/* libevent takes more than 200 KiB for 8 KB of the shortest headers. */
static void expect_counted(const char *whole, const char *header)
{
    struct web *web = web_begin(1);
    const struct limits *limits = &web->server->daemon.limits;
    char *half = half_new(whole, header);
    int64_t before;
    char head[512];
    int64_t counted;
    size_t used;
    int fd;

    web_ask(web, "GET", "/livez");
    web_receive(web, 1);
    used = heap_used();
    before = limits->client_memory;
    fd = web_dial(web, half);
    while (limits->client_memory < before + HEAD_SIZE)
        dialogue_turn(web->server);
    if (whole[0] != '\0')
        head_read(web, fd, head, sizeof head);
    web_ask(web, "GET", "/livez"); /* all that came is read by its answer */
    web_receive(web, 1);
    counted = limits->client_memory - before;
    assert_true((int64_t)heap_used() <= (int64_t)used + counted + PART);
    close(fd);
    free(half);
    web_close(web);
}

TEST(short_headers_are_counted_with_the_memory_that_they_take)
{
    expect_counted("", "a:\r\n");
    expect_counted("", "X-Header: of a usual length\r\n");
    expect_counted(WHOLE, "a:\r\n"); /* libevent reads it after the answer */
}

/* Its bytes come so seldom that it is never silent for long. */
TEST(requests_that_take_too_long_are_ended)
{
    struct web *web = web_begin(1);
    struct limits *limits = &web->server->daemon.limits;
    int fd = -1;

    web_ask(web, "GET", "/livez");
    web_receive(web, 1);
    fd = web_dial(web, "GET /livez HTTP/1.1\r\nX: ");
    limits->options.client_timeout_ms = 20;
    for (int sent = 0; limits->connections_timed_out == 0; sent++) {
        if (sent < 1000) /* its header stays within what is allowed */
            (void)!send(fd, "y", 1, MSG_NOSIGNAL);
        dialogue_turn(web->server);
    }
    while (limits->http_connections > 1)
        dialogue_turn(web->server);
    assert_int_equal(limits->connections_timed_out, 1);
    web_ask(web, "GET", "/livez"); /* has no request that is not complete */
    web_receive(web, 2);
    close(fd);
    web_close(web);
}

/* Until the daemon has ended a client that is late. It judges every client
 * then. */
static void expect_one_is_late(struct web *web)
{
    struct limits *limits = &web->server->daemon.limits;
    const int fd = web_dial(web, "GET /livez HTTP/1.1\r\nX: ");

    while (limits->http_connections < 2)
        dialogue_turn(web->server);
    limits->options.client_timeout_ms = 1;
    while (limits->connections_timed_out == 0)
        dialogue_turn(web->server);
    assert_int_equal(limits->connections_timed_out, 1);
    limits->options.client_timeout_ms = MINUTE_MS;
    close(fd);
}

static bool is_waited_for(const struct web *web)
{
    return web->server->daemon.request_count == 1;
}

/* A number that is granted after the end is a gap. */
TEST(a_request_behind_one_that_waits_is_not_late)
{
    struct web *web = NULL;

    stub_reset(0, SEQB_AGAIN, MINUTE_MS);
    web = web_open();
    web_say(web, "POST /v1/sequences/a/next HTTP/1.1\r\nHost: a\r\n\r\n" ASK);
    web_until(web, is_waited_for);
    expect_one_is_late(web);
    stub_refill(1);
    web_receive(web, 2);
    assert_non_null(strstr(web->heard, "\"95\""));
    web_close(web);
}

static bool has_begun(const struct web *web)
{
    return strstr(web->heard, "\r\n\r\n") != NULL;
}

TEST(what_comes_behind_an_endless_answer_is_not_late)
{
    struct web *web = web_begin(1);

    web_say(web, "GET /v1/events HTTP/1.1\r\nHost: a\r\n\r\nx");
    web_until(web, has_begun);
    expect_one_is_late(web);
    assert_true(web->fd >= 0);
    web_close(web);
}

/* Its time begins when the answer before it was sent. */
TEST(a_request_behind_an_answer_may_be_late)
{
    struct web *web = web_begin(1);
    struct limits *limits = &web->server->daemon.limits;

    web_say(web, "GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /");
    web_receive(web, 1);
    assert_int_equal(limits->connections_timed_out, 0);
    limits->options.client_timeout_ms = 1;
    while (limits->connections_timed_out == 0)
        dialogue_turn(web->server);
    web_close(web);
}
