/* SPDX-License-Identifier: Apache-2.0 */
/* What passes for a server. */
#include "contract/impostor.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/test.h"

#define DRIPS_MAX 100 /* and then the reply ends */
#define UNKEPT    (-1)

/* What it says: may have a 0 in it. */
struct speech {
    const char *text;
    size_t length;
    enum after after;
};

static void serve(int fd, const struct speech *speech, int record)
{
    const enum after after = speech->after;

    char got[4096];
    ssize_t length;

    if (write(fd, speech->text, speech->length) < 0)
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
    while ((length = read(fd, got, sizeof got)) > 0) {
        if (record != UNKEPT && write(record, got, (size_t)length) != length)
            _exit(1);
    }
}

/* The record ends with the first connection. */
static void serve_all(const struct impostor *impostor,
                      const struct speech *speech)
{
    int record = impostor->record[1];

    signal(SIGPIPE, SIG_IGN);
    close(impostor->record[0]);
    for (;;) {
        const int fd = accept(impostor->fd, NULL, NULL);

        if (fd < 0)
            _exit(1);
        serve(fd, speech, record);
        close(fd);
        if (record != UNKEPT)
            close(record);
        record = UNKEPT;
    }
}

static void impostor_listen(struct impostor *impostor)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    impostor->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        bind(impostor->fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(impostor->fd, 8), 0);
    assert_int_equal(
        getsockname(impostor->fd, (struct sockaddr *)&address, &length), 0);
    impostor->options = (struct seqb_backend_options){
        .name = "impostor-a",
        .host = "127.0.0.1",
        .port = ntohs(address.sin_port),
        .timeout_ms = 20000,
        .connect_timeout_ms = 20000,
    };
}

void impostor_start(struct impostor *impostor, const char *text,
                    enum after after)
{
    impostor_start_bytes(impostor, text, strlen(text), after);
}

void impostor_start_bytes(struct impostor *impostor, const char *text,
                          size_t length, enum after after)
{
    const struct speech speech = {text, length, after};
    const pid_t parent = getpid();

    impostor_listen(impostor);
    assert_int_equal(pipe(impostor->record), 0);
    impostor->pid = fork();
    assert_true(impostor->pid >= 0);
    if (impostor->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            serve_all(impostor, &speech);
        _exit(1);
    }
    close(impostor->record[1]);
}

enum seqb_status impostor_open(struct impostor *impostor,
                               const struct seqb_backend_ops *ops)
{
    return ops->open(&impostor->options, &impostor->backend, &impostor->err);
}

static void backend_close(struct impostor *impostor)
{
    if (impostor->backend != NULL)
        impostor->backend->ops->close(impostor->backend);
    impostor->backend = NULL;
}

void impostor_stop(struct impostor *impostor)
{
    backend_close(impostor);
    kill(impostor->pid, SIGKILL);
    waitpid(impostor->pid, NULL, 0);
    close(impostor->fd);
    close(impostor->record[0]);
}

void impostor_recall(struct impostor *impostor, char *out, size_t size)
{
    size_t length = 0;
    ssize_t got;

    backend_close(impostor);
    while ((got = read(impostor->record[0], out + length, size - 1 - length)) >
           0)
        length += (size_t)got;
    out[length] = '\0';
}

int impostor_setup(void **state)
{
    static struct impostor impostor;

    impostor = (struct impostor){0};
    *state = &impostor;
    return 0;
}

int impostor_teardown(void **state)
{
    struct impostor *impostor = *state;

    if (impostor->pid > 0)
        impostor_stop(impostor);
    return 0;
}
