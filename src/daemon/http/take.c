/* SPDX-License-Identifier: Apache-2.0 */
/* A command's session without a connection; see take.h. */
#include "daemon/http/take.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "daemon/commands/commands.h"
#include "daemon/connection.h"
#include "daemon/daemon.h"
#include "daemon/http/exchange.h"
#include "daemon/http/problem.h"
#include "daemon/http/reply_json.h"
#include "daemon/http/turns.h"
#include "daemon/session.h"
#include "status/json/json.h"

/* Numbers that one exchange gets in a turn from the queue. */
#define QUANTUM 1024

/* The same when its request, or what it waits for, has come. For more, it
 * queues. */
#define FEW 128

struct take {
    struct pending pending; /* first */
    struct session session;
    struct exchange *exchange;
    struct event *timer; /* for the deadline of a wait */
    struct turn turn;    /* in the queue, while it has more to do */
    struct resp_request request;
    struct buffer reply;
    const char *list;
    int64_t began_us;
    struct evbuffer *body; /* of a list, as far as it is written */
    bool is_first;         /* no item of it is written */
    bool is_too_long;      /* too many words */
    bool is_short;         /* memory was short */
};

static struct take *take_of(struct session *session)
{
    return (struct take *)(void *)((char *)session -
                                   offsetof(struct take, session));
}

static void take_free(struct take *take)
{
    waitlists_leave(&take->session.daemon->waitlists, &take->session.waiter);
    turns_remove(take->exchange->exchanges->turns, &take->turn);
    if (take->timer != NULL)
        event_free(take->timer);
    for (size_t i = 0; i < take->request.argc; i++)
        free((char *)take->request.argv[i].data);
    batch_free(take->session.batch);
    limits_hold(&take->session.daemon->limits, &take->session.held, 0);
    buffer_fini(&take->session.out);
    buffer_fini(&take->reply);
    if (take->body != NULL)
        evbuffer_free(take->body);
    free(take);
}

static void take_cancel(struct pending *pending)
{
    take_free((struct take *)pending);
}

/* --- answering --- */

/* The HTTP status of an error. 503 means that the request may be tried again; a
 * caller's error has another status. */
static int status_of(const char *code)
{
    static const struct {
        const char *code;
        int status;
    } statuses[] = {
        {"ERR", 400},       {"UNKNOWNKEY", 404}, {"FOREIGN", 422},
        {"EXHAUSTED", 409}, {"LAYOUT", 409},     {"PROTOCOL", 500},
        {"LIMIT", 429},
    };

    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (strcmp(code, statuses[i].code) == 0)
            return statuses[i].status;
    return HTTP_SERVUNAVAIL;
}

/* Answers an error reply "-CODE text\r\n". `retry_ms` is set for LIMIT, else
 * 0. */
static void take_refuse(struct exchange *exchange, char *error,
                        int64_t retry_ms)
{
    char *text = strchr(error, ' ');

    if (retry_ms > 0)
        exchange_retry_after(exchange, retry_ms);
    error[strcspn(error, "\r")] = '\0';
    if (text != NULL)
        *text++ = '\0';
    problem_answer(exchange, status_of(error + 1), error + 1,
                   text != NULL ? text : "");
}

/* Answers a map, or that memory is short. */
static void answer_map(struct exchange *exchange, const struct buffer *reply)
{
    json_t *answer = reply_json(buffer_content(reply), reply->length);
    char *text = answer != NULL ? json_to_text(answer, JSON_COMPACT) : NULL;

    if (text == NULL)
        problem_answer_short(exchange);
    else
        exchange_answer_text(exchange, HTTP_OK, "application/json", text);
    free(text);
    json_decref(answer);
}

static void answer_error(struct exchange *exchange, const struct buffer *reply,
                         int64_t retry_ms)
{
    char *text = strndup(buffer_content(reply), reply->length);

    if (text == NULL)
        problem_answer_short(exchange);
    else
        take_refuse(exchange, text, retry_ms);
    free(text);
}

/* The take no longer counts its memory when the answer does. */
static void take_answer(struct take *take)
{
    struct daemon *daemon = take->session.daemon;
    struct exchange *exchange = take->exchange;
    const int64_t retry_ms = take->session.retry_ms;
    struct buffer reply = take->reply;
    struct evbuffer *body = take->body;

    daemon->commands_processed++;
    counts_add_duration(&daemon->counts, daemon_now_us() - take->began_us, 1);
    take->reply = (struct buffer){.length = 0};
    take->body = NULL;
    take_free(take);
    if (body != NULL && evbuffer_add(body, "]}", 2) == 0)
        exchange_answer(exchange, HTTP_OK, "application/json", body);
    else if (reply.length > 0 && *buffer_content(&reply) == '-')
        answer_error(exchange, &reply, retry_ms);
    else
        answer_map(exchange, &reply);
    buffer_fini(&reply);
    if (body != NULL)
        evbuffer_free(body);
}

/* --- executing --- */

/* The begin of a list's answer. The key needs no escapes. */
static bool body_begin(struct take *take)
{
    const struct resp_slice key = take->request.argv[1];

    take->body = evbuffer_new();
    take->is_first = true;
    return take->body != NULL &&
           evbuffer_add_printf(take->body, "{\"sequence\":\"%.*s\",\"%s\":[",
                               (int)key.length, key.data, take->list) > 0;
}

/* Keeps what the command has written: a list as JSON, all else as it is. */
static bool take_keep(struct take *take)
{
    struct buffer *out = &take->session.out;
    const char *part = buffer_content(out);
    bool is_kept = true;

    if (out->length == 0)
        return true;
    if (take->list == NULL || *part == '-') {
        buffer_append(&take->reply, part, out->length);
        is_kept = !take->reply.is_broken;
    } else {
        is_kept =
            (take->body != NULL || body_begin(take)) &&
            reply_json_add(take->body, part, out->length, &take->is_first);
    }
    buffer_drop(out, out->length);
    return is_kept;
}

/* What is not complete is not sent. */
static void take_drop(struct take *take)
{
    buffer_fini(&take->reply);
    if (take->body != NULL)
        evbuffer_free(take->body);
    take->body = NULL;
}

/* The bytes of its answer so far. A batch is counted with all of its answer. */
static size_t take_size(const struct take *take)
{
    if (take->session.batch != NULL)
        return 0;
    return take->reply.capacity +
           (take->body != NULL ? evbuffer_get_length(take->body) : 0);
}

/* Runs one turn of the command, of so many numbers. False if it needs more
 * turns: the timer, the queue or the waitlist continues it. */
static bool take_step(struct take *take, int budget)
{
    struct session *session = &take->session;
    enum command_outcome outcome = COMMAND_DONE;
    int64_t left_ms = 0;

    session->budget = budget;
    outcome = command_run(session, &take->request);
    if (session->out.is_broken || !take_keep(take)) {
        take_drop(take);
        return true;
    }
    session_account(session, take_size(take));
    if (outcome == COMMAND_DONE)
        return true;
    if (outcome == COMMAND_YIELDS) {
        turns_add(take->exchange->exchanges->turns, &take->turn);
        return false;
    }
    left_ms = session->wait_until_ms - daemon_now_ms();
    timer_start(take->timer, left_ms > 0 ? left_ms : 0);
    return false;
}

static void take_go_on(struct take *take, int budget)
{
    if (!take_step(take, budget))
        return;
    exchange_resume(take->exchange);
    take_answer(take);
}

static void take_on_turn(struct turn *turn)
{
    struct take *take =
        (struct take *)(void *)((char *)turn - offsetof(struct take, turn));

    take_go_on(take, QUANTUM);
}

static void take_on_timer(evutil_socket_t fd, short events, void *context)
{
    struct take *take = context;
    struct session *session = &take->session;

    (void)fd;
    (void)events;
    session->is_late = session->waiter.waitlist != NULL;
    waitlists_leave(&session->daemon->waitlists, &session->waiter);
    take_go_on(take, FEW);
}

/* Called when numbers have come. The session has left the waitlist. */
static void take_on_resume(struct session *session)
{
    struct take *take = take_of(session);

    event_del(take->timer);
    take_go_on(take, FEW);
}

struct take *take_new(struct exchange *exchange, const char *list)
{
    struct exchanges *exchanges = exchange->exchanges;
    struct take *take = calloc(1, sizeof *take);

    if (take != NULL)
        take->timer = evtimer_new(exchanges->base, take_on_timer, take);
    if (take == NULL || take->timer == NULL) {
        free(take);
        problem_answer_short(exchange);
        return NULL;
    }
    take->pending.cancel = take_cancel;
    take->exchange = exchange;
    take->turn.run = take_on_turn;
    take->list = list;
    take->request.size = 1; /* more than the 0 bytes ahead: it has no copies */
    take->began_us = daemon_now_us();
    take->session.daemon = exchanges->daemon;
    /* is_limited stays false: route.c has checked the key. */
    take->session.identity =
        (struct identity){.rights = exchange->identity.rights};
    take->session.quota = identity_quota(&exchange->identity);
    take->session.fd = -1;
    take->session.is_resp3 = true;
    take->session.holds_answer = true;
    take->session.resume = take_on_resume;
    take->session.waiter.session = &take->session;
    return take;
}

void take_add(struct take *take, const char *word)
{
    struct resp_request *request = &take->request;
    char *copy = NULL;

    if (request->argc == RESP_ARGUMENTS_MAX) {
        take->is_too_long = true;
        return;
    }
    copy = strdup(word);
    if (copy == NULL) {
        take->is_short = true;
        return;
    }
    request->argv[request->argc++] = (struct resp_slice){copy, strlen(copy)};
}

/* Answers why it may not start. */
static void refuse_start(struct exchange *exchange, bool is_short,
                         bool is_too_long)
{
    if (is_short)
        problem_answer_short(exchange);
    else if (is_too_long)
        problem_answer(exchange, HTTP_BADREQUEST, "ERR",
                       "there are too many parameters");
    else
        problem_answer(exchange, HTTP_SERVUNAVAIL, "CLOSED",
                       "the broker is closing");
}

void take_start(struct take *take)
{
    struct exchange *exchange = take->exchange;
    const bool is_short = take->is_short;
    const bool is_too_long = take->is_too_long;

    if (is_short || is_too_long || take->session.daemon->is_stopping) {
        take_free(take);
        refuse_start(exchange, is_short, is_too_long);
        return;
    }
    if (take_step(take, FEW))
        take_answer(take);
    else
        exchange_wait(exchange, &take->pending);
}
