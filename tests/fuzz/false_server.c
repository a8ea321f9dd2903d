/* SPDX-License-Identifier: Apache-2.0 */
/* See false_server.h. */
#include "fuzz/false_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

enum { BY_PATH, BY_TCP, SOCKETS };

enum { CLIENTS_MAX = 16 }; /* at a time */

static struct {
    struct false_server where;
    char folder[64];
    int sockets[SOCKETS];
    pthread_mutex_t lock; /* guards the rest */
    size_t size;
    uint8_t bytes[FALSE_SERVER_MAX];
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* To a client that has connected. */
static void say(int fd)
{
    uint8_t said[FALSE_SERVER_MAX];
    size_t size = 0;

    pthread_mutex_lock(&server.lock);
    size = server.size;
    memcpy(said, server.bytes, size);
    pthread_mutex_unlock(&server.lock);
    (void)!send(fd, said, size, MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
}

/* All that a client says is read: it must not wait to say it. False at its end.
 */
static bool hear(int fd)
{
    char heard[4096];

    return read(fd, heard, sizeof heard) > 0;
}

/* A client may keep a connection open and ask by another one. */
static void *run(void *unused)
{
    struct pollfd polled[SOCKETS + CLIENTS_MAX] = {
        {.fd = server.sockets[BY_PATH], .events = POLLIN},
        {.fd = server.sockets[BY_TCP], .events = POLLIN}};
    nfds_t count = SOCKETS;

    (void)unused;
    for (;;) {
        require(poll(polled, count, -1) > 0);
        for (nfds_t i = count; i-- > SOCKETS;) {
            if (polled[i].revents == 0 || hear(polled[i].fd))
                continue;
            close(polled[i].fd);
            polled[i] = polled[--count];
        }
        for (nfds_t i = 0; i < SOCKETS && count < SOCKETS + CLIENTS_MAX; i++) {
            if (polled[i].revents == 0)
                continue;
            polled[count] = (struct pollfd){
                .fd = accept(polled[i].fd, NULL, NULL), .events = POLLIN};
            if (polled[count].fd >= 0)
                say(polled[count++].fd);
        }
    }
    return NULL;
}

static void listen_by_path(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(server.folder, sizeof server.folder, "/tmp/seqb.XXXXXX");
    require(mkdtemp(server.folder) != NULL);
    snprintf(server.where.path, sizeof server.where.path, "%s/s",
             server.folder);
    snprintf(address.sun_path, sizeof address.sun_path, "%s",
             server.where.path);
    require(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    require(listen(fd, 16) == 0);
    server.sockets[BY_PATH] = fd;
}

static void listen_by_tcp(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    require(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    require(listen(fd, 16) == 0);
    require(getsockname(fd, (struct sockaddr *)&address, &length) == 0);
    snprintf(server.where.address, sizeof server.where.address, "127.0.0.1:%d",
             ntohs(address.sin_port));
    server.sockets[BY_TCP] = fd;
}

static void clean_up(void)
{
    unlink(server.where.path);
    rmdir(server.folder);
}

const struct false_server *false_server_start(void)
{
    pthread_t thread;

    signal(SIGPIPE, SIG_IGN);
    listen_by_path();
    listen_by_tcp();
    atexit(clean_up);
    require(pthread_create(&thread, NULL, run, NULL) == 0);
    pthread_detach(thread);
    return &server.where;
}

void false_server_say(const uint8_t *bytes, size_t size)
{
    pthread_mutex_lock(&server.lock);
    server.size = size < FALSE_SERVER_MAX ? size : FALSE_SERVER_MAX;
    memcpy(server.bytes, bytes, server.size);
    pthread_mutex_unlock(&server.lock);
}
