/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: who comes in, who has more to do, who is woken, and how it ends;
 * see server.h. What a connection does stands in connection.c. */
#include "daemon/server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/blocking_call.h"

/* Connections accepted before those that exist have their turn. */
#define ACCEPT_MAX 64

#define PATH_SIZE 4096

/* Out of descriptors, accepting rests: the loop would spin otherwise. */
#define ACCEPT_PAUSE_MS 100

/* How long a stop waits for answers and for peers that do not read. */
#define STOP_GRACE_MS 5000

static void server_watch_listeners(struct server *server, bool wanted)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        struct event *event = server->listeners[i].event;

        if (event == NULL)
            continue;
        if (wanted)
            event_add(event, NULL);
        else
            event_del(event);
    }
}

static void server_on_again(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    server_watch_listeners(context, true);
}

static const struct listener *server_listener(const struct server *server,
                                              int fd)
{
    size_t i = 0;

    while (server->listeners[i].fd != fd)
        i++;
    return &server->listeners[i];
}

static void server_accept(struct server *server,
                          const struct listener *listener)
{
    for (int i = 0; i < ACCEPT_MAX; i++) {
        int fd = listener_accept(listener);

        if (fd >= 0) {
            connection_adopt(&server->connections, fd);
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

static void server_on_incoming(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;

    (void)events;
    server_accept(server, server_listener(server, fd));
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

static void server_close_listeners(struct server *server)
{
    for (size_t i = 0; i < server->listener_count; i++)
        listener_close(&server->listeners[i]);
    server->listener_count = 0;
}

/* Answers what has arrived and takes nothing new; the loop ends when all is
 * sent. */
static void server_stop(struct server *server)
{
    event_del(server->again);
    server_close_listeners(server);
    timer_start(server->grace, STOP_GRACE_MS);
    connections_finish(&server->connections);
    http_finish(server->http);
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

static void server_resume(struct session *session)
{
    session->resume(session);
}

static void server_on_wake(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;
    struct daemon *daemon = &server->daemon;
    struct session *waiting;
    uint64_t count = 0;

    (void)events;
    /* Before looking at the marks: a mark that is set later wakes again. */
    if (read(fd, &count, sizeof count) < 0)
        return;
    waitlists_serve(&daemon->waitlists, server_resume);
    waiting = blocking_call_poll(daemon);
    if (waiting != NULL)
        server_resume(waiting);
    if (!daemon->is_drain_asked || daemon->is_stopping)
        return;
    server_take_signals(server, die_next_time);
    server_stop(server);
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

    server->wake = event_new(base, server->daemon.wake_fd, EV_READ | EV_PERSIST,
                             server_on_wake, server);
    server->again = evtimer_new(base, server_on_again, server);
    server->grace = evtimer_new(base, server_on_grace, server);
    server->term = evsignal_new(base, SIGTERM, server_on_signal, server);
    server->interrupt = evsignal_new(base, SIGINT, server_on_signal, server);
    if (server->wake == NULL || server->again == NULL ||
        server->grace == NULL || server->term == NULL ||
        server->interrupt == NULL || event_add(server->wake, NULL) != 0 ||
        event_add(server->term, NULL) != 0 ||
        event_add(server->interrupt, NULL) != 0)
        return server_fail(err, "event loop");
    return SEQB_OK;
}

static struct listener *server_add_listener(struct server *server)
{
    struct listener *listener = &server->listeners[server->listener_count++];

    *listener = (struct listener){.fd = -1};
    return listener;
}

static bool folder_is_there(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_SIZE];

    if (slash == NULL || slash == path)
        return true;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return access(folder, F_OK) == 0;
}

/* Those that are not taken yet; `later`: but those that are in no folder. */
static enum seqb_status server_take_sockets(struct server *server, bool later,
                                            struct seqb_error *err)
{
    const struct server_options *options = &server->options;

    for (size_t i = 0; i < options->socket_count; i++) {
        if (server->has_socket[i] ||
            (later && !folder_is_there(options->sockets[i])))
            continue;
        if (listener_open_local(server_add_listener(server),
                                options->sockets[i], &options->rights,
                                err) != SEQB_OK)
            return err->status;
        server->has_socket[i] = true;
    }
    return SEQB_OK;
}

/* All but sockets in a state directory that the broker has still to make:
 * nobody can have those. */
static enum seqb_status server_take_addresses(struct server *server,
                                              struct seqb_error *err)
{
    const struct server_options *options = &server->options;

    for (size_t i = 0; i < options->listen_count; i++) {
        if (listener_open_tcp(server_add_listener(server), options->listen[i],
                              err) != SEQB_OK)
            return err->status;
    }
    if (options->listen_count > 0)
        server->daemon.tcp_port = listener_port(&server->listeners[0]);
    if (options->http != NULL &&
        http_open(&server->daemon, server->base, options->http, &server->http,
                  err) != SEQB_OK)
        return err->status;
    return server_take_sockets(server, true, err);
}

static void places_name(char *out, const struct server *server, bool is_local)
{
    size_t used = 0;

    snprintf(out, SERVER_PLACES_SIZE, "none");
    for (size_t i = 0; i < server->listener_count; i++) {
        const struct listener *listener = &server->listeners[i];

        if ((listener->path != NULL) == is_local && used < SERVER_PLACES_SIZE)
            used +=
                (size_t)snprintf(out + used, SERVER_PLACES_SIZE - used, "%s%s",
                                 used > 0 ? "," : "", listener->name);
    }
}

static enum seqb_status server_listen(struct server *server,
                                      struct seqb_error *err)
{
    if (server_take_sockets(server, false, err) != SEQB_OK)
        return err->status;
    for (size_t i = 0; i < server->listener_count; i++) {
        struct listener *listener = &server->listeners[i];

        if (listener_start(listener, err) != SEQB_OK)
            return err->status;
        listener->event =
            event_new(server->base, listener->fd, EV_READ | EV_PERSIST,
                      server_on_incoming, server);
    }
    if (server->http != NULL && http_listen(server->http, err) != SEQB_OK)
        return err->status;
    places_name(server->addresses, server, false);
    places_name(server->sockets, server, true);
    server_watch_listeners(server, true);
    return SEQB_OK;
}

/* What SEQ.SHOW CONFIG says. */
static void server_describe(struct server *server)
{
    const struct server_options *options = &server->options;
    const char *named =
        options->topology == NULL ? "embedded" : options->topology;

    server->daemon.config = (struct status_config){
        .topology = server->topology != NULL ? server->topology : named,
        .read_ms = server->read_ms,
        .state_dir = options->state_dir,
        .listen = server->addresses,
        .socket = server->sockets,
        .http = server->http == NULL ? "none" : http_name(server->http),
    };
}

static enum seqb_status server_open_broker(struct server *server,
                                           struct seqb_error *err)
{
    const char *topology = server->options.topology;

    if (topology != NULL)
        server->topology = realpath(topology, NULL);
    server->read_ms = daemon_wall_ms();
    return seqb_open(topology, &server->daemon.broker, err);
}

static enum seqb_status server_start(struct server *server,
                                     struct seqb_error *err)
{
    struct daemon *daemon = &server->daemon;

    daemon->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (daemon->wake_fd < 0)
        return server_fail(err, "eventfd");
    server->base = event_base_new();
    if (server->base == NULL ||
        !connections_init(&server->connections, daemon, server->base))
        return server_fail(err, "event loop");
    /* The signals first: one that comes while the broker opens stops it. */
    if (server_make_events(server, err) != SEQB_OK ||
        server_take_addresses(server, err) != SEQB_OK ||
        server_open_broker(server, err) != SEQB_OK)
        return err->status;
    waitlists_init(&daemon->waitlists, daemon->broker, daemon->wake_fd);
    if (server_listen(server, err) != SEQB_OK)
        return err->status;
    server_describe(server);
    return SEQB_OK;
}

enum seqb_status server_open(const struct server_options *options,
                             struct server **out, struct seqb_error *err)
{
    struct server *server = calloc(1, sizeof *server);

    if (server == NULL)
        return server_fail(err, "server");
    server->options = *options;
    daemon_init(&server->daemon, options->state_dir);
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
    struct event *events[] = {server->wake, server->again, server->grace,
                              server->term, server->interrupt};

    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (events[i] != NULL)
            event_free(events[i]);
}

void server_close(struct server *server)
{
    struct daemon *daemon;

    if (server == NULL)
        return;
    daemon = &server->daemon;
    server_close_listeners(server);
    connections_fini(&server->connections);
    http_close(server->http);
    blocking_call_end(daemon);
    seqb_close(daemon->broker);
    waitlists_fini(&daemon->waitlists);
    server_free_events(server);
    if (server->base != NULL)
        event_base_free(server->base);
    if (daemon->wake_fd >= 0)
        close(daemon->wake_fd);
    if (daemon->drain_fd >= 0)
        close(daemon->drain_fd);
    free(server->topology);
    free(server);
}
