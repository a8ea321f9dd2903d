/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of the memcached engine, and the meaning of error replies. */
#include "backends/memcached/link.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "backends/tls_files.h"
#include "platform/error.h"
#include "platform/text.h"

#define TEXT_MAX        512
#define REPLY_SHOWN_MAX 200 /* bytes of an answer in a message */

/* --- sending, receiving --- */

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

/* Reads what has arrived, which may be nothing. There must be room. */
static bool link_receive(struct memcached_link *link)
{
    const ssize_t got = stream_read(&link->stream, link->in + link->in_to,
                                    sizeof link->in - link->in_to);

    if (got > 0)
        link->in_to += (size_t)got;
    return got >= 0;
}

/* Waits for input, and reads it. */
static bool link_await(struct memcached_link *link)
{
    return stream_wait(&link->stream, true, false) && link_receive(link);
}

/* Reads answers while it sends requests: a server that cannot send its answers
 * stops reading. A server that hung up may have sent the reason before. */
bool memcached_link_flush(struct memcached_link *link)
{
    struct stream *stream = &link->stream;
    size_t sent = 0;

    while (sent < link->out_length) {
        const ssize_t count =
            stream_write(stream, link->out + sent, link->out_length - sent);
        const bool listens = !stream->has_ended && link_room(link) > 0;

        if (count < 0)
            return false;
        sent += (size_t)count;
        if (count > 0)
            continue;
        if (!stream_wait(stream, listens, true))
            return false;
        if (listens && !link_receive(link) && !stream->has_ended)
            return false;
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
        return false;
    return memcached_link_add_bytes(link, text, (size_t)length);
}

/* Skips a value that is too long. */
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
        if (!link_await(link))
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
        if (link_room(link) == 0 || !link_await(link))
            return false;
    }
    link->in_from += out->size;
    return link_skip(link, out->rest);
}

/* --- the connection --- */

enum seqb_status memcached_link_open(struct memcached_link *link,
                                     const struct seqb_backend_options *options,
                                     struct seqb_error *err)
{
    const int port = options->port != 0 ? options->port : MEMCACHED_PORT;
    const char *path = options->socket_path;
    const struct tls_client_files files = tls_files_of(options);
    struct stream_target target = {.host = path};
    struct seqb_error why;
    enum seqb_status status;

    if (path == NULL && options->host == NULL)
        return error_set(err, SEQB_INVALID, "%s: no host and no socket path",
                         options->name);
    if (path != NULL) {
        (void)text_format(link->where, sizeof link->where, "%s (memcached %s)",
                          options->name, path);
    } else {
        (void)text_format(link->where, sizeof link->where,
                          "%s (memcached %s:%d)", options->name, options->host,
                          port);
        target = (struct stream_target){
            .host = options->host,
            .port = port,
            .tls = options->tls != SEQB_TLS_OFF ? &files : NULL,
        };
    }
    status =
        stream_open(&link->stream, &target, options->connect_timeout_ms, &why);
    if (status == SEQB_OK)
        return SEQB_OK;
    return error_set(err, status, "%s: cannot connect: %s", link->where,
                     why.text);
}

bool memcached_link_is_open(const struct memcached_link *link)
{
    return link->stream.fd >= 0;
}

enum seqb_status memcached_link_begin(struct memcached_link *link,
                                      int32_t budget_ms, struct seqb_error *err)
{
    if (!memcached_link_is_open(link))
        return error_set(err, SEQB_UNREACHABLE,
                         "%s: the connection was lost before, open it again",
                         link->where);
    stream_begin(&link->stream, budget_ms);
    return SEQB_OK;
}

/* Shuts the socket down: the pool may have a duplicate of the descriptor, so
 * that a close alone would not end the connection. */
static void link_end(struct memcached_link *link)
{
    if (memcached_link_is_open(link))
        (void)shutdown(link->stream.fd, SHUT_RDWR);
    memcached_link_close(link);
}

enum seqb_status memcached_link_lose(struct memcached_link *link,
                                     enum seqb_status status,
                                     struct seqb_error *err)
{
    char why[STREAM_WHY_SIZE];

    stream_why(&link->stream, why);
    link_end(link);
    if (link->is_garbled)
        return error_set(err, SEQB_PROTOCOL,
                         "%s: the answer is no reply of a memcached server",
                         link->where);
    return error_set(err, status, "%s: %s", link->where, why);
}

/* How many bytes of a reply that is a line a message shows. */
static int shown(const struct memcached_reply *reply)
{
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
    stream_close(&link->stream);
}
