/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that carries bytes both ways and sees who speaks. */
#include "bench/relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define BUFFER_SIZE 65536

struct relay {
    pthread_t thread;
    int listener;
    int32_t from;
    int32_t to;
    bool has_answered; /* the server spoke last */
    _Atomic int64_t trips;
};

static struct sockaddr_in loopback(int32_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
}

/* Carries what is there; false at the end of the connection. */
static bool carry(int from, int to)
{
    static char buffer[BUFFER_SIZE];
    const ssize_t length = recv(from, buffer, sizeof buffer, 0);

    return length > 0 &&
           send(to, buffer, (size_t)length, MSG_NOSIGNAL) == length;
}

/* Each part is sent on as it comes, or its delay would be measured. */
static void send_at_once(int fd)
{
    const int on = 1;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void relay_connection(struct relay *relay, int client, int server)
{
    struct pollfd ends[] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    bool is_open = true;

    relay->has_answered = true;
    send_at_once(client);
    send_at_once(server);
    while (is_open && poll(ends, 2, -1) > 0) {
        if (ends[0].revents != 0) {
            is_open = carry(client, server);
            if (is_open && relay->has_answered)
                atomic_fetch_add(&relay->trips, 1);
            relay->has_answered = false;
        }
        if (is_open && ends[1].revents != 0) {
            is_open = carry(server, client);
            relay->has_answered = true;
        }
    }
}

static void *relay_run(void *argument)
{
    struct relay *relay = argument;
    const struct sockaddr_in to = loopback(relay->to);
    int client;

    while ((client = accept(relay->listener, NULL, NULL)) >= 0) {
        const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (server >= 0 &&
            connect(server, (const struct sockaddr *)&to, sizeof to) == 0)
            relay_connection(relay, client, server);
        if (server >= 0)
            close(server);
        close(client);
    }
    return NULL;
}

static bool relay_listen(struct relay *relay)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;

    relay->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (relay->listener < 0 ||
        bind(relay->listener, (struct sockaddr *)&address, sizeof address) !=
            0 ||
        listen(relay->listener, 8) != 0 ||
        getsockname(relay->listener, (struct sockaddr *)&address, &size) != 0)
        return false;
    relay->from = ntohs(address.sin_port);
    return true;
}

struct relay *relay_new(int32_t port)
{
    struct relay *relay = calloc(1, sizeof *relay);

    if (relay == NULL)
        return NULL;
    relay->to = port;
    if (relay_listen(relay) &&
        pthread_create(&relay->thread, NULL, relay_run, relay) == 0)
        return relay;
    if (relay->listener >= 0)
        close(relay->listener);
    free(relay);
    return NULL;
}

void relay_free(struct relay *relay)
{
    if (relay == NULL)
        return;
    (void)shutdown(relay->listener, SHUT_RDWR); /* ends the accept */
    pthread_join(relay->thread, NULL);
    close(relay->listener);
    free(relay);
}

int32_t relay_port(const struct relay *relay)
{
    return relay->from;
}

int64_t relay_trips(const struct relay *relay)
{
    return atomic_load(&relay->trips);
}
