/* SPDX-License-Identifier: Apache-2.0 */
/* A process that takes itself for a Redis server. */
#include "contract/redis_impostor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DRIPS_MAX 100 /* and then the reply ends */

static void serve(int fd, const char *text, enum after after)
{
    char ignored[4096];

    if (write(fd, text, strlen(text)) < 0)
        return;
    for (int i = 0; after == DRIPS && i < DRIPS_MAX; i++) {
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        if (write(fd, "x", 1) < 0)
            return;
    }
    if (after == DRIPS && write(fd, "\r\n", 2) < 0)
        return;
    if (after == CLOSES)
        shutdown(fd, SHUT_WR);
    while (read(fd, ignored, sizeof ignored) > 0)
        continue;
}

static void serve_all(int listener, const char *text, enum after after)
{
    for (;;) {
        const int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        serve(fd, text, after);
        close(fd);
    }
}

void impostor_start(struct impostor *impostor, const char *text,
                    enum after after)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    const pid_t parent = getpid();

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    impostor->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(impostor->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(impostor->fd, 8), 0);
    assert_int_equal(
        getsockname(impostor->fd, (struct sockaddr *)&address, &length), 0);
    impostor->pid = fork();
    assert_true(impostor->pid >= 0);
    if (impostor->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            serve_all(impostor->fd, text, after);
        _exit(1);
    }
    impostor->options = (struct seqb_backend_options){
        .name = "redis-a",
        .host = "127.0.0.1",
        .port = ntohs(address.sin_port),
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
    };
}

enum seqb_status impostor_open(struct impostor *impostor)
{
    return backend_redis.open(&impostor->options, &impostor->backend,
                              &impostor->err);
}

void impostor_stop(struct impostor *impostor)
{
    backend_redis.close(impostor->backend);
    impostor->backend = NULL;
    kill(impostor->pid, SIGKILL);
    waitpid(impostor->pid, NULL, 0);
    close(impostor->fd);
}
