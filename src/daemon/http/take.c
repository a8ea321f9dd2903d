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
#include "daemon/session.h"

/* Numbers that one exchange gets in a turn, before others are served. */
#define QUANTUM 4096

struct take {
    struct pending pending; /* first */
    struct session session;
    struct exchange *exchange;
    struct event *timer; /* for the deadline of a wait, or the next turn */
    struct resp_request request;
    struct buffer reply;
    const char *list;
    int64_t began_us;
    bool is_too_long; /* too many words, or memory was short */
};

static struct take *take_of(struct session *session)
{
    return (struct take *)(void *)((char *)session -
                                   offsetof(struct take, session));
}

static void take_free(struct take *take)
{
    waitlists_leave(&take->session.daemon->waitlists, &take->session.waiter);
    if (take->timer != NULL)
        event_free(take->timer);
    for (size_t i = 0; i < take->request.argc; i++)
        free((char *)take->request.argv[i].data);
    batch_free(take->session.batch);
    limits_hold(&take->session.daemon->limits, &take->session.held, 0);
    buffer_fini(&take->session.out);
    buffer_fini(&take->reply);
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

/* The body of the answer; NULL if memory is short. */
static char *take_text(const struct take *take)
{
    json_t *answer =
        reply_json(buffer_content(&take->reply), take->reply.length);
    char *text = NULL;

    if (json_is_array(answer))
        answer = json_pack("{ss* so}", "sequence", take->request.argv[1].data,
                           take->list, answer);
    if (answer != NULL)
        text = json_dumps(answer, JSON_COMPACT);
    json_decref(answer);
    return text;
}

static void take_answer(struct take *take)
{
    struct daemon *daemon = take->session.daemon;
    struct exchange *exchange = take->exchange;
    const int64_t retry_ms = take->session.retry_ms;
    const bool is_error =
        take->reply.length > 0 && *buffer_content(&take->reply) == '-';
    char *text = is_error
                     ? strndup(buffer_content(&take->reply), take->reply.length)
                     : take_text(take);

    daemon->commands_processed++;
    counts_add_duration(&daemon->counts, daemon_now_us() - take->began_us, 1);
    take_free(take);
    if (text == NULL)
        problem_answer(exchange, HTTP_SERVUNAVAIL, "NOMEMORY", "out of memory");
    else if (is_error)
        take_refuse(exchange, text, retry_ms);
    else
        exchange_answer_text(exchange, HTTP_OK, "application/json", text);
    free(text);
}

/* --- executing --- */

/* Runs one turn of the command. False if it needs more turns: the timer or the
 * waitlist continues it. */
static bool take_step(struct take *take)
{
    struct session *session = &take->session;
    enum command_outcome outcome = COMMAND_DONE;
    int64_t left_ms = 0;

    session->budget = QUANTUM;
    outcome = command_run(session, &take->request);
    buffer_append(&take->reply, buffer_content(&session->out),
                  session->out.length);
    buffer_drop(&session->out, session->out.length);
    session_account(session, take->reply.capacity);
    if (outcome == COMMAND_DONE || session->out.is_broken ||
        take->reply.is_broken)
        return true;
    if (outcome == COMMAND_WAITS)
        left_ms = session->wait_until_ms - daemon_now_ms();
    timer_start(take->timer, left_ms > 0 ? left_ms : 0);
    return false;
}

static void take_go_on(struct take *take)
{
    if (!take_step(take))
        return;
    exchange_resume(take->exchange);
    take_answer(take);
}

static void take_on_timer(evutil_socket_t fd, short events, void *context)
{
    struct take *take = context;
    struct session *session = &take->session;

    (void)fd;
    (void)events;
    session->is_late = session->waiter.waitlist != NULL;
    waitlists_leave(&session->daemon->waitlists, &session->waiter);
    take_go_on(take);
}

/* Called when numbers have come. The session has left the waitlist. */
static void take_on_resume(struct session *session)
{
    struct take *take = take_of(session);

    event_del(take->timer);
    take_go_on(take);
}

struct take *take_new(struct exchange *exchange, const char *list)
{
    struct exchanges *exchanges = exchange->exchanges;
    struct take *take = calloc(1, sizeof *take);

    if (take != NULL)
        take->timer = evtimer_new(exchanges->base, take_on_timer, take);
    if (take == NULL || take->timer == NULL) {
        free(take);
        problem_answer(exchange, HTTP_SERVUNAVAIL, "NOMEMORY", "out of memory");
        return NULL;
    }
    take->pending.cancel = take_cancel;
    take->exchange = exchange;
    take->list = list;
    take->request.size = 1; /* more than the 0 bytes ahead: it has no copies */
    take->began_us = daemon_now_us();
    take->session.daemon = exchanges->daemon;
    /* is_limited stays false: route.c has checked the key. */
    take->session.identity =
        (struct identity){.rights = exchange->identity.rights};
    if (exchange->identity.user != NULL)
        take->session.quota = user_quota(exchange->identity.user);
    take->session.fd = -1;
    take->session.is_resp3 = true;
    take->session.resume = take_on_resume;
    take->session.waiter.session = &take->session;
    return take;
}

void take_add(struct take *take, const char *word)
{
    struct resp_request *request = &take->request;
    char *copy = request->argc < RESP_ARGUMENTS_MAX ? strdup(word) : NULL;

    if (copy == NULL) {
        take->is_too_long = true;
        return;
    }
    request->argv[request->argc++] = (struct resp_slice){copy, strlen(copy)};
}

void take_start(struct take *take)
{
    struct exchange *exchange = take->exchange;
    const bool is_stopping = take->session.daemon->is_stopping;

    if (is_stopping || take->is_too_long) {
        take_free(take);
        if (is_stopping)
            problem_answer(exchange, HTTP_SERVUNAVAIL, "CLOSED",
                           "the broker is closing");
        else
            problem_answer(exchange, HTTP_BADREQUEST, "ERR",
                           "there are too many parameters");
        return;
    }
    if (take_step(take))
        take_answer(take);
    else
        exchange_wait(exchange, &take->pending);
}
