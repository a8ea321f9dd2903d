/* SPDX-License-Identifier: Apache-2.0 */
/* The streams, and how far each has read the log; see events.h. */
#include "daemon/http/events/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "daemon/daemon.h"
#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"
#include "daemon/http/route.h"
#include "daemon/log/log.h"

/* The most streams. Each takes a descriptor and a bounded buffer, and each line
 * of the log costs time of the loop for each stream. */
#define STREAMS_MAX 32

/* Bytes that a stream sends ahead of its socket; it may exceed that by one
 * line. The rest stays in the log. */
#define UNSENT_MAX 16384

/* Seconds between heartbeats: proxies and clients consider a silent connection
 * dead. */
#define HEARTBEAT_S 15

/* Tells browsers to reconnect after that many ms. */
#define BEGIN "retry: 2000\n\n"

#define HEX 16 /* the base of the start in an id */

#define READER_SIZE (LOGIN_SOURCE_SIZE + 8)

struct stream {
    struct pending pending;   /* first */
    char reader[READER_SIZE]; /* a user, or an address */
    struct streams *streams;
    TAILQ_ENTRY(stream) entry;
    uint64_t at; /* the number of the last line that it has read */
    enum seqb_log_level level;
};

TAILQ_HEAD(stream_list, stream);

struct streams {
    struct stream_list all;
    size_t count;
    uint64_t start; /* random: lines are numbered from 1 at each start */
    struct log_watcher watcher; /* registered while there are streams */
    int line_fd;                /* an eventfd: there are further lines */
    struct event *line;
    struct event *heartbeat;
};

/* --- one stream --- */

/* False if memory is short. */
static bool stream_send_line(struct stream *stream,
                             const struct log_entry *entry)
{
    char *object = log_entry_json(entry);
    char *text = NULL;
    int length = -1;
    bool is_sent = false;

    if (object != NULL)
        length = asprintf(&text, "id: %016" PRIx64 "-%" PRIu64 "\ndata: %s\n\n",
                          stream->streams->start, entry->number, object);
    free(object);
    if (length < 0)
        return false;
    is_sent = exchange_send(stream->pending.exchange, text, (size_t)length);
    free(text);
    return is_sent;
}

/* Sends lines until UNSENT_MAX bytes are unsent. The stream is gone afterwards
 * if memory is short. */
static void stream_fill(struct stream *stream)
{
    struct exchange *exchange = stream->pending.exchange;
    struct log_entry entry;
    bool is_sent = true;

    while (is_sent && exchange_unsent(exchange) < UNSENT_MAX &&
           log_read(&stream->at, stream->level, &entry)) {
        is_sent = stream_send_line(stream, &entry);
        free(entry.line);
    }
    if (!is_sent)
        exchange_abort(exchange);
}

static void stream_on_drained(struct pending *pending)
{
    stream_fill((struct stream *)pending);
}

/* Called when there are further lines. A client that has not taken what was
 * sent before, and has missed a line thereby, is disconnected. It may reconnect
 * and continue where it was. */
static void stream_go_on(struct stream *stream)
{
    struct exchange *exchange = stream->pending.exchange;
    uint64_t oldest = 0;
    uint64_t newest = 0;

    if (exchange_unsent(exchange) == 0) {
        stream_fill(stream);
        return;
    }
    log_span(&oldest, &newest);
    if (oldest > stream->at + 1)
        exchange_abort(exchange);
}

static void stream_beat(struct stream *stream)
{
    struct exchange *exchange = stream->pending.exchange;

    if (exchange_unsent(exchange) == 0 && !exchange_send(exchange, ":\n\n", 3))
        exchange_abort(exchange);
}

/* --- all of them --- */

static void streams_visit(struct streams *streams,
                          void (*visit)(struct stream *stream))
{
    struct stream *stream = NULL;
    struct stream *next = NULL;

    for (stream = TAILQ_FIRST(&streams->all); stream != NULL; stream = next) {
        next = TAILQ_NEXT(stream, entry);
        visit(stream);
    }
}

/* Any thread, with the log's lock held. */
static void streams_see(void *context, const struct log_entry *entry)
{
    const struct streams *streams = context;
    const uint64_t one = 1;

    (void)entry;
    /* Fails only if the eventfd's counter is full: the loop is awake then. */
    if (write(streams->line_fd, &one, sizeof one) < 0)
        return;
}

static void streams_on_line(evutil_socket_t fd, short events, void *context)
{
    uint64_t count = 0;

    (void)events;
    /* Done before the log is read, so that a later line wakes the loop
     * again. */
    (void)!read(fd, &count, sizeof count);
    streams_visit(context, stream_go_on);
}

static void streams_on_heartbeat(evutil_socket_t fd, short events,
                                 void *context)
{
    (void)fd;
    (void)events;
    streams_visit(context, stream_beat);
}

/* Adds a stream. The first one registers the log watcher. */
static bool streams_add(struct streams *streams, struct stream *stream)
{
    const struct timeval pause = {HEARTBEAT_S, 0};

    if (streams->count == 0 && !log_watch(&streams->watcher))
        return false;
    if (streams->count++ == 0)
        event_add(streams->heartbeat, &pause);
    stream->streams = streams;
    TAILQ_INSERT_TAIL(&streams->all, stream, entry);
    return true;
}

static void stream_cancel(struct pending *pending)
{
    struct stream *stream = (struct stream *)pending;
    struct streams *streams = stream->streams;

    TAILQ_REMOVE(&streams->all, stream, entry);
    free(stream);
    if (--streams->count > 0)
        return;
    log_unwatch(&streams->watcher);
    event_del(streams->heartbeat);
}

/* --- the route --- */

/* The number of the last line that a reconnecting client has seen; 0: none. An
 * id of an earlier start says nothing about the lines of this one, whether the
 * log has reached its number or not. */
static uint64_t last_seen(struct exchange *exchange)
{
    const char *id = evhttp_find_header(
        evhttp_request_get_input_headers(exchange->request), "Last-Event-ID");
    uint64_t oldest = 0;
    uint64_t newest = 0;
    uint64_t number = 0;
    char *rest = NULL;

    if (id == NULL ||
        strtoull(id, &rest, HEX) != exchange->exchanges->streams->start ||
        *rest != '-')
        return 0;
    number = strtoull(rest + 1, NULL, 10);
    log_span(&oldest, &newest);
    return number <= newest ? number : 0;
}

/* The client's user if it has logged in, else its address. */
static void reader_of(const struct exchange *exchange, char out[READER_SIZE])
{
    const struct identity *identity = &exchange->identity;
    char name[IDENTITY_NAME_SIZE];
    char source[LOGIN_SOURCE_SIZE];

    if (identity->user != NULL && identity->means != BY_NOTHING) {
        snprintf(out, READER_SIZE, "user %s", identity_name(identity, name));
        return;
    }
    identity_source(exchange_socket(exchange), source);
    snprintf(out, READER_SIZE, "%s", source);
}

/* A reader may have as many streams as would be free: the first one half of
 * them. So one reader leaves some for others. */
static bool streams_have_room(const struct streams *streams, const char *reader)
{
    const struct stream *stream = NULL;
    size_t own = 0;

    TAILQ_FOREACH(stream, &streams->all, entry)
        own += strcmp(stream->reader, reader) == 0;
    return streams->count < STREAMS_MAX && own < STREAMS_MAX - streams->count;
}

static void stream_start(struct exchange *exchange, enum seqb_log_level level)
{
    struct streams *streams = exchange->exchanges->streams;
    struct stream *stream = NULL;
    char reader[READER_SIZE];

    reader_of(exchange, reader);
    if (streams_have_room(streams, reader))
        stream = calloc(1, sizeof *stream);
    if (stream == NULL || !streams_add(streams, stream)) {
        free(stream);
        problem_answer(exchange, HTTP_SERVUNAVAIL, "AGAIN",
                       "too many read the events, try again");
        return;
    }
    stream->pending.cancel = stream_cancel;
    stream->pending.drained = stream_on_drained;
    stream->level = level;
    memcpy(stream->reader, reader, sizeof reader);
    stream->at = last_seen(exchange);
    if (!exchange_begin(exchange, "text/event-stream", &stream->pending)) {
        stream_cancel(&stream->pending);
        problem_answer_short(exchange);
        return;
    }
    if (!exchange_send(exchange, BEGIN, strlen(BEGIN)))
        exchange_abort(exchange);
}

void events_route(struct exchange *exchange, const struct target *target)
{
    const char *word = evhttp_find_header(&target->query, "level");
    enum seqb_log_level level = SEQB_LOG_INFO;

    if (word != NULL && !log_level_find(word, &level))
        problem_answer(exchange, HTTP_BADREQUEST, "ERR",
                       "level is error, warn, info or debug");
    else if (exchange->exchanges->daemon->is_stopping)
        problem_answer(exchange, HTTP_SERVUNAVAIL, "CLOSED",
                       "the broker is closing");
    else if (evhttp_request_get_command(exchange->request) == EVHTTP_REQ_HEAD)
        exchange_answer_text(exchange, HTTP_OK, "text/event-stream", "");
    else
        stream_start(exchange, level);
}

struct streams *streams_open(struct event_base *base)
{
    struct streams *streams = calloc(1, sizeof *streams);

    if (streams == NULL)
        return NULL;
    TAILQ_INIT(&streams->all);
    evutil_secure_rng_get_bytes(&streams->start, sizeof streams->start);
    streams->watcher = (struct log_watcher){streams_see, streams};
    streams->line_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (streams->line_fd >= 0)
        streams->line = event_new(base, streams->line_fd, EV_READ | EV_PERSIST,
                                  streams_on_line, streams);
    streams->heartbeat =
        event_new(base, -1, EV_PERSIST, streams_on_heartbeat, streams);
    if (streams->line == NULL || streams->heartbeat == NULL ||
        event_add(streams->line, NULL) != 0) {
        streams_close(streams);
        return NULL;
    }
    return streams;
}

void streams_close(struct streams *streams)
{
    if (streams == NULL)
        return;
    if (streams->line != NULL)
        event_free(streams->line);
    if (streams->heartbeat != NULL)
        event_free(streams->heartbeat);
    if (streams->line_fd >= 0)
        close(streams->line_fd);
    free(streams);
}
