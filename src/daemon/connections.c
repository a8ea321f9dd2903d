/* SPDX-License-Identifier: Apache-2.0 */
/* All connections: turns, time-outs, refusals and the end of all; see
 * connection.h. */
#include "daemon/connection.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/blocking_call.h"
#include "daemon/daemon.h"
#include "daemon/log/log.h"

/* How often connections are checked, and how many at a time, so that the loop
 * is not blocked for long. */
#define SWEEP_MS  250
#define SWEEP_MAX 1024

/* ms between two log lines about refused clients. */
#define LOG_REFUSED_MS 10000

/* Some of them. The rest waits until clients have had a turn. */
void connections_answer_logins(struct connections *all)
{
    struct access *access = &all->daemon->access;

    if (logins_poll(access->logins, access->users, daemon_now_ms()))
        timer_start(all->defer, 0);
}

/* The same for those that wait for the stores. */
void connections_answer_calls(struct connections *all)
{
    if (blocking_calls_poll(all->daemon))
        timer_start(all->defer, 0);
}

static void waiter_resume(struct session *session)
{
    session->resume(session);
}

/* The same for those that wait for numbers. */
void connections_serve_waiters(struct connections *all)
{
    if (waitlists_serve(&all->daemon->waitlists, waiter_resume))
        timer_start(all->defer, 0);
}

static int64_t connection_turn(struct connection *connection, int64_t now_us)
{
    connection_dequeue(connection);
    connection_continue(connection, now_us);
    return daemon_now_us();
}

/* Each of those that wait now has a turn. */
static int64_t delayed_serve(struct connections *all, int64_t now_us)
{
    for (size_t left = all->delayed_count; left > 0 && all->delayed_count > 0;
         left--)
        now_us = connection_turn(TAILQ_FIRST(&all->delayed), now_us);
    return now_us;
}

static void connections_on_interleave(evutil_socket_t fd, short events,
                                      void *context)
{
    (void)fd;
    (void)events;
    (void)delayed_serve(context, daemon_now_us());
}

/* The others have had their turn, or have it now. */
static void connections_on_mark(evutil_socket_t fd, short events, void *context)
{
    struct connections *all = context;

    (void)fd;
    (void)events;
    all->fairness = (struct fairness){.used_us = 0};
}

/* The queues' part of a turn of the loop: the light ones that wait now, and a
 * slice of time for the heavy ones, so that a client that asks for little waits
 * no longer, however many ask for much. */
static void connections_on_defer(evutil_socket_t fd, short events,
                                 void *context)
{
    struct connections *all = context;
    int64_t begun_us = daemon_now_us();
    int64_t now_us = begun_us;
    int turns = 0;

    (void)fd;
    (void)events;
    connections_answer_logins(all);
    connections_answer_calls(all);
    connections_serve_waiters(all);
    begun_us = now_us = delayed_serve(all, now_us);
    while (!TAILQ_EMPTY(&all->deferred) &&
           fairness_goes_on(turns++, begun_us, now_us))
        now_us = connection_turn(TAILQ_FIRST(&all->deferred), now_us);
    all->fairness.used_us = 0;
    if (!TAILQ_EMPTY(&all->deferred) || all->delayed_count > 0)
        timer_start(all->defer, 0);
}

static bool is_past(int64_t since_ms, int64_t timeout_ms, int64_t now_ms)
{
    return since_ms > 0 && timeout_ms > 0 && now_ms - since_ms >= timeout_ms;
}

/* Whether it is over a time-out: its request stays incomplete, it does not read
 * its answers, it does not log in, or it is idle. A wait for a number has a
 * deadline of its own. */
static bool connection_is_over(const struct connection *connection,
                               int64_t now_ms)
{
    const struct session *session = &connection->session;
    const struct limits_options *options = &session->daemon->limits.options;
    const int64_t client_ms = options->client_timeout_ms;

    if (is_past(connection->partial_ms, client_ms, now_ms) ||
        is_past(connection->unsent_ms, client_ms, now_ms) ||
        connection_is_stuck(connection, now_ms) ||
        is_past(session->unknown_ms, options->login_timeout_ms, now_ms))
        return true;
    return session->state == SESSION_READING && session->in.length == 0 &&
           session->out.length == 0 &&
           is_past(session->received_ms, options->idle_timeout_ms, now_ms);
}

/* Continues where the last sweep stopped. The timer stops when no client is
 * connected. */
static void connections_on_sweep(evutil_socket_t fd, short events,
                                 void *context)
{
    struct connections *all = context;
    const int64_t now_ms = daemon_now_ms();
    struct session *session = all->swept;

    (void)fd;
    (void)events;
    if (session == NULL)
        session = TAILQ_FIRST(&all->daemon->sessions);
    for (int i = 0; session != NULL && i < SWEEP_MAX; i++) {
        struct connection *connection = (struct connection *)session;

        all->swept = TAILQ_NEXT(session, entry);
        connection_sweep(connection, connection_is_over(connection, now_ms));
        session = all->swept;
    }
    log_tick();
    if (all->daemon->session_count > 0)
        timer_start(all->sweep, SWEEP_MS);
}

static void refusal_send(int fd, bool is_tls, enum connection_limit limit)
{
    const char *refusal = limit == LIMIT_OF_HEAP
                              ? "-NOMEMORY out of memory\r\n"
                              : "-ERR max number of clients reached\r\n";

    if (!is_tls)
        (void)!send(fd, refusal, strlen(refusal), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void connection_adopt(struct connections *all, struct transport *transport,
                      bool is_local)
{
    struct daemon *daemon = all->daemon;
    bool is_full = false;
    struct connection *connection =
        connection_new(all, transport, is_local, &is_full);

    if (connection == NULL) {
        if (!is_full)
            connections_log_refused(daemon, LIMIT_OF_HEAP);
        refusal_send(transport->fd, transport->ssl != NULL,
                     is_full ? LIMIT_OF_USER : LIMIT_OF_HEAP);
        transport_close(transport, true);
        return;
    }
    if (daemon->session_count == 0)
        timer_start(all->sweep, SWEEP_MS);
    TAILQ_INSERT_TAIL(&daemon->sessions, &connection->session, entry);
    daemon->session_count++;
    if (daemon->is_stopping)
        connection_finish(connection, all->new_ms);
}

void connections_log_refused(struct daemon *daemon, enum connection_limit limit)
{
    struct limits *limits = &daemon->limits;
    const int64_t now_ms = daemon_now_ms();

    limits_count_refused(limits, limit);
    if (now_ms < limits->log_refused_ms)
        return;
    limits->log_refused_ms = now_ms + LOG_REFUSED_MS;
    log_event(SEQB_LOG_WARN, "event=connections_refused count=%lld limit=%s",
              (long long)(limits->connections_refused - limits->refused_logged),
              limit_names[limit]);
    limits->refused_logged = limits->connections_refused;
}

/* The client's input is read first: closing a socket with unread input would
 * make the kernel discard the refusal. */
void connections_refuse(struct connections *all, int fd, bool is_tls,
                        enum connection_limit limit)
{
    (void)!recv(fd, all->input, sizeof all->input, MSG_DONTWAIT);
    refusal_send(fd, is_tls, limit);
    shutdown(fd, SHUT_WR);
    close(fd);
    connections_log_refused(all->daemon, limit);
}

bool connections_init(struct connections *all, struct daemon *daemon,
                      struct event_base *base)
{
    all->daemon = daemon;
    all->base = base;
    TAILQ_INIT(&all->deferred);
    TAILQ_INIT(&all->delayed);
    all->defer = evtimer_new(base, connections_on_defer, all);
    all->sweep = evtimer_new(base, connections_on_sweep, all);
    all->mark = evtimer_new(base, connections_on_mark, all);
    all->interleave = evtimer_new(base, connections_on_interleave, all);
    daemon->session_size = sizeof(struct connection);
    return all->defer != NULL && all->sweep != NULL && all->mark != NULL &&
           all->interleave != NULL &&
           event_priority_set(all->interleave, LOOP_CLIENTS) == 0;
}

void connections_finish(struct connections *all, int64_t new_ms)
{
    struct daemon *daemon = all->daemon;
    struct session *session = NULL;
    struct session *next = NULL;

    daemon->is_stopping = true;
    all->new_ms = new_ms;
    if (daemon_is_done(daemon))
        event_base_loopbreak(all->base);
    for (session = TAILQ_FIRST(&daemon->sessions); session != NULL;
         session = next) {
        next = TAILQ_NEXT(session, entry);
        connection_finish((struct connection *)session, new_ms);
    }
}

void connections_resolve(struct connections *all)
{
    struct daemon *daemon = all->daemon;
    struct session *session = NULL;
    struct session *next = NULL;

    for (session = TAILQ_FIRST(&daemon->sessions); session != NULL;
         session = next) {
        next = TAILQ_NEXT(session, entry);
        struct identity identity = session->identity;

        if (identity_resolve(&daemon->access, session_origin(session),
                             &identity))
            session_become(session, &identity);
        else if (session->blocking_call != NULL)
            session_bar(session);
        else
            connection_free((struct connection *)session);
    }
}

void connections_fini(struct connections *all)
{
    struct session *session = NULL;
    struct session *next = NULL;

    if (all->daemon == NULL)
        return;
    for (session = TAILQ_FIRST(&all->daemon->sessions); session != NULL;
         session = next) {
        next = TAILQ_NEXT(session, entry);
        connection_free((struct connection *)session);
    }
    if (all->defer != NULL)
        event_free(all->defer);
    if (all->sweep != NULL)
        event_free(all->sweep);
    if (all->mark != NULL)
        event_free(all->mark);
    if (all->interleave != NULL)
        event_free(all->interleave);
    buffer_fini(&all->spare);
}
