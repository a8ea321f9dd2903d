/* SPDX-License-Identifier: Apache-2.0 */
/* The log as server-sent events: what a client gets, and what ends a stream. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/log/log.h"
#include "daemon/server.h"
#include "support/dialogue.h"
#include "support/stub_broker.h"
#include "support/test.h"
#include "support/web.h"

#define MINUTE_MS   60000
#define EVENTS      "/v1/events"
#define STREAMS_MAX 32 /* events.c */
#define START_SIZE  32 /* of the text of it */
#define FLOOD_MAX                                                              \
    20000 /* lines: 60 MB, more than the sockets' buffers hold                 \
           */

static const char *awaited;

static bool has_awaited(const struct web *web)
{
    return strstr(web->heard, awaited) != NULL;
}

/* Until the daemon has said it. */
static void web_await(struct web *web, const char *text)
{
    awaited = text;
    web_until(web, has_awaited);
}

static bool has_answer(const struct web *web)
{
    return strstr(web->heard, "retry: ") != NULL ||
           strstr(web->heard, "HTTP/1.1 503 ") != NULL;
}

static bool is_closed(const struct web *web)
{
    return web->fd < 0;
}

static void nothing(void *context, const struct log_entry *entry)
{
    (void)context;
    (void)entry;
}

/* Whether there are streams: only then one of the log's watchers is theirs. */
static bool log_is_watched(void)
{
    static struct log_watcher watchers[LOG_WATCHERS_MAX];
    bool is_full = false;

    for (size_t i = 0; i < LOG_WATCHERS_MAX; i++) {
        watchers[i].see = nothing;
        is_full = !log_watch(&watchers[i]);
    }
    for (size_t i = 0; i < LOG_WATCHERS_MAX; i++)
        log_unwatch(&watchers[i]);
    return is_full;
}

/* What the log has of other tests is put out of the ring. */
static struct web *scene(void)
{
    const struct log_options quiet = {LOG_LOGFMT, SEQB_LOG_ERROR};

    log_open(&quiet);
    for (int i = 0; i < LOG_KEPT; i++)
        log_event(SEQB_LOG_DEBUG, "event=old");
    stub_reset(1000, SEQB_AGAIN, MINUTE_MS);
    return web_open();
}

static int setup(void **state)
{
    *state = scene();
    return 0;
}

#define STREAMED FIXTURE(struct web *web, setup, web_teardown)

static uint64_t newest_line(void)
{
    uint64_t oldest = 0;
    uint64_t newest = 0;

    log_span(&oldest, &newest);
    return newest;
}

static size_t count_of(const char *text, const char *word)
{
    size_t count = 0;

    for (text = strstr(text, word); text != NULL; text = strstr(text + 1, word))
        count++;
    return count;
}

/* --- what it gets --- */

/* The start that the ids of this server name. */
static const char *start_of(struct web *web, char start[START_SIZE])
{
    const char *id = NULL;

    web_connect(web);
    web_ask(web, "GET", EVENTS "?level=debug");
    web_await(web, "\ndata: ");
    id = strstr(web->heard, "\nid: ") + strlen("\nid: ");
    snprintf(start, START_SIZE, "%.*s", (int)strcspn(id, "-\n"), id);
    return start;
}

TEST_WITH(STREAMED, lines_come_as_events)
{
    char start[START_SIZE];
    char expected[256];

    start_of(web, start);
    web_connect(web);
    log_event(SEQB_LOG_INFO, "event=first reason=\"a \\\"b\\\"\"");
    web_ask(web, "GET", EVENTS);
    web_await(web, "event\":\"first\"");
    assert_non_null(strstr(web->heard, "HTTP/1.1 200 "));
    assert_non_null(strstr(web->heard, "Content-Type: text/event-stream\r\n"));
    assert_null(strstr(web->heard, "\"old\""));
    log_event(SEQB_LOG_DEBUG, "event=hidden");
    log_event(SEQB_LOG_WARN, "event=second");
    web_await(web, "\"second\"}\n\n");
    assert_null(strstr(web->heard, "hidden"));
    snprintf(expected, sizeof expected, "id: %s-%ju\ndata: {\"ts\":\"", start,
             (uintmax_t)newest_line());
    assert_non_null(strstr(web->heard, expected));
    assert_non_null(strstr(web->heard, "\"level\":\"info\",\"event\":\"first\","
                                       "\"reason\":\"a \\\"b\\\"\"}\n\n"));
}

TEST_WITH(STREAMED, a_level_leaves_out_what_is_below_it)
{
    web_ask(web, "GET", EVENTS "?level=debug");
    web_await(web, "\"old\"");
    web_connect(web);
    web_ask(web, "GET", EVENTS "?level=error");
    log_event(SEQB_LOG_WARN, "event=hidden");
    log_event(SEQB_LOG_ERROR, "event=shown");
    web_await(web, "\"shown\"");
    assert_null(strstr(web->heard, "hidden"));
}

TEST_WITH(STREAMED, another_level_is_refused)
{
    web_ask(web, "GET", EVENTS "?level=loud");
    web_receive(web, 1);
    assert_non_null(strstr(web->heard, "HTTP/1.1 400 "));
    assert_false(log_is_watched());
}

/* More than a stream sends ahead. */
TEST_WITH(STREAMED, all_that_is_kept_comes_in_order)
{
    const char *at = NULL;
    char start[START_SIZE];
    char id[64];

    start_of(web, start);
    web_connect(web);
    for (int i = 0; i < LOG_KEPT - 1; i++)
        log_event(SEQB_LOG_INFO, "event=kept i=%d", i);
    log_event(SEQB_LOG_INFO, "event=last");
    web_ask(web, "GET", EVENTS);
    web_await(web, "\"last\"");
    assert_int_equal(count_of(web->heard, "\nid: "), LOG_KEPT);
    at = web->heard;
    for (uint64_t i = newest_line() - LOG_KEPT + 1; i <= newest_line(); i++) {
        snprintf(id, sizeof id, "\nid: %s-%ju\n", start, (uintmax_t)i);
        at = strstr(at, id);
        if (at == NULL)
            fail_msg("%s is missing, or not in order", id);
    }
}

static void ask_behind(struct web *web, const char *start, uint64_t number)
{
    char request[256];

    snprintf(request, sizeof request,
             "GET " EVENTS
             " HTTP/1.1\r\nHost: a\r\nLast-Event-ID: %s-%ju\r\n\r\n",
             start, (uintmax_t)number);
    web_connect(web);
    web_say(web, request);
}

TEST_WITH(STREAMED, who_comes_back_gets_what_it_missed)
{
    char start[START_SIZE];

    log_event(SEQB_LOG_INFO, "event=seen");
    log_event(SEQB_LOG_INFO, "event=missed");
    ask_behind(web, start_of(web, start), newest_line() - 1);
    web_await(web, "\"missed\"");
    assert_null(strstr(web->heard, "\"seen\""));
}

/* Lines are numbered from 1 at each start: also a number that this start has
 * passed says nothing if it is of another one. */
TEST_WITH(STREAMED, an_id_of_another_start_says_nothing)
{
    char start[START_SIZE];
    char other[START_SIZE];

    log_event(SEQB_LOG_INFO, "event=seen");
    log_event(SEQB_LOG_INFO, "event=last");
    start_of(web, start);
    snprintf(other, sizeof other, "%s", start);
    other[0] = start[0] == '0' ? '1' : '0';
    ask_behind(web, other, newest_line() - 1);
    web_await(web, "\"last\"");
    assert_non_null(strstr(web->heard, "\"seen\""));
    ask_behind(web, start, newest_line() + 1);
    web_await(web, "\"seen\"");
    ask_behind(web, start, UINT64_MAX);
    web_await(web, "\"seen\"");
}

TEST_WITH(STREAMED, an_id_without_a_start_says_nothing)
{
    char request[256];

    log_event(SEQB_LOG_INFO, "event=seen");
    log_event(SEQB_LOG_INFO, "event=last");
    snprintf(request, sizeof request,
             "GET " EVENTS " HTTP/1.1\r\nHost: a\r\nLast-Event-ID: %ju\r\n\r\n",
             (uintmax_t)newest_line() - 1);
    web_connect(web);
    web_say(web, request);
    web_await(web, "\"last\"");
    assert_non_null(strstr(web->heard, "\"seen\""));
}

TEST(each_start_has_its_own_ids)
{
    char one[START_SIZE];
    char two[START_SIZE];
    struct web *web = scene();
    void *state = web;

    start_of(web, one);
    web_teardown(&state);
    web = scene();
    state = web;
    start_of(web, two);
    web_teardown(&state);
    assert_string_not_equal(one, two);
}

static void *tell_much(void *argument)
{
    (void)argument;
    for (int i = 0; i < LOG_KEPT / 2; i++)
        log_event(SEQB_LOG_INFO, "event=told i=%d", i);
    log_event(SEQB_LOG_INFO, "event=end");
    return NULL;
}

TEST_WITH(STREAMED, lines_of_another_thread_come)
{
    pthread_t thread;

    web_ask(web, "GET", EVENTS);
    web_await(web, "retry: ");
    assert_int_equal(pthread_create(&thread, NULL, tell_much, NULL), 0);
    web_await(web, "\"end\"");
    pthread_join(thread, NULL);
    assert_int_equal(count_of(web->heard, "\"told\""), LOG_KEPT / 2);
}

/* --- what ends it --- */

TEST_WITH(STREAMED, a_client_that_goes_away_ends_its_stream)
{
    web_ask(web, "GET", EVENTS);
    web_await(web, "retry: ");
    assert_true(log_is_watched());
    web_connect(web);
    while (log_is_watched())
        dialogue_turn(web->server);
}

/* What it was sent fills the buffers of its socket first. */
TEST_WITH(STREAMED, who_does_not_read_is_cut_off)
{
    char value[3000];
    int silent = -1;
    int told = 0;

    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    web_ask(web, "GET", EVENTS);
    web_await(web, "retry: ");
    silent = web->fd;
    web->fd = -1;
    for (; log_is_watched() && told < FLOOD_MAX; told++) {
        log_event(SEQB_LOG_INFO, "event=flood value=%s", value);
        dialogue_turn(web->server);
    }
    assert_true(told < FLOOD_MAX);
    web_connect(web);
    web_ask(web, "GET", EVENTS);
    web_await(web, "\"flood\"");
    close(silent);
}

/* Streams of 127.0.0.`host`, until one is refused. Returns how many. */
static size_t streams_take(struct web *web, unsigned host, int *fds)
{
    size_t count = 0;

    for (;;) {
        web_connect_from(web, INADDR_LOOPBACK + host - 1);
        web_ask(web, "GET", EVENTS);
        web_until(web, has_answer);
        if (strstr(web->heard, "HTTP/1.1 503 ") != NULL)
            break;
        fds[count++] = web->fd;
        web->fd = -1;
    }
    assert_non_null(strstr(web->heard, "Retry-After: 1\r\n"));
    return count;
}

TEST_WITH(STREAMED, there_are_only_so_many_streams)
{
    int fds[STREAMS_MAX];
    size_t count = 0;

    for (unsigned host = 1; count < STREAMS_MAX && host < 100; host++)
        count += streams_take(web, host, fds + count);
    assert_int_equal(count, STREAMS_MAX);
    for (size_t i = 0; i < STREAMS_MAX; i++)
        close(fds[i]);
    while (log_is_watched())
        dialogue_turn(web->server);
    web_connect(web);
    web_ask(web, "GET", EVENTS);
    web_await(web, "retry: ");
}

TEST_WITH(STREAMED, one_reader_leaves_streams_for_others)
{
    int fds[STREAMS_MAX];
    size_t count = streams_take(web, 1, fds);

    assert_int_equal(count, STREAMS_MAX / 2);
    count += streams_take(web, 2, fds + count);
    assert_int_equal(count, STREAMS_MAX / 2 + STREAMS_MAX / 4);
    while (count > 0)
        close(fds[--count]);
}

TEST_WITH(STREAMED, no_stop_waits_for_a_stream)
{
    web_ask(web, "GET", EVENTS);
    web_await(web, "retry: ");
    assert_int_equal(web->server->daemon.request_count, 0);
    web->server->daemon.is_stopping = true;
    http_finish(web->http, false);
    assert_false(log_is_watched());
    web_until(web, is_closed);
    assert_true(daemon_is_done(&web->server->daemon));
    assert_int_equal(web->server->daemon.request_count, 0);
}

TEST(a_server_is_closed_while_somebody_reads)
{
    struct web *web = scene();

    web_ask(web, "GET", EVENTS);
    web_await(web, "retry: ");
    web_close(web);
    assert_false(log_is_watched());
}

/* libevent would keep all of it. */
TEST_WITH(STREAMED, what_a_client_says_meanwhile_is_not_kept)
{
    char text[4096];
    size_t said = 0;
    ssize_t sent = 0;

    memset(text, 'x', sizeof text);
    web_ask(web, "GET", EVENTS);
    web_await(web, "retry: ");
    /* The socket's buffers are some megabytes. */
    while (sent >= 0 && said < (size_t)64 << 20) {
        sent = send(web->fd, text, sizeof text, MSG_DONTWAIT | MSG_NOSIGNAL);
        said += sent > 0 ? (size_t)sent : 0;
        dialogue_turn(web->server);
    }
    assert_true(sent < 0);
    assert_true(web->server->daemon.limits.client_memory < 1 << 20);
    log_event(SEQB_LOG_INFO, "event=still");
    web_await(web, "\"still\"");
}
