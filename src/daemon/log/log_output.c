/* SPDX-License-Identifier: Apache-2.0 */
/* See log_output.h. */
#include "daemon/log/log_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/log/log.h"

/* A pipe that is ready takes as much without waiting: pipe(7). */
#define AT_ONCE 4096

#define DRAIN_STEP_MS 10

static struct {
    struct stat about; /* what stderr was when `fd` was chosen */
    int fd;            /* stderr, or opened again to be nonblocking */
    bool is_chosen;
    char *held;
    size_t begin, end; /* of what is held */
    int64_t lost;
} output;

/* O_NONBLOCK on stderr itself would apply to all processes that share it. A
 * pipe or a terminal that is opened again has flags of its own. If that is
 * forbidden, poll(2) alone has to do. A socket cannot be opened again, and a
 * file never waits for a reader. */
static int fd_choose(const struct stat *about)
{
    int fd = -1;

    if (S_ISFIFO(about->st_mode) || S_ISCHR(about->st_mode))
        fd = open("/proc/self/fd/2",
                  O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return fd >= 0 ? fd : STDERR_FILENO;
}

/* False if there is no stderr. */
static bool output_choose(void)
{
    struct stat about;

    if (fstat(STDERR_FILENO, &about) != 0)
        return false;
    if (output.is_chosen && about.st_dev == output.about.st_dev &&
        about.st_ino == output.about.st_ino &&
        about.st_rdev == output.about.st_rdev)
        return true;
    if (output.is_chosen && output.fd != STDERR_FILENO)
        (void)close(output.fd);
    output.fd = fd_choose(&about);
    output.about = about;
    output.is_chosen = true;
    return true;
}

void log_output_open(void)
{
    (void)output_choose();
}

static bool is_ready(int fd, int ms)
{
    struct pollfd one = {.fd = fd, .events = POLLOUT};

    return poll(&one, 1, ms) == 1;
}

static ssize_t write_once(const char *text, size_t length)
{
    if (S_ISSOCK(output.about.st_mode))
        return send(output.fd, text, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (!S_ISREG(output.about.st_mode) && output.fd == STDERR_FILENO) {
        if (!is_ready(output.fd, 0)) {
            errno = EAGAIN;
            return -1;
        }
        length = length < AT_ONCE ? length : AT_ONCE;
    }
    return write(output.fd, text, length);
}

/* Returns how many bytes need no other try: they were written, or cannot be. */
static size_t write_now(const char *text, size_t length)
{
    size_t done = 0;

    if (!output_choose())
        return length;
    while (done < length) {
        const ssize_t put = write_once(text + done, length - done);

        if (put < 0 && errno == EAGAIN)
            return done;
        if (put < 0 && errno != EINTR)
            return length;
        done += put > 0 ? (size_t)put : 0;
    }
    return done;
}

void log_output_flush(void)
{
    if (output.begin == output.end)
        return;
    output.begin +=
        write_now(output.held + output.begin, output.end - output.begin);
    if (output.begin == output.end)
        output.begin = output.end = 0;
}

/* False if there is no room for all of it. */
static bool text_hold(const char *text, size_t length)
{
    if (length > LOG_OUTPUT_HELD - (output.end - output.begin))
        return false;
    if (output.held == NULL)
        output.held = malloc(LOG_OUTPUT_HELD);
    if (output.held == NULL)
        return false;
    if (length > LOG_OUTPUT_HELD - output.end) {
        memmove(output.held, output.held + output.begin,
                output.end - output.begin);
        output.end -= output.begin;
        output.begin = 0;
    }
    memcpy(output.held + output.end, text, length);
    output.end += length;
    return true;
}

void log_output_write(const char *line, size_t length)
{
    size_t done = 0;

    if (output.begin < output.end)
        log_output_flush();
    if (output.begin == output.end)
        done = write_now(line, length);
    if (done < length && !text_hold(line + done, length - done))
        output.lost++;
}

int64_t log_output_lost(void)
{
    const int64_t lost = output.begin == output.end ? output.lost : 0;

    output.lost -= lost;
    return lost;
}

/* A wait without progress counts. */
void log_output_drain(int32_t ms)
{
    while (output.begin < output.end && ms > 0) {
        if (!is_ready(output.fd, DRAIN_STEP_MS))
            ms -= DRAIN_STEP_MS;
        log_output_flush();
    }
}

void log_last_words(const char *text)
{
    if (is_ready(STDERR_FILENO, 0))
        (void)!write(STDERR_FILENO, text, strlen(text));
}
