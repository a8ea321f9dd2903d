/* SPDX-License-Identifier: Apache-2.0 */
/* One batch a connection is in flight at any time. */
#include "bench/saturate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/wire.h"
#include "support/latency.h"

#define EVENTS_MAX 128

struct connection {
    int fd;
    SSL *ssl;  /* NULL: without TLS */
    int lines; /* of the batch in flight */
    int64_t sent_ns;
};

struct saturation {
    const struct saturate_options *options;
    struct wire_request request;
    struct connection *all;
    char *batch; /* the requests of one pipeline */
    size_t batch_size;
    int batch_lines;
    int epoll;
    int64_t batches;
    struct latency latency; /* of batches */
    char input[WIRE_INPUT_SIZE];
};

static void saturation_connect(struct saturation *run)
{
    const int count = run->options->connections;

    run->epoll = epoll_create1(EPOLL_CLOEXEC);
    run->all = calloc((size_t)count, sizeof *run->all);
    if (run->epoll < 0 || run->all == NULL)
        die_of_errno("start");
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN};

        event.data.ptr = &run->all[i];
        run->all[i].fd = wire_dial(run->options->address);
        if (run->all[i].fd < 0 ||
            epoll_ctl(run->epoll, EPOLL_CTL_ADD, run->all[i].fd, &event) != 0)
            die_of_errno("connection");
        run->all[i].ssl = wire_secure(run->options->address, run->all[i].fd);
    }
}

static struct saturation *saturation_new(const struct saturate_options *options)
{
    struct saturation *run = calloc(1, sizeof *run);

    if (run == NULL)
        die_of_errno("start");
    run->options = options;
    if (!wire_request_make(options->key, options->numbers, &run->request))
        die_of_errno("request");
    run->batch = wire_batch_new(&run->request, (size_t)options->pipeline);
    run->batch_size = run->request.size * (size_t)options->pipeline;
    run->batch_lines = run->request.lines * options->pipeline;
    latency_init(&run->latency);
    saturation_connect(run);
    return run;
}

static void saturation_free(struct saturation *run)
{
    for (int i = 0; i < run->options->connections; i++) {
        SSL_free(run->all[i].ssl);
        close(run->all[i].fd);
    }
    close(run->epoll);
    free(run->all);
    free(run->batch);
    free(run);
}

static ssize_t connection_write(const struct connection *connection,
                                const char *text, size_t size)
{
    return connection->ssl == NULL
               ? write(connection->fd, text, size)
               : SSL_write(connection->ssl, text, (int)size);
}

/* Batches are small against a socket's buffer, which is empty now. */
static void connection_send(struct connection *connection,
                            const struct saturation *run, int64_t at_ns)
{
    connection->lines = 0;
    connection->sent_ns = at_ns;
    if (connection_write(connection, run->batch, run->batch_size) !=
        (ssize_t)run->batch_size)
        die_of_errno("write");
}

/* True when the batch is whole. */
static bool connection_receive(struct connection *connection,
                               struct saturation *run)
{
    const ssize_t got =
        connection->ssl == NULL
            ? read(connection->fd, run->input, sizeof run->input)
            : SSL_read(connection->ssl, run->input, (int)sizeof run->input);

    if (got <= 0)
        die_of_errno("read");
    connection->lines += wire_count_lines(run->input, (size_t)got);
    return connection->lines >= run->batch_lines;
}

static int64_t saturation_turn(struct saturation *run)
{
    struct epoll_event events[EVENTS_MAX];
    const int count = epoll_wait(run->epoll, events, EVENTS_MAX, 1000);

    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        int64_t at_ns;

        if (!connection_receive(connection, run))
            continue;
        at_ns = now_ns();
        run->batches++;
        latency_add(&run->latency, at_ns - connection->sent_ns);
        connection_send(connection, run, at_ns);
    }
    return now_ns();
}

static double percentile_us(const struct saturation *run, double share)
{
    return (double)latency_at(&run->latency, share) / 1000;
}

struct saturated saturate(const struct saturate_options *options)
{
    struct saturation *run = saturation_new(options);
    const int64_t start_ns = now_ns();
    const int64_t end_ns = start_ns + (int64_t)(options->seconds * 1e9);
    struct saturated out;
    int64_t at_ns = start_ns;

    for (int i = 0; i < options->connections; i++)
        connection_send(&run->all[i], run, start_ns);
    while (at_ns < end_ns)
        at_ns = saturation_turn(run);
    out = (struct saturated){
        .requests_s = (double)(run->batches * options->pipeline) /
                      ((double)(at_ns - start_ns) / 1e9),
        .p50_us = percentile_us(run, 0.5),
        .p99_us = percentile_us(run, 0.99),
        .p999_us = percentile_us(run, 0.999),
    };
    saturation_free(run);
    return out;
}
