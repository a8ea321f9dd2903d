/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of the memcached engine, and what error replies mean. */
#include "backends/memcached/link.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/text.h"

#define PORT_SIZE       12
#define TEXT_MAX        512
#define REPLY_SHOWN_MAX 200 /* bytes of an answer in a message */
#define SOCKET_PATH_MAX (sizeof((struct sockaddr_un *)NULL)->sun_path - 1)

/* --- waiting, sending, receiving --- */

static bool link_fail(struct memcached_link *link, int error)
{
    link->error = error;
    return false;
}

/* Waits for any of `events`; which ones, or 0 on failure or at the
 * deadline. */
static short link_wait(struct memcached_link *link, int fd, short events)
{
    struct pollfd entry = {.fd = fd, .events = events};
    int64_t rest;
    int count;

    do {
        rest = link->deadline_ms - clock_now_ms();
        count = rest > 0 ? poll(&entry, 1, (int)rest) : 0;
    } while (count < 0 && errno == EINTR);
    if (count > 0)
        return entry.revents;
    (void)link_fail(link, count < 0 ? errno : ETIMEDOUT);
    return 0;
}

static size_t link_room(struct memcached_link *link)
{
    if (link->in_from > 0) {
        memmove(link->in, link->in + link->in_from,
                link->in_to - link->in_from);
        link->in_to -= link->in_from;
        link->in_from = 0;
    }
    return sizeof link->in - link->in_to;
}

/* Takes in what has arrived, which may be nothing. There is room. */
static bool link_receive(struct memcached_link *link)
{
    const ssize_t got = recv(link->fd, link->in + link->in_to,
                             sizeof link->in - link->in_to, 0);

    if (got > 0) {
        link->in_to += (size_t)got;
        return true;
    }
    if (got == 0) {
        link->has_ended = true;
        return link_fail(link, 0);
    }
    return errno == EAGAIN || errno == EINTR || link_fail(link, errno);
}

/* Answers are taken in while requests go out: a server that cannot get rid of
 * its answers stops to read. One that hung up may have said why before. */
bool memcached_link_flush(struct memcached_link *link)
{
    size_t sent = 0;

    while (sent < link->out_length) {
        const bool listens = !link->has_ended && link_room(link) > 0;
        const short wanted = listens ? POLLIN | POLLOUT : POLLOUT;
        const short ready = link_wait(link, link->fd, wanted);
        ssize_t count;

        if (ready == 0)
            return false;
        if ((ready & wanted & POLLIN) != 0 && !link_receive(link) &&
            !link->has_ended)
            return false;
        count = send(link->fd, link->out + sent, link->out_length - sent,
                     MSG_NOSIGNAL);
        if (count > 0)
            sent += (size_t)count;
        else if (errno != EAGAIN && errno != EINTR)
            return link_fail(link, errno);
    }
    link->out_length = 0;
    return true;
}

bool memcached_link_add_bytes(struct memcached_link *link, const char *bytes,
                              size_t length)
{
    while (length > 0) {
        size_t part = sizeof link->out - link->out_length;

        if (part == 0) {
            if (!memcached_link_flush(link))
                return false;
            continue;
        }
        part = part < length ? part : length;
        memcpy(link->out + link->out_length, bytes, part);
        link->out_length += part;
        bytes += part;
        length -= part;
    }
    return true;
}

bool memcached_link_add(struct memcached_link *link, const char *format, ...)
{
    char text[TEXT_MAX + 1];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || length > TEXT_MAX)
        return link_fail(link, EMSGSIZE);
    return memcached_link_add_bytes(link, text, (size_t)length);
}

/* Passes over a value that is too long to be looked at. */
static bool link_skip(struct memcached_link *link, size_t length)
{
    for (;;) {
        const size_t have = link->in_to - link->in_from;
        const size_t part = have < length ? have : length;

        link->in_from += part;
        length -= part;
        if (length == 0)
            return true;
        (void)link_room(link);
        if (link_wait(link, link->fd, POLLIN) == 0 || !link_receive(link))
            return false;
    }
}

bool memcached_link_read(struct memcached_link *link,
                         struct memcached_reply *out)
{
    for (;;) {
        const enum memcached_parsed parsed = memcached_reply_parse(
            link->in + link->in_from, link->in_to - link->in_from, out);

        if (parsed == MEMCACHED_BROKEN) {
            link->is_garbled = true;
            return false;
        }
        if (parsed == MEMCACHED_COMPLETE)
            break;
        /* A reply is far smaller than the buffer. */
        if (link_room(link) == 0 || link_wait(link, link->fd, POLLIN) == 0 ||
            !link_receive(link))
            return false;
    }
    link->in_from += out->size;
    return out->rest == 0 || link_skip(link, out->rest);
}

/* --- the connection --- */

/* Waits until `fd` is connected or has failed; errno, or 0. */
static int connect_await(struct memcached_link *link, int fd)
{
    int error = 0;
    socklen_t length = sizeof error;

    if (link_wait(link, fd, POLLOUT) == 0)
        return link->error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
        return errno;
    return error;
}

/* Connects to one address; errno, or 0 and `link->fd`. */
static int link_dial(struct memcached_link *link,
                     const struct sockaddr *address, socklen_t length)
{
    const int on = 1;
    const int fd = socket(address->sa_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0;

    if (fd < 0)
        return errno;
    if (address->sa_family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(fd, address, length) != 0)
        error = errno == EINPROGRESS ? connect_await(link, fd) : errno;
    if (error != 0) {
        close(fd);
        return error;
    }
    link->fd = fd;
    return 0;
}

static enum seqb_status connect_fail(const struct memcached_link *link,
                                     int error, struct seqb_error *err)
{
    if (error == ETIMEDOUT && clock_now_ms() >= link->deadline_ms)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: cannot connect: no answer within %d ms",
                         link->where, (int)link->budget_ms);
    return error_set(err, SEQB_UNREACHABLE, "%s: cannot connect: %s",
                     link->where, strerror(error));
}

static enum seqb_status connect_path(struct memcached_link *link,
                                     const char *path, struct seqb_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int error;

    if (!text_copy(address.sun_path, sizeof address.sun_path, path))
        return error_set(err, SEQB_INVALID,
                         "%s: a socket path has at most %zu bytes", link->where,
                         SOCKET_PATH_MAX);
    error = link_dial(link, (const struct sockaddr *)&address, sizeof address);
    return error == 0 ? SEQB_OK : connect_fail(link, error, err);
}

static enum seqb_status connect_host(struct memcached_link *link,
                                     const char *host, int port,
                                     struct seqb_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char service[PORT_SIZE];
    int error;

    (void)text_format(service, sizeof service, "%d", port);
    error = getaddrinfo(host, service, &hints, &found);
    if (error != 0)
        return error_set(err, SEQB_UNREACHABLE, "%s: cannot find the host: %s",
                         link->where, gai_strerror(error));
    error = EADDRNOTAVAIL;
    for (const struct addrinfo *at = found; at != NULL && error != 0;
         at = at->ai_next)
        error = link_dial(link, at->ai_addr, at->ai_addrlen);
    freeaddrinfo(found);
    return error == 0 ? SEQB_OK : connect_fail(link, error, err);
}

enum seqb_status memcached_link_open(struct memcached_link *link,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err)
{
    const int port = options->port != 0 ? options->port : MEMCACHED_PORT;
    const char *path = options->socket_path;

    link->budget_ms = options->connect_timeout_ms;
    link->deadline_ms = clock_now_ms() + options->connect_timeout_ms;
    if (path != NULL) {
        (void)text_format(link->where, sizeof link->where, "%s (memcached %s)",
                          options->name, path);
        return connect_path(link, path, err);
    }
    if (options->host == NULL)
        return error_set(err, SEQB_INVALID, "%s: no host and no socket path",
                         options->name);
    (void)text_format(link->where, sizeof link->where, "%s (memcached %s:%d)",
                      options->name, options->host, port);
    return connect_host(link, options->host, port, err);
}

enum seqb_status memcached_link_begin(struct memcached_link *link,
                                      int32_t budget_ms, struct seqb_error *err)
{
    if (link->fd < 0)
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost before, open it again",
                         link->where);
    link->budget_ms = budget_ms;
    link->deadline_ms = clock_now_ms() + budget_ms;
    return SEQB_OK;
}

/* The pool may hold a copy of the descriptor: the server learns of the end
 * only by a shutdown. */
static void link_end(struct memcached_link *link)
{
    if (link->fd >= 0)
        (void)shutdown(link->fd, SHUT_RDWR);
    memcached_link_close(link);
}

enum seqb_status memcached_link_lose(struct memcached_link *link,
                                     enum seqb_status status,
                                     struct seqb_error *err)
{
    const int error = link->error;

    link_end(link);
    if (link->is_garbled)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: the answer is no reply of a memcached server",
                         link->where);
    if (error == ETIMEDOUT && clock_now_ms() >= link->deadline_ms)
        return error_set(err, status, "%s: no answer within %d ms", link->where,
                         (int)link->budget_ms);
    return error_set(err, status, "%s: connection lost: %s", link->where,
                     error != 0 ? strerror(error) : "the server closed it");
}

/* How much of a reply a message shows. */
static int shown(const struct memcached_reply *reply)
{
    if (reply->text == NULL)
        return 0;
    return reply->length < REPLY_SHOWN_MAX ? (int)reply->length
                                           : REPLY_SHOWN_MAX;
}

enum seqb_status memcached_link_distrust(struct memcached_link *link,
                                         const char *asked,
                                         const struct memcached_reply *reply,
                                         struct seqb_error *err)
{
    link_end(link);
    if (reply->code == MEMCACHED_VALUE)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: the answer to %s makes no sense", link->where,
                         asked);
    return error_set(err, SEQB_PROTOCOL,
                     "%s: the answer to %s makes no sense: %.*s", link->where,
                     asked, shown(reply), reply->text);
}

enum seqb_status memcached_link_refuse(struct memcached_link *link,
                                       const char *asked,
                                       const struct memcached_reply *reply,
                                       struct seqb_error *err)
{
    if (memcached_reply_begins(reply, "SERVER_ERROR"))
        return error_set(err, SEQB_REFUSED, "%s: refused: %.*s", link->where,
                         shown(reply), reply->text);
    if (memcached_reply_begins(reply, "CLIENT_ERROR unauthenticated")) {
        link_end(link);
        return error_set(err, SEQB_REFUSED,
                         "%s: the server wants a user and a password",
                         link->where);
    }
    return memcached_link_distrust(link, asked, reply, err);
}

void memcached_link_close(struct memcached_link *link)
{
    if (link->fd >= 0)
        close(link->fd);
    link->fd = -1;
}
