/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of a server of one thread: answers each request, of which it reads
 * no more than how long it is, with the same number. PING with PONG, so that
 * it can be told when it is up.
 *
 *   constant PORT SOCKET
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "bench/die.h"

#define EVENTS_MAX    128
#define INPUT_SIZE    65536
#define ANSWER        ":1234567890\r\n"
#define ANSWER_SIZE   (sizeof ANSWER - 1)
#define REQUEST_LEAST 14 /* bytes; no request is shorter */

struct connection {
    int fd;
    bool is_listener;
    size_t used;
    char input[INPUT_SIZE];
};

struct output {
    size_t used;
    char text[(INPUT_SIZE / REQUEST_LEAST + 1) * ANSWER_SIZE];
};

/* The number after the type byte, and what follows its line; NULL: not whole.
 */
static const char *read_length(const char *at, const char *end, size_t *out)
{
    const char *line_end = memchr(at, '\n', (size_t)(end - at));

    *out = 0;
    if (line_end == NULL)
        return NULL;
    for (at++; *at >= '0' && *at <= '9'; at++)
        *out = *out * 10 + (size_t)(*at - '0');
    return line_end + 1;
}

/* Where the request ends; NULL if it is not whole. */
static const char *request_end(const char *at, const char *end)
{
    size_t words;
    size_t length;

    for (at = read_length(at, end, &words); at != NULL && words > 0; words--) {
        if (at >= end)
            return NULL;
        at = read_length(at, end, &length);
        if (at != NULL && (size_t)(end - at) < length + 2)
            return NULL;
        if (at != NULL)
            at += length + 2;
    }
    return at;
}

/* "*1" is PING: nothing else has one word. */
static void answer(struct output *out, const char *request)
{
    const char *text = request[1] == '1' ? "+PONG\r\n" : ANSWER;
    const size_t size = strlen(text);

    memcpy(out->text + out->used, text, size);
    out->used += size;
}

static void connection_free(struct connection *connection)
{
    close(connection->fd);
    free(connection);
}

static void connection_serve(struct connection *connection)
{
    static struct output out;
    const ssize_t got =
        read(connection->fd, connection->input + connection->used,
             INPUT_SIZE - connection->used);
    const char *at = connection->input;
    const char *next;
    const char *end;

    if (got <= 0) {
        connection_free(connection);
        return;
    }
    connection->used += (size_t)got;
    end = connection->input + connection->used;
    for (out.used = 0; at < end; at = next) {
        next = request_end(at, end);
        if (next == NULL)
            break;
        answer(&out, at);
    }
    connection->used = (size_t)(end - at);
    memmove(connection->input, at, connection->used);
    if (out.used > 0 &&
        write(connection->fd, out.text, out.used) != (ssize_t)out.used)
        connection_free(connection);
}

static void watch(int epoll, int fd, bool is_listener)
{
    struct connection *connection = malloc(sizeof *connection);
    struct epoll_event event = {.events = EPOLLIN};

    if (connection == NULL)
        die_of_errno("connection");
    connection->fd = fd;
    connection->is_listener = is_listener;
    connection->used = 0;
    event.data.ptr = connection;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
        die_of_errno("epoll");
}

static void accept_one(int epoll, int listener)
{
    const int on = 1;
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd < 0)
        return;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(epoll, fd, false);
}

static void listen_at(int epoll, const struct sockaddr *address, socklen_t size)
{
    const int on = 1;
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
        bind(fd, address, size) != 0 || listen(fd, 511) != 0)
        die_of_errno("listen");
    watch(epoll, fd, true);
}

int main(int argc, char **argv)
{
    struct sockaddr_in tcp = {.sin_family = AF_INET};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    const int epoll = epoll_create1(EPOLL_CLOEXEC);

    if (argc != 3 || epoll < 0) {
        fprintf(stderr, "usage: constant PORT SOCKET\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    tcp.sin_port = htons((uint16_t)strtol(argv[1], NULL, 10));
    tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    snprintf(local.sun_path, sizeof local.sun_path, "%s", argv[2]);
    listen_at(epoll, (struct sockaddr *)&tcp, sizeof tcp);
    listen_at(epoll, (struct sockaddr *)&local, sizeof local);
    for (;;) {
        struct epoll_event events[EVENTS_MAX];
        const int count = epoll_wait(epoll, events, EVENTS_MAX, -1);

        for (int i = 0; i < count; i++) {
            struct connection *connection = events[i].data.ptr;

            if (connection->is_listener)
                accept_one(epoll, connection->fd);
            else
                connection_serve(connection);
        }
    }
}
