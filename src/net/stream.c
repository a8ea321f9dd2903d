/* SPDX-License-Identifier: Apache-2.0 */
/* See net.h. */
#include "net/net.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/secure.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define SOCKET_PATH_MAX (sizeof((struct sockaddr_un *)NULL)->sun_path - 1)

/* --- waiting, reading, writing --- */

static void fail(struct stream *stream, int error)
{
    (void)text_copy(stream->failure, sizeof stream->failure, strerror(error));
}

void stream_begin(struct stream *stream, int32_t budget_ms)
{
    stream->budget_ms = budget_ms;
    stream->deadline_ms = clock_now_ms() + budget_ms;
}

/* Waits for any of `events`. Returns 0, or errno. */
static int await(int fd, short events, int64_t until_ms)
{
    struct pollfd entry = {.fd = fd, .events = events};
    int count;

    do {
        const int64_t rest = until_ms - clock_now_ms();

        count = rest > 0 ? poll(&entry, 1, (int)rest) : 0;
    } while (count < 0 && errno == EINTR);
    if (count == 0)
        return ETIMEDOUT;
    return count > 0 ? 0 : errno;
}

bool stream_wait(struct stream *stream, bool in, bool out)
{
    const short events =
        (short)((in ? stream->awaits_in : 0) | (out ? stream->awaits_out : 0));
    int error;

    if (in && stream->ssl != NULL && secure_holds(stream))
        return true;
    error = await(stream->fd, events, stream->deadline_ms);
    if (error != 0)
        fail(stream, error);
    return error == 0;
}

static ssize_t plain_read(struct stream *stream, char *to, size_t size)
{
    const ssize_t count = recv(stream->fd, to, size, 0);

    if (count > 0)
        return count;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (count == 0)
        stream->has_ended = true;
    else
        fail(stream, errno);
    return -1;
}

ssize_t stream_read(struct stream *stream, char *to, size_t size)
{
    const ssize_t count = stream->ssl != NULL ? secure_read(stream, to, size)
                                              : plain_read(stream, to, size);

    if (count > 0 && stream->is_renewed)
        stream_begin(stream, stream->budget_ms);
    return count;
}

ssize_t stream_write(struct stream *stream, const char *from, size_t size)
{
    ssize_t count;

    if (stream->ssl != NULL)
        return secure_write(stream, from, size);
    count = send(stream->fd, from, size, MSG_NOSIGNAL);
    if (count >= 0)
        return count;
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    fail(stream, errno);
    return -1;
}

bool stream_send(struct stream *stream, const char *from, size_t size)
{
    while (size > 0) {
        const ssize_t count = stream_write(stream, from, size);

        if (count < 0 || (count == 0 && !stream_wait(stream, false, true)))
            return false;
        from += count;
        size -= (size_t)count;
    }
    return true;
}

bool stream_is_late(const struct stream *stream)
{
    return clock_now_ms() >= stream->deadline_ms;
}

void stream_why(const struct stream *stream, char out[static STREAM_WHY_SIZE])
{
    if (stream_is_late(stream))
        (void)text_format(out, STREAM_WHY_SIZE, "no answer within %d ms",
                          (int)stream->budget_ms);
    else
        (void)text_format(out, STREAM_WHY_SIZE, "connection lost: %s",
                          stream->failure[0] != '\0' ? stream->failure
                                                     : "the server closed it");
}

/* --- connecting --- */

/* Waits until `fd` is connected or has failed. Returns errno, or 0. */
static int dial_await(int fd, int64_t until_ms)
{
    int error = await(fd, POLLOUT, until_ms);
    socklen_t length = sizeof error;

    if (error != 0)
        return error;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error
                                                                      : errno;
}

/* Connects to one address. Returns errno, or 0 with `stream->fd` set. */
static int dial(struct stream *stream, const struct sockaddr *address,
                socklen_t length, int64_t until_ms)
{
    const int on = 1;
    const int fd = socket(address->sa_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;

    if (fd < 0)
        return errno;
    if (address->sa_family != AF_UNIX) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    }
    if (connect(fd, address, length) != 0)
        error = errno == EINPROGRESS ? dial_await(fd, until_ms) : errno;
    if (error != 0) {
        (void)close(fd);
        return error;
    }
    stream->fd = fd;
    return 0;
}

static enum seqb_status dial_fail(const struct stream *stream, int error,
                                  struct seqb_error *err)
{
    if (error == ETIMEDOUT && stream_is_late(stream))
        return error_set(err, SEQB_UNREACHABLE, "no answer within %d ms",
                         (int)stream->budget_ms);
    return error_set(err, SEQB_UNREACHABLE, "%s", strerror(error));
}

static enum seqb_status dial_path(struct stream *stream, const char *path,
                                  struct seqb_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int error;

    if (!text_copy(address.sun_path, sizeof address.sun_path, path))
        return error_set(err, SEQB_INVALID,
                         "a socket path has at most %zu bytes",
                         SOCKET_PATH_MAX);
    error = dial(stream, (const struct sockaddr *)&address, sizeof address,
                 stream->deadline_ms);
    return error == 0 ? SEQB_OK : dial_fail(stream, error, err);
}

static enum seqb_status shake_hands(struct stream *stream,
                                    const struct stream_target *target,
                                    struct seqb_error *err)
{
    const enum seqb_status status = secure_begin(stream, target, err);

    if (status != SEQB_OK)
        return status;
    for (;;) {
        const enum secure_step step = secure_shake(stream, err);

        if (step == SECURE_FAILED)
            return err->status;
        if (step == SECURE_DONE && !secure_has_agreed(stream, target))
            return error_set(err, SEQB_UNREACHABLE,
                             "TLS: the server does not speak the protocol %s",
                             target->alpn);
        if (step == SECURE_DONE)
            return SEQB_OK;
        if (!stream_wait(stream, true, false))
            return error_set(err, SEQB_UNREACHABLE,
                             "TLS: the server did not answer the handshake in "
                             "time");
    }
}

/* Until when to try the first of these addresses: one that hangs leaves the
 * others their share of the time. */
static int64_t share_end_ms(const struct stream *stream,
                            const struct addrinfo *left)
{
    const int64_t now_ms = clock_now_ms();
    int shares = 0;

    for (; left != NULL; left = left->ai_next)
        shares++;
    return now_ms + (stream->deadline_ms - now_ms) / shares;
}

/* Connects to the first of these addresses, and shakes hands, in its share of
 * the time. Sets whether it accepted the connection. */
static enum seqb_status address_try(struct stream *stream,
                                    const struct stream_target *target,
                                    const struct addrinfo *left,
                                    bool *has_accepted, struct seqb_error *err)
{
    const int64_t deadline_ms = stream->deadline_ms;
    const int64_t until_ms = share_end_ms(stream, left);
    const int error = dial(stream, left->ai_addr, left->ai_addrlen, until_ms);
    enum seqb_status status = SEQB_OK;

    *has_accepted = error == 0;
    if (error != 0)
        return dial_fail(stream, error, err);
    if (target->tls == NULL)
        return SEQB_OK;
    stream->deadline_ms = until_ms;
    status = shake_hands(stream, target, err);
    stream->deadline_ms = deadline_ms;
    return status;
}

/* A server that accepted the connection says more than one that did not. */
static enum seqb_status dial_host(struct stream *stream,
                                  const struct stream_target *target,
                                  struct seqb_error *err)
{
    struct addrinfo *found = NULL;
    const char *text =
        lookup_host(target->host, target->port, stream->deadline_ms, &found);
    enum seqb_status status = SEQB_UNREACHABLE;
    bool was_accepted = false;

    if (text != NULL)
        return error_set(err, SEQB_UNREACHABLE, "host not found: %s", text);
    (void)error_set(err, status, "%s", strerror(EADDRNOTAVAIL));
    for (const struct addrinfo *at = found;
         at != NULL && status == SEQB_UNREACHABLE; at = at->ai_next) {
        const struct stream fresh = *stream;
        struct seqb_error why;
        bool has_accepted;

        status = address_try(stream, target, at, &has_accepted, &why);
        if (status == SEQB_OK)
            break;
        stream_close(stream);
        *stream = fresh;
        if (has_accepted || !was_accepted)
            (void)error_copy(err, &why);
        was_accepted = was_accepted || has_accepted;
    }
    freeaddrinfo(found);
    return status;
}

enum seqb_status stream_open(struct stream *stream,
                             const struct stream_target *target,
                             int32_t budget_ms, struct seqb_error *err)
{
    enum seqb_status status;

    *stream =
        (struct stream){.fd = -1, .awaits_in = POLLIN, .awaits_out = POLLOUT};
    stream_begin(stream, budget_ms > 0 ? budget_ms : 1);
    status = target->port == 0 ? dial_path(stream, target->host, err)
                               : dial_host(stream, target, err);
    if (status == SEQB_OK && target->tls != NULL && target->port == 0)
        status = shake_hands(stream, target, err);
    return status;
}

void stream_close(struct stream *stream)
{
    secure_end(stream);
    if (stream->fd >= 0)
        (void)close(stream->fd);
    stream->fd = -1;
}
