/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: who comes in, who has more to do, who is woken, and how it ends;
 * see server.h. What a connection does stands in session.c. */
#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Connections accepted before those that exist have their turn. */
#define ACCEPT_MAX 64

/* Out of descriptors, accepting rests: the loop would spin otherwise. */
#define ACCEPT_PAUSE_MS 100

/* How long a stop waits for answers and for peers that do not read. */
#define STOP_GRACE_MS 5000

int64_t server_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int server_tcp_port(const struct server *server)
{
    return listener_port(&server->tcp);
}

void server_add(struct server *server, struct session *session)
{
    TAILQ_INSERT_TAIL(&server->sessions, session, entry);
    server->session_count++;
}

void server_remove(struct server *server, struct session *session)
{
    TAILQ_REMOVE(&server->sessions, session, entry);
    if (session->is_deferred)
        TAILQ_REMOVE(&server->deferred, session, deferred);
    server->session_count--;
    if (server->is_stopping && server->session_count == 0)
        event_base_loopbreak(server->base);
}

static void timer_start(struct event *timer, int ms)
{
    const struct timeval delay = {ms / 1000, (suseconds_t)(ms % 1000) * 1000};

    event_add(timer, &delay);
}

void server_defer(struct server *server, struct session *session)
{
    if (session->is_deferred)
        return;
    session->is_deferred = true;
    TAILQ_INSERT_TAIL(&server->deferred, session, deferred);
    timer_start(server->defer, 0);
}

/* One turn of one session, then the loop looks at all others again: whoever
 * asks for little waits for one turn at most, however many ask for much. */
static void server_on_defer(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;
    struct session *session = TAILQ_FIRST(&server->deferred);

    (void)fd;
    (void)events;
    if (session == NULL)
        return;
    TAILQ_REMOVE(&server->deferred, session, deferred);
    session->is_deferred = false;
    if (!TAILQ_EMPTY(&server->deferred))
        timer_start(server->defer, 0);
    session_work(session);
}

static void server_on_wake(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;
    uint64_t count = 0;

    (void)events;
    /* Before looking at the marks: a mark that is set later wakes again. */
    if (read(fd, &count, sizeof count) < 0)
        return;
    lanes_serve(&server->lanes, session_resume);
    errand_serve(server);
}

static void server_watch_listeners(struct server *server, bool wanted)
{
    struct listener *both[] = {&server->tcp, &server->local};

    for (size_t i = 0; i < 2; i++) {
        if (both[i]->event == NULL)
            continue;
        if (wanted)
            event_add(both[i]->event, NULL);
        else
            event_del(both[i]->event);
    }
}

static void server_on_again(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    server_watch_listeners(context, true);
}

static void server_accept(struct server *server,
                          const struct listener *listener)
{
    for (int i = 0; i < ACCEPT_MAX; i++) {
        int fd = listener_accept(listener);

        if (fd >= 0) {
            session_open(server, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
            errno == ENOMEM) {
            server_watch_listeners(server, false);
            timer_start(server->again, ACCEPT_PAUSE_MS);
        }
        return;
    }
}

static void server_on_tcp(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;

    (void)fd;
    (void)events;
    server_accept(server, &server->tcp);
}

static void server_on_local(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;

    (void)fd;
    (void)events;
    server_accept(server, &server->local);
}

static void server_on_grace(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;

    (void)fd;
    (void)events;
    event_base_loopbreak(server->base);
}

static void die_at_once(int signal_number)
{
    (void)signal_number;
    _exit(1);
}

/* Answers what has arrived and takes nothing new; the loop ends when all is
 * sent. */
static void server_stop(struct server *server)
{
    struct session *session = NULL;
    struct session *next = NULL;

    server->is_stopping = true;
    event_del(server->again);
    event_del(server->drain);
    listener_close(&server->tcp);
    listener_close(&server->local);
    timer_start(server->grace, STOP_GRACE_MS);
    if (server->session_count == 0)
        event_base_loopbreak(server->base);
    for (session = TAILQ_FIRST(&server->sessions); session != NULL;
         session = next) {
        next = TAILQ_NEXT(session, entry);
        session_finish(session);
    }
}

/* From now on signals act even if the loop does not turn. They are blocked
 * meanwhile: event_del leaves them with their default action, which would end
 * a drain with what the broker holds unwritten. */
static void server_take_signals(struct server *server, void (*handler)(int))
{
    sigset_t both;

    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGINT);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    event_del(server->term);
    event_del(server->interrupt);
    signal(SIGTERM, handler);
    signal(SIGINT, handler);
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
}

static void server_on_signal(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    server_take_signals(context, die_at_once);
    server_stop(context);
}

/* The first signal after a drain asks for what is under way already. */
static void die_next_time(int signal_number)
{
    (void)signal_number;
    signal(SIGTERM, die_at_once);
    signal(SIGINT, die_at_once);
}

static void server_on_drain(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    server_take_signals(context, die_next_time);
    server_stop(context);
}

void server_drain(struct server *server, int fd)
{
    if (server->is_stopping || server->drain_fd >= 0)
        return;
    server->drain_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    timer_start(server->drain, 0);
}

static enum seqb_status server_fail(struct seqb_error *err, const char *what)
{
    err->status = SEQB_NO_MEMORY;
    snprintf(err->text, sizeof err->text, "cannot start: %s: %s", what,
             strerror(errno));
    return err->status;
}

static enum seqb_status server_make_events(struct server *server,
                                           struct seqb_error *err)
{
    struct event_base *base = server->base;

    server->wake = event_new(base, server->wake_fd, EV_READ | EV_PERSIST,
                             server_on_wake, server);
    server->defer = evtimer_new(base, server_on_defer, server);
    server->again = evtimer_new(base, server_on_again, server);
    server->grace = evtimer_new(base, server_on_grace, server);
    server->drain = evtimer_new(base, server_on_drain, server);
    server->term = evsignal_new(base, SIGTERM, server_on_signal, server);
    server->interrupt = evsignal_new(base, SIGINT, server_on_signal, server);
    if (server->wake == NULL || server->defer == NULL ||
        server->again == NULL || server->grace == NULL ||
        server->drain == NULL || server->term == NULL ||
        server->interrupt == NULL || event_add(server->wake, NULL) != 0 ||
        event_add(server->term, NULL) != 0 ||
        event_add(server->interrupt, NULL) != 0)
        return server_fail(err, "event loop");
    return SEQB_OK;
}

static enum seqb_status server_listen(struct server *server,
                                      struct seqb_error *err)
{
    const struct server_options *options = &server->options;

    if (options->listen != NULL) {
        if (listener_open_tcp(&server->tcp, options->listen, err) != SEQB_OK)
            return err->status;
        server->tcp.event =
            event_new(server->base, server->tcp.fd, EV_READ | EV_PERSIST,
                      server_on_tcp, server);
    }
    if (options->socket_path != NULL) {
        if (listener_open_local(&server->local, options->socket_path, err) !=
            SEQB_OK)
            return err->status;
        server->local.event =
            event_new(server->base, server->local.fd, EV_READ | EV_PERSIST,
                      server_on_local, server);
    }
    server_watch_listeners(server, true);
    return SEQB_OK;
}

static enum seqb_status server_start(struct server *server,
                                     struct seqb_error *err)
{
    server->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (server->wake_fd < 0)
        return server_fail(err, "eventfd");
    server->base = event_base_new();
    if (server->base == NULL)
        return server_fail(err, "event loop");
    /* The signals first: one that comes while the broker opens stops it. */
    if (server_make_events(server, err) != SEQB_OK ||
        seqb_open(server->options.topology, &server->broker, err) != SEQB_OK)
        return err->status;
    lanes_init(&server->lanes, server->broker, server->wake_fd);
    return server_listen(server, err);
}

enum seqb_status server_open(const struct server_options *options,
                             struct server **out, struct seqb_error *err)
{
    struct server *server = calloc(1, sizeof *server);

    if (server == NULL)
        return server_fail(err, "server");
    server->options = *options;
    server->wake_fd = -1;
    server->drain_fd = -1;
    server->tcp.fd = -1;
    server->local.fd = -1;
    server->started_ms = server_now_ms();
    TAILQ_INIT(&server->sessions);
    TAILQ_INIT(&server->deferred);
    if (server_start(server, err) != SEQB_OK) {
        server_close(server);
        return err->status;
    }
    *out = server;
    return SEQB_OK;
}

void server_run(struct server *server)
{
    event_base_dispatch(server->base);
}

static void server_free_events(struct server *server)
{
    struct event *events[] = {server->wake,     server->defer, server->again,
                              server->grace,    server->drain, server->term,
                              server->interrupt};

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (events[i] != NULL)
            event_free(events[i]);
}

void server_close(struct server *server)
{
    if (server == NULL)
        return;
    listener_close(&server->tcp);
    listener_close(&server->local);
    while (!TAILQ_EMPTY(&server->sessions))
        session_close(TAILQ_FIRST(&server->sessions));
    errand_end(server);
    seqb_close(server->broker);
    lanes_fini(&server->lanes);
    server_free_events(server);
    if (server->base != NULL)
        event_base_free(server->base);
    if (server->wake_fd >= 0)
        close(server->wake_fd);
    buffer_fini(&server->spare);
    if (server->drain_fd >= 0)
        close(server->drain_fd);
    free(server);
}
