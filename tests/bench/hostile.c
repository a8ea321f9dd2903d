/* SPDX-License-Identifier: Apache-2.0 */
/* One thread that goes round its connections; nothing blocks. */
#include "bench/hostile.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/die.h"
#include "bench/now.h"
#include "bench/wire.h"

#define LOW_PRIORITY 10
#define ROUND_S      0.001 /* the least that a round takes */

/* What a kind sends, and whether it reads what comes. */
static const struct conduct {
    const char *name;
    const char *text;
    bool reads;
    bool is_slow; /* a byte a round */
    bool is_http;
} conducts[HOSTILE_KINDS] = {
    [HOSTILE_NUMBERS] = {.name = "ask for 100,000 texts, read none",
                         .text = "SEQ.NUMBER waybill COUNT 100000\r\n"},
    [HOSTILE_TEXTS] = {.name = "ask for 10,000 texts by HTTP, read none",
                       .text = "POST /v1/sequences/waybill/number?count=10000 "
                               "HTTP/1.1\r\nHost: localhost\r\n\r\n",
                       .is_http = true},
    [HOSTILE_STATUS] = {.name = "ask for the status, do not read it",
                        .text = "SEQ.STATUS\r\n"},
    [HOSTILE_SLOW] = {.name = "send requests by bytes, finish none",
                      .text = "*2\r\n$4\r\nINCR\r\n$60\r\n"
                              "0123456789012345678901234567890123456789",
                      .is_slow = true},
    [HOSTILE_LOOKUPS] = {.name =
                             "SEQ.DECODE of unknown keys, failing SEQ.PARSE",
                         .text = "SEQ.DECODE no-such-key 12345\r\n"
                                 "SEQ.PARSE waybill garbage\r\n",
                         .reads = true},
    [HOSTILE_FLOOD] = {.name = "connect and close"},
    [HOSTILE_LOGINS] = {.name = "fail to log in",
                        .text = "AUTH operator wrong\r\n",
                        .reads = true},
    [HOSTILE_HTTP] = {.name = "send HTTP by bytes, finish nothing",
                      .text = "POST /v1/sequences/order/next HTTP/1.1\r\n"
                              "Host: localhost\r\nX-Padding: 012345678901234",
                      .is_slow = true,
                      .is_http = true},
    [HOSTILE_ORDERS] = {.name = "give orders that are refused",
                        .text = "SEQ.PARTITION DRAIN main/0\r\n"
                                "SEQ.ADVANCE order 1000\r\n",
                        .reads = true},
};

const char *hostile_name(enum hostile_kind kind)
{
    return kind == HOSTILE_KINDS ? "all of it" : conducts[kind].name;
}

struct client {
    const struct conduct *conduct;
    int port;
    int fd;      /* -1: not connected */
    size_t sent; /* bytes of its text */
};

/* A full queue of the server is no failure: it tries again in the next round.
 */
static void client_dial(struct client *client)
{
    struct sockaddr_in address = {.sin_family = AF_INET};

    client->sent = 0;
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (client->fd < 0)
        die_of_errno("socket");
    address.sin_port = htons((uint16_t)client->port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(client->fd, (struct sockaddr *)&address, sizeof address) == 0 ||
        errno == EINPROGRESS)
        return;
    close(client->fd);
    client->fd = -1;
}

static void client_close(struct client *client)
{
    close(client->fd);
    client->fd = -1;
}

/* False: the server has closed it. */
static bool client_read(const struct client *client)
{
    static char trash[65536];
    ssize_t got = read(client->fd, trash, sizeof trash);

    return got > 0 || (got < 0 && (errno == EAGAIN || errno == ENOTCONN));
}

/* False: the server has closed it. A slow one stops before its text ends. */
static bool client_write(struct client *client)
{
    const size_t size = strlen(client->conduct->text);
    const size_t left = size - client->sent;
    ssize_t put;

    if (client->conduct->is_slow && left == 0)
        return true;
    put = send(client->fd, client->conduct->text + client->sent,
               client->conduct->is_slow ? 1 : left, MSG_NOSIGNAL);
    if (put < 0)
        return errno == EAGAIN || errno == ENOTCONN;
    client->sent += (size_t)put;
    if (client->sent == size && !client->conduct->is_slow)
        client->sent = 0;
    return true;
}

static void client_act(struct client *client)
{
    if (client->fd < 0) {
        client_dial(client);
        return;
    }
    if (client->conduct->text == NULL ||
        (client->conduct->reads && !client_read(client)) ||
        !client_write(client))
        client_close(client);
}

/* So many descriptors, and some. */
static void limit_raise(int connections)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        die_of_errno("limit");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur < (rlim_t)connections + 64)
        die_of_errno("open files");
}

/* Two rounds are done before it says that it has begun. */
_Noreturn static void clients_run(const struct hostile_options *options,
                                  int ready)
{
    struct client *clients =
        calloc((size_t)options->connections, sizeof *clients);

    if (clients == NULL)
        die_of_errno("clients");
    for (int i = 0; i < options->connections; i++) {
        struct client *client = &clients[i];

        client->conduct =
            &conducts[options->kind == HOSTILE_KINDS ? i % (int)HOSTILE_KINDS
                                                     : (int)options->kind];
        client->port =
            client->conduct->is_http ? options->http_port : options->port;
        client->fd = -1;
    }
    for (int round = 0;; round++) {
        for (int i = 0; i < options->connections; i++)
            client_act(&clients[i]);
        if (round == 1 && write(ready, "!", 1) != 1)
            _exit(EXIT_FAILURE);
        pause_s(ROUND_S);
    }
}

pid_t hostile_start(const struct hostile_options *options)
{
    const pid_t parent = getpid();
    int ends[2];
    char byte;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0)
        die_of_errno("pipe");
    pid = fork();
    if (pid < 0)
        die_of_errno("fork");
    if (pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
            setpriority(PRIO_PROCESS, 0, LOW_PRIORITY) != 0)
            die_of_errno("hostile");
        limit_raise(options->connections);
        clients_run(options, ends[1]);
    }
    close(ends[1]);
    if (read(ends[0], &byte, 1) != 1)
        die_of_errno("hostile clients");
    close(ends[0]);
    return pid;
}

void hostile_stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}
