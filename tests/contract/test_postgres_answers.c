/* SPDX-License-Identifier: Apache-2.0 */
/* The postgres engine facing servers that are none, or that lie: whatever they
 * send, opening fails with a reason and within its time. */
#include "contract/postgres_fixture.h"

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

#define PATIENCE_MS 60000
#define SILENT_MS   300
#define SILENT      "no answer within"

enum after { WAITS, CLOSES, DRIPS };

struct impostor {
    const char *name;
    const char *text; /* once it was spoken to */
    size_t length;
    enum after after;
    const char *words; /* what the failure says */
};

#define AUTH_OK "R\0\0\0\x08\0\0\0\0"
#define VERSION "S\0\0\0\x18server_version\00015.1\0"
#define READY   "Z\0\0\0\x05I"
#define GREETS  AUTH_OK VERSION READY
#define PARSED                                                                 \
    "1\0\0\0\x04"                                                              \
    "2\0\0\0\x04"
#define DONE "C\0\0\0\x0dSELECT 0"
#define SAYS(text, after, words)                                               \
    {                                                                          \
#text, text, sizeof(text) - 1, after, words                            \
    }

/* Before a session, and in answer to its first statement. */
static const struct impostor strangers[] = {
    SAYS("", CLOSES, "cannot connect"),
    SAYS("", WAITS, SILENT),
    SAYS("", DRIPS, "cannot connect"),
    SAYS("HTTP/1.1 400 Bad Request\r\n\r\n", CLOSES, "cannot connect"),
    SAYS("R\0\0\x10\0\0\0\0\0", DRIPS, "cannot connect"),
    SAYS("E\0\0\x10\0SFATAL", DRIPS, SILENT),
    SAYS("E\0\0\0\x0aSFATAL", WAITS, SILENT),
    SAYS(AUTH_OK READY, WAITS, "older"),
};

static const struct impostor liars[] = {
    SAYS("", CLOSES, "connection lost"),
    SAYS("", WAITS, SILENT),
    SAYS("", DRIPS, "connection lost"),
    SAYS("D\0\0\0\x06\0\0", CLOSES, "connection lost"),
    SAYS(READY READY READY, WAITS, "makes no sense"),
    SAYS(PARSED "n\0\0\0\x04" DONE "\0" READY, WAITS, "makes no sense"),
    SAYS(PARSED "T\0\0\0\x06\0\0" DONE "\0" READY, WAITS, "makes no sense"),
    SAYS(PARSED "T\0\0\0\x7f\0\x05x", CLOSES, "connection lost"),
    SAYS("E\0\0\0\x12SERROR\0C42P0\0\0" READY, WAITS, "42P0"),
};

static bool impostor_say(int fd, const char *text, size_t length)
{
    char ignored[4096];

    return read(fd, ignored, sizeof ignored) > 0 &&
           write(fd, text, length) == (ssize_t)length;
}

static void impostor_serve(int fd, const struct impostor *impostor, bool greets)
{
    char ignored[4096];

    if (greets && !impostor_say(fd, GREETS, sizeof GREETS - 1))
        return;
    if (!impostor_say(fd, impostor->text, impostor->length))
        return;
    while (impostor->after == DRIPS) {
        nanosleep(&(struct timespec){0, 10000000}, NULL);
        if (write(fd, "x", 1) < 0)
            return;
    }
    if (impostor->after == CLOSES)
        shutdown(fd, SHUT_WR);
    while (read(fd, ignored, sizeof ignored) > 0)
        continue;
}

static void impostor_run(int listener, const struct impostor *impostor,
                         bool greets)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        const int fd = accept(listener, NULL, NULL);

        if (fd < 0)
            _exit(1);
        impostor_serve(fd, impostor, greets);
        close(fd);
    }
}

static pid_t impostor_start(const struct impostor *impostor, bool greets,
                            int32_t *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pid_t child;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        impostor_run(fd, impostor, greets);
    close(fd);
    return child;
}

static void must_not_open_on(const struct impostor *impostor, bool greets)
{
    /* One that answers may be slow to do so, on a busy machine. */
    const int32_t within_ms =
        strcmp(impostor->words, SILENT) == 0 ? SILENT_MS : PATIENCE_MS;
    struct fixture f = {.ops = &backend_postgres,
                        .options = {.name = "pg-a",
                                    .host = "127.0.0.1",
                                    .timeout_ms = within_ms,
                                    .connect_timeout_ms = within_ms}};
    const pid_t child = impostor_start(impostor, greets, &f.options.port);
    const enum seqb_status status = fixture_open(&f);

    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_null(f.backend);
    if (status == SEQB_OK || strstr(f.err.text, impostor->words) == NULL)
        fail_msg("after %s: %s: %s", impostor->name, seqb_status_name(status),
                 f.err.text);
}

TEST(servers_that_are_none_end_within_the_deadline)
{
    for (size_t i = 0; i < COUNT(strangers); i++)
        must_not_open_on(&strangers[i], false);
}

TEST(servers_that_lie_end_within_the_deadline)
{
    for (size_t i = 0; i < COUNT(liars); i++)
        must_not_open_on(&liars[i], true);
}
