/* SPDX-License-Identifier: Apache-2.0 */
/* The loop: its wake-ups and opening; see server.h. accept.c accepts clients,
 * connection.c serves them, stop.c ends it. */
#include "daemon/server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "daemon/accept.h"
#include "daemon/addresses.h"
#include "daemon/blocking_call.h"
#include "daemon/log/log.h"
#include "daemon/restart.h"
#include "daemon/signals.h"
#include "daemon/stop/stop.h"

static void server_on_restart(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;
    struct inherited lent = {.count = 0};

    (void)fd;
    (void)events;
    if (server->checker != NULL || daemon_leaves(&server->daemon) != NULL)
        return;
    listeners_lend(&server->listeners, &lent);
    http_lend(server->http, &lent);
    server->checker = restart_check(server->options.argv, &lent);
}

/* The check of the next program may have ended. */
static void server_on_child(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;
    enum restart_verdict verdict = RESTART_UNDECIDED;

    (void)fd;
    (void)events;
    if (server->checker == NULL)
        return;
    verdict = restart_evaluate(server->checker);
    if (verdict == RESTART_UNDECIDED)
        return;
    server->checker = NULL;
    if (verdict == RESTART_REFUSED || daemon_leaves(&server->daemon) != NULL)
        return;
    stop_for_restart(server);
}

/* Applies the users of a reload. Connected clients get their rights from the
 * new table, and are disconnected if their user is gone. */
static void server_swap_users(struct server *server)
{
    struct users *users = reloader_take_users(server->daemon.reloader);

    if (users == NULL)
        return;
    access_swap(&server->daemon.access, users);
    connections_resolve(&server->connections);
    http_resolve(server->http);
    users_free(server->users);
    server->users = users;
}

static void server_on_wake(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;
    uint64_t count = 0;

    (void)events;
    /* Read before the marks are checked, so that a mark set later wakes the
     * loop again. If the read fails, the marks are checked all the same. */
    (void)!read(fd, &count, sizeof count);
    connections_serve_waiters(&server->connections);
    connections_answer_calls(&server->connections);
    connections_answer_logins(&server->connections);
    server_swap_users(server);
    accept_reload(server);
    stop_poll(server);
}

static enum seqb_status server_fail(struct seqb_error *err, const char *what)
{
    err->status = SEQB_NO_MEMORY;
    snprintf(err->text, sizeof err->text, "cannot start: %s: %s", what,
             strerror(errno));
    return err->status;
}

struct signal_event {
    int number;
    event_callback_fn run;
    struct event **event;
};

/* False if one of the two cannot be made. */
static bool server_watch_signals(struct server *server,
                                 const struct signal_event signals[2])
{
    for (size_t i = 0; i < 2; i++) {
        *signals[i].event = evsignal_new(server->base, signals[i].number,
                                         signals[i].run, server);
        if (*signals[i].event == NULL ||
            event_add(*signals[i].event, NULL) != 0)
            return false;
    }
    return true;
}

/* Not before the server is ready: libevent keeps a signal for the loop. */
static bool server_watch_restarts(struct server *server)
{
    const struct signal_event signals[] = {
        {SIGUSR2, server_on_restart, &server->restart},
        {SIGCHLD, server_on_child, &server->child},
    };

    return server->options.argv == NULL ||
           server_watch_signals(server, signals);
}

static enum seqb_status server_make_events(struct server *server,
                                           struct seqb_error *err)
{
    struct event_base *base = server->base;

    server->wake =
        loop_wake_new(base, server->daemon.wake_fd, server_on_wake, server);
    server->again = evtimer_new(base, accept_again, server);
    server->delay = evtimer_new(base, stop_on_delay, server);
    server->grace = evtimer_new(base, stop_on_grace, server);
    if (server->wake == NULL || server->again == NULL ||
        server->delay == NULL || server->grace == NULL ||
        event_add(server->wake, NULL) != 0)
        return server_fail(err, "event loop");
    stop_watch_signals(server);
    return SEQB_OK;
}

static enum seqb_status server_listen(struct server *server,
                                      struct seqb_error *err)
{
    struct listeners *listeners = &server->listeners;

    if (listeners_start(listeners, err) != SEQB_OK ||
        http_listen(server->http, err) != SEQB_OK)
        return err->status;
    for (size_t i = 0; i < listeners->count; i++)
        listeners->all[i].event =
            event_new(server->base, listeners->all[i].fd, EV_READ | EV_PERSIST,
                      accept_incoming, server);
    listeners_watch(listeners, true);
    accept_left(server);
    return SEQB_OK;
}

_Static_assert(DAEMON_PLACES == INHERITED_KINDS, "a place for each kind");

static void server_describe_places(struct server *server)
{
    const struct status_config *config = &server->daemon.config;
    const char *const in_use[INHERITED_KINDS] = {
        [INHERITED_TCP] = config->listen,
        [INHERITED_LOCAL] = config->socket,
        [INHERITED_TLS] = config->tls_listen,
        [INHERITED_HTTP] = config->http,
        [INHERITED_HTTPS] = config->https,
    };

    for (int kind = 0; kind < INHERITED_KINDS; kind++) {
        struct daemon_place *place = &server->daemon.places[kind];

        *place = server->options.place_settings[kind];
        place->in_use = in_use[kind];
        if (inherited_replaces(&server->inherited, (enum inherited_kind)kind))
            place->decider = "$LISTEN_FDS";
    }
}

/* Fills in what SEQ.SHOW CONFIG reports. */
static void server_describe(struct server *server)
{
    const struct server_options *options = &server->options;
    const char *named =
        options->topology == NULL ? "embedded" : options->topology;

    server->daemon.config = (struct status_config){
        .topology = server->topology != NULL ? server->topology : named,
        .read_ms = options->read_ms,
        .state_dir = options->places.state_dir,
        .listen = server->listeners.addresses,
        .socket = server->listeners.sockets,
        .http = http_name(server->http),
        .tls_listen = server->listeners.tls_addresses,
        .https = http_tls_name(server->http),
    };
    server_describe_places(server);
}

static enum seqb_status server_open_broker(struct server *server,
                                           struct seqb_error *err)
{
    const char *topology = server->options.topology;
    enum seqb_status status;

    if (topology != NULL)
        server->topology = realpath(topology, NULL);
    status =
        seqb_open_topology(server->options.read, &server->daemon.broker, err);
    server->options.read = NULL;
    return status;
}

/* Names of addresses are looked up, and stores are opened: either may take
 * long. A signal stops the daemon after that, or ends the process in time. */
static enum seqb_status server_open_slowly(struct server *server,
                                           struct seqb_error *err)
{
    enum seqb_status status;

    signals_begin_opening(server->options.stop_timeout_ms);
    restart_free_signals();
    status = addresses_take(server, err);
    if (status == SEQB_OK)
        status = server_open_broker(server, err);
    signals_end_opening();
    return status;
}

static bool server_open_access(struct server *server)
{
    const struct server_options *options = &server->options;
    struct access *access = &server->daemon.access;

    access->is_open_to_all = options->is_open_to_all;
    access->has_open_metrics = options->has_open_metrics;
    access->wants_user = options->tls.client_auth == TLS_CLIENTS_USERS;
    access->audit.file = options->audit_file;
    return access_init(access, options->users, server->daemon.wake_fd);
}

/* What the addresses need. */
static enum seqb_status server_prepare(struct server *server,
                                       struct seqb_error *err)
{
    struct daemon *daemon = &server->daemon;

    daemon->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (daemon->wake_fd < 0)
        return server_fail(err, "eventfd");
    if (!server_open_access(server))
        return server_fail(err, "users");
    server->base = loop_new();
    if (server->base == NULL ||
        !connections_init(&server->connections, daemon, server->base))
        return server_fail(err, "event loop");
    return SEQB_OK;
}

static enum seqb_status server_start(struct server *server,
                                     struct seqb_error *err)
{
    struct daemon *daemon = &server->daemon;

    if (server_prepare(server, err) != SEQB_OK)
        return err->status;
    restart_hold_signals(); /* until they are handled */
    if (server_make_events(server, err) != SEQB_OK ||
        server_open_slowly(server, err) != SEQB_OK)
        return err->status;
    waitlists_init(&daemon->waitlists, daemon->broker, daemon->wake_fd);
    accept_fit(server);
    if (server_listen(server, err) != SEQB_OK)
        return err->status;
    server_describe(server);
    reloader_serve(daemon->reloader, daemon);
    if (!server_watch_restarts(server))
        return server_fail(err, "event loop");
    return SEQB_OK;
}

/* NULL if memory is short. */
static struct server *server_new(const struct server_options *options,
                                 struct seqb_error *err)
{
    struct server *server = calloc(1, sizeof *server);

    if (server == NULL) {
        seqb_topology_free(options->read);
        (void)server_fail(err, "server");
        return NULL;
    }
    server->options = *options;
    daemon_init(&server->daemon, options->places.state_dir);
    server->daemon.limits.options = options->limits;
    server->daemon.reloader = options->reloader;
    server->daemon.stop.delay_ms = options->stop_delay_ms;
    server->daemon.stop.timeout_ms = options->stop_timeout_ms;
    return server;
}

enum seqb_status server_try(const struct server_options *options,
                            struct seqb_error *err)
{
    struct server *server = server_new(options, err);
    enum seqb_status status;

    if (server == NULL)
        return err->status;
    status = server_prepare(server, err);
    if (status == SEQB_OK)
        status = addresses_take(server, err);
    server_close(server);
    return status;
}

enum seqb_status server_open(const struct server_options *options,
                             struct server **out, struct seqb_error *err)
{
    struct server *server = server_new(options, err);

    if (server == NULL)
        return err->status;
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

bool server_release(struct server *server, struct inherited *out)
{
    if (!server->is_restarting || !stop_may_restart(server))
        return false;
    listeners_release(&server->listeners, out);
    http_release(server->http, out);
    return true;
}

static void server_free_events(struct server *server)
{
    struct event *events[] = {server->wake,  server->again,   server->delay,
                              server->grace, server->restart, server->child};

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
    listeners_close(&server->listeners);
    handshakes_free(server->handshakes);
    connections_fini(&server->connections);
    if (daemon->broker != NULL)
        seqb_end_waits(daemon->broker, server->keep_ms);
    blocking_calls_end(daemon); /* a reload reads the names of the addresses */
    reloader_serve(daemon->reloader, NULL);
    http_close(server->http);
    tls_server_close(server->tls);
    audit_end(&daemon->access.audit, daemon_wall_ms());
    access_fini(&daemon->access);
    users_free(server->users);
    seqb_close(daemon->broker);
    seqb_topology_free(server->options.read);
    waitlists_fini(&daemon->waitlists);
    server_free_events(server);
    restart_forget(server->checker);
    if (server->base != NULL)
        event_base_free(server->base);
    stop_unwatch_signals(server);
    if (daemon->wake_fd >= 0)
        close(daemon->wake_fd);
    daemon_end_drains(daemon);
    free(server->topology);
    free(server);
}
