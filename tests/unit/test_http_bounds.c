/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What clients of HTTP can make the daemon hold: many that ask for the status
 * of very many sequences, and do not read. The broker is a stub, which holds
 * nothing itself.
 */
#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/server.h"
#include "support/dialogue.h"
#include "support/stub_broker.h"
#include "support/test.h"
#include "support/web.h"

#define PLENTY       1000000000
#define MINUTE_MS    60000
#define SEQUENCES    10000
#define CROWD        17  /* one report is made, and as many wait as may */
#define CROWD_MAX    200 /* the kernel takes a part of each report, too */
#define MEMORY_BOUND ((size_t)64 << 20) /* bytes */
#define ASK          "GET /v1/status HTTP/1.1\r\nHost: a\r\n\r\n"

/* Bytes that were allocated and not freed. */
static size_t heap_used(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static int64_t answered(const struct web *web)
{
    const int64_t *responses = web->server->daemon.counts.responses;

    return responses[2] + responses[5];
}

/* Connects and sends the text. */
static int client_connect(const struct web *web, const char *text)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const int small = 4096; /* what the kernel holds for it */
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    address.sin_port =
        htons((uint16_t)atoi(strrchr(http_name(web->http), ':') + 1));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(
        connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
    return fd;
}

static int reader_connect(const struct web *web)
{
    return client_connect(web, ASK);
}

static struct web *web_begin(size_t sequences)
{
    stub_reset(PLENTY, SEQB_AGAIN, MINUTE_MS);
    snprintf(stub.status.key, sizeof stub.status.key, "a-sequence");
    stub.status_count = sequences;
    return web_open();
}

/* Until its answer has begun. */
static void head_read(struct web *web, int fd, char *out, size_t size)
{
    ssize_t got = -1;

    while (got <= 0) {
        dialogue_turn(web->server);
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

        dialogue_turn(web->server);
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
        crowd[i] = client_connect(web, half);
    while (limits->connections_refused == 0)
        dialogue_turn(web->server);
    head_read(web, crowd[HALF_COUNT - 1], head, sizeof head);
    assert_non_null(strstr(head, "HTTP/1.1 503 "));
    assert_non_null(strstr(head, "clients hold all of max_client_memory"));
    web_ask(web, "GET", "/livez"); /* a small request has room */
    web_receive(web, 1);
    assert_non_null(strstr(web->heard, "HTTP/1.1 200 "));
    for (int i = 0; i < HALF_COUNT; i++)
        close(crowd[i]);
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
    fd = client_connect(web, half);
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
