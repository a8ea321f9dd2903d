/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a client of HTTP says to the daemon, over the stub broker.
 * What must hold: all that it answers is HTTP, with a status that it knows; it
 * ends; and once the client is gone the daemon holds nothing for it.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/server.h"
#include "fuzz/fuzz.h"
#include "support/dialogue.h"
#include "support/stub_broker.h"

#define INPUT_MAX   16384
#define PLENTY      1000000000
#define DEADLINE_MS 1000

/* Turns without an event after which nothing is expected any more. */
#define QUIET_TURNS 8

static struct server *server;

struct client {
    int fd; /* -1: the daemon has closed it */
    size_t length;
    char heard[64]; /* the begin of its answers; a string */
};

static void check_status(const char *answer)
{
    static const char *const known[] = {
        "200", "202", "400", "401", "403", "404", "405", "408", "409",
        "411", "413", "414", "417", "429", "500", "501", "503", "504"};
    /* libevent answers in the version that was said, be it "HTTP/0.0503". */
    const char *status = strchr(answer, ' ');
    int is_known = 0;

    require(strncmp(answer, "HTTP/", 5) == 0 && status != NULL);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        is_known |= strncmp(status + 1, known[i], 3) == 0;
    require(is_known);
}

/* Requests are answered, but those whose answers have no end. */
static int is_idle(void)
{
    return server->daemon.request_count == 0;
}

static void client_connect(struct client *client)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    const char *port = strrchr(http_name(server->http), ':') + 1;

    *client =
        (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    address.sin_port = htons((uint16_t)atoi(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(connect(client->fd, (const struct sockaddr *)&address,
                    sizeof address) == 0);
}

/* One turn of the loop, and what has come of it; whether anything has. */
static int client_turn(struct client *client)
{
    char text[65536];
    ssize_t got = 0;

    dialogue_turn(server);
    if (client->fd < 0)
        return 0;
    got = recv(client->fd, text, sizeof text, MSG_DONTWAIT);
    for (ssize_t i = 0; i < got && client->length < sizeof client->heard - 1;
         i++)
        client->heard[client->length++] = text[i];
    if (got == 0) {
        close(client->fd);
        client->fd = -1;
    }
    return got > 0;
}

/* It never ends if a request is not answered. */
static void client_receive(struct client *client)
{
    int quiet = 0;

    while (quiet < QUIET_TURNS) {
        quiet++;
        if (client_turn(client) || !is_idle())
            quiet = 0;
    }
}

static void server_begin(void)
{
    static const char *const address = "127.0.0.1:0";
    struct inherited none = {.count = 0};
    const struct http_places places = {
        .inherited = &none, .addresses = &address, .count = 1};
    struct seqb_error err;

    signal(SIGPIPE, SIG_IGN);
    stub_reset(PLENTY, SEQB_AGAIN, DEADLINE_MS);
    server = dialogue_server();
    require(http_open(&server->daemon, server->base, &places, &server->http,
                      &err) == SEQB_OK);
    require(http_listen(server->http, &err) == SEQB_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct client client;

    if (size > INPUT_MAX)
        return 0;
    server_begin();
    client_connect(&client);
    require(send(client.fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size);
    shutdown(client.fd, SHUT_WR);
    client_receive(&client);
    if (client.length > 0)
        check_status(client.heard);
    if (client.fd >= 0)
        close(client.fd);
    client.fd = -1;
    client_receive(&client);
    /* A connection that has ended is counted until it is looked for. */
    require(server->daemon.limits.client_memory == 0 ||
            server->daemon.limits.http_connections > 0);
    server_close(server);
    return 0;
}
