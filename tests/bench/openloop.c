/* SPDX-License-Identifier: Apache-2.0 */
/* Sends what is due, reads what has come, in turn; a full socket blocks
 * nothing. */
#include "bench/openloop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/wire.h"

#define EVENTS_MAX  128
#define BATCH       1024 /* requests that are written at once, at most */
#define PATIENCE_NS 10000000000
#define REST_MAX_NS 10000000 /* all is sent: how often it looks at the time */

struct connection {
    int fd;
    int64_t due;        /* requests that were to be sent by now */
    int64_t sent_bytes; /* of them; may end within one */
    int64_t replies;
};

struct pacing {
    const struct openloop_options *options;
    struct openloop *out;
    struct wire_request request;
    struct connection *all;
    char *batch;
    int epoll;
    int64_t start_ns;
    int64_t due;     /* requests, over all connections */
    int64_t total;   /* that are to be sent */
    int64_t replies; /* that came */
    int64_t last_ns; /* when the last one did */
    char input[WIRE_INPUT_SIZE];
};

static void pacing_connect(struct pacing *pacing)
{
    const int count = pacing->options->connections;

    pacing->epoll = epoll_create1(EPOLL_CLOEXEC);
    pacing->all = calloc((size_t)count, sizeof *pacing->all);
    if (pacing->epoll < 0 || pacing->all == NULL)
        die_of_errno("start");
    for (int i = 0; i < count; i++) {
        struct epoll_event event = {.events = EPOLLIN};
        const int fd = wire_dial(pacing->options->address);

        event.data.ptr = &pacing->all[i];
        pacing->all[i].fd = fd;
        if (fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0 ||
            epoll_ctl(pacing->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
            die_of_errno("connection");
    }
}

/* When request `i` of all is meant to be sent. */
static int64_t intended_ns(const struct pacing *pacing, int64_t i)
{
    return pacing->start_ns + i * 1000000000 / pacing->options->rate;
}

/* What a full socket does not take is due still. */
static void connection_send(struct pacing *pacing,
                            struct connection *connection)
{
    const int64_t size = (int64_t)pacing->request.size;
    const int64_t owed = connection->due * size - connection->sent_bytes;
    const int64_t from = connection->sent_bytes % size;
    const int64_t most = BATCH * size - from;
    ssize_t sent;

    if (owed == 0)
        return;
    sent = write(connection->fd, pacing->batch + from,
                 (size_t)(owed < most ? owed : most));
    if (sent < 0 && errno != EAGAIN)
        die_of_errno("write");
    if (sent > 0)
        connection->sent_bytes += sent;
}

/* Connection c's n-th request is number n * connections + c of all. */
static void reply_count(struct pacing *pacing, struct connection *connection,
                        int64_t at_ns)
{
    const int64_t i = connection->replies * pacing->options->connections +
                      (connection - pacing->all);

    connection->replies++;
    pacing->replies++;
    latency_add(&pacing->out->latency, at_ns - intended_ns(pacing, i));
}

static void connection_receive(struct pacing *pacing,
                               struct connection *connection)
{
    const ssize_t got =
        read(connection->fd, pacing->input, sizeof pacing->input);
    const int64_t at_ns = now_ns();

    if (got == 0 || (got < 0 && errno != EAGAIN))
        die_of_errno("read");
    if (got < 0)
        return;
    for (int lines = wire_count_lines(pacing->input, (size_t)got); lines > 0;
         lines--)
        reply_count(pacing, connection, at_ns);
    pacing->last_ns = at_ns;
    connection_send(pacing, connection);
}

static void send_due(struct pacing *pacing, int64_t at_ns)
{
    while (pacing->due < pacing->total &&
           intended_ns(pacing, pacing->due) <= at_ns) {
        struct connection *connection =
            &pacing->all[pacing->due % pacing->options->connections];

        connection->due++;
        pacing->due++;
        connection_send(pacing, connection);
    }
}

/* How long there is nothing to send. */
static struct timespec pacing_rest(const struct pacing *pacing)
{
    int64_t rest_ns = 0;

    if (pacing->options->sleeps && pacing->due == pacing->total)
        rest_ns = REST_MAX_NS;
    else if (pacing->options->sleeps)
        rest_ns = intended_ns(pacing, pacing->due) - now_ns();
    if (rest_ns < 0)
        rest_ns = 0;
    return (struct timespec){.tv_sec = rest_ns / 1000000000,
                             .tv_nsec = rest_ns % 1000000000};
}

static void pacing_turn(struct pacing *pacing)
{
    const struct timespec rest = pacing_rest(pacing);
    struct epoll_event events[EVENTS_MAX];
    const int count =
        epoll_pwait2(pacing->epoll, events, EVENTS_MAX, &rest, NULL);

    for (int i = 0; i < count; i++) {
        send_due(pacing, now_ns()); /* or a long round would delay them */
        connection_receive(pacing, events[i].data.ptr);
    }
    send_due(pacing, now_ns());
}

static void pacing_end(struct pacing *pacing)
{
    struct openloop *out = pacing->out;

    if (pacing->replies < pacing->total) {
        fprintf(stderr, "%lld requests without an answer\n",
                (long long)(pacing->total - pacing->replies));
        exit(EXIT_FAILURE);
    }
    out->served_s = (double)pacing->replies /
                    ((double)(pacing->last_ns - pacing->start_ns) / 1e9);
    for (int i = 0; i < pacing->options->connections; i++)
        close(pacing->all[i].fd);
    close(pacing->epoll);
    free(pacing->all);
    free(pacing->batch);
    free(pacing);
}

void openloop_run(const struct openloop_options *options, struct openloop *out)
{
    struct pacing *pacing = calloc(1, sizeof *pacing);
    int64_t end_ns;

    if (pacing == NULL)
        die_of_errno("start");
    pacing->options = options;
    pacing->out = out;
    latency_init(&out->latency);
    if (!wire_request_make(options->key, 1, &pacing->request))
        die_of_errno("request");
    pacing->batch = wire_batch_new(&pacing->request, BATCH);
    pacing_connect(pacing);
    pacing->total = (int64_t)((double)options->rate * options->seconds);
    pacing->start_ns = now_ns();
    pacing->last_ns = pacing->start_ns + 1;
    end_ns = pacing->start_ns + (int64_t)(options->seconds * 1e9) + PATIENCE_NS;
    while (pacing->replies < pacing->total && now_ns() < end_ns)
        pacing_turn(pacing);
    pacing_end(pacing);
}
