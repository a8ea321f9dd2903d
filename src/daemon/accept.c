/* SPDX-License-Identifier: Apache-2.0 */
/* Accepts clients, and refuses those over a limit; see accept.h. */
#include "daemon/accept.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <seqbroker/admin.h>

#include "daemon/log/log.h"
#include "daemon/reloader/reloader.h"
#include "daemon/server.h"

/* The most connections that are accepted in one turn of the loop, in a
 * millisecond or so. In a flood a client waits until those before it are
 * accepted, for a turn of all others each. */
#define ACCEPT_MAX 64

/* How long accepting pauses when descriptors run out; the loop would spin
 * otherwise. */
#define ACCEPT_PAUSE_MS 100

void accept_again(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    listeners_watch(&((struct server *)context)->listeners, true);
}

/* Whether the operator connects: everybody may be permitted to connect to a
 * unix socket. */
static bool is_operator(const struct server *server,
                        const struct listener *listener, int fd)
{
    struct identity identity;

    if (!listener->is_local)
        return false;
    identity_of_origin(&server->daemon.access, (struct origin){.fd = fd},
                       &identity);
    return (identity.rights & RIGHT_ADMIN) != 0;
}

/* Counts a connection at its address, or at its uid if it is of a unix socket.
 * False if that has too many. */
static bool source_is_admitted(struct server *server,
                               struct transport *transport)
{
    struct limits *limits = &server->daemon.limits;
    char name[LOGIN_SOURCE_SIZE];

    identity_source(transport->fd, name);
    return source_enter(&limits->sources, name,
                        limits->options.max_connections_per_address,
                        &transport->source);
}

/* Handshakes in progress count as connections. */
static bool is_admitted(const struct server *server, bool of_operator)
{
    const struct daemon *daemon = &server->daemon;

    return limits_admit(&daemon->limits,
                        daemon->session_count + daemon->handshake_count,
                        of_operator ? LIMITS_LOCAL : 0);
}

/* A connection by TLS is counted with the memory that it takes, which is most
 * during its handshake. */
static bool has_memory(const struct server *server,
                       const struct listener *listener)
{
    return !listener->is_tls ||
           !limits_are_passed(&server->daemon.limits, LIMITS_OPENING_BYTES);
}

static void take(struct server *server, const struct listener *listener, int fd)
{
    struct transport plain = {.fd = fd};
    const bool of_operator = is_operator(server, listener, fd);

    if (!is_admitted(server, of_operator))
        connections_refuse(&server->connections, fd, listener->is_tls,
                           LIMIT_OF_ALL);
    else if (!has_memory(server, listener))
        connections_refuse(&server->connections, fd, listener->is_tls,
                           LIMIT_OF_MEMORY);
    else if (!of_operator && !source_is_admitted(server, &plain))
        connections_refuse(&server->connections, fd, listener->is_tls,
                           LIMIT_OF_ADDRESS);
    else if (listener->is_tls)
        handshakes_add(server->handshakes, &plain);
    else
        connection_adopt(&server->connections, &plain, listener->is_local);
}

static void accept_from(struct server *server, const struct listener *listener,
                        int max)
{
    for (int i = 0; i < max; i++) {
        int fd = -1;

        if (listener->is_tls && !handshakes_admit(server->handshakes))
            return;
        fd = listener_accept(listener);
        if (fd >= 0) {
            take(server, listener, fd);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
            errno == ENOMEM) {
            listeners_watch(&server->listeners, false);
            timer_start(server->again, ACCEPT_PAUSE_MS);
        }
        return;
    }
}

void accept_incoming(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;

    (void)events;
    accept_from(server, listeners_find(&server->listeners, fd), ACCEPT_MAX);
}

void accept_rest(struct server *server)
{
    for (size_t i = 0; i < server->listeners.count; i++)
        if (server->listeners.all[i].is_own)
            /* Linux queues one more than the backlog: listen(2). */
            accept_from(server, &server->listeners.all[i],
                        LISTENER_BACKLOG + 1);
}

void accept_left(struct server *server)
{
    struct listeners *listeners = &server->listeners;

    for (size_t i = 0; i < listeners->left_count; i++)
        if (!listeners->left[i].is_tls || server->handshakes != NULL)
            accept_from(server, &listeners->left[i], LISTENER_BACKLOG + 1);
    listeners_close_left(listeners);
}

void accept_fit(struct server *server)
{
    struct limits *limits = &server->daemon.limits;
    const int64_t wanted = limits->options.max_connections;
    struct rlimit files = {.rlim_cur = 0};
    size_t partitions = 0;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur > INT_MAX ||
        seqb_partitions(server->daemon.broker, NULL,
                        sizeof(struct seqb_partition_status), 0, &partitions,
                        NULL) != SEQB_OK)
        return;
    if (limits_fit(limits, (int64_t)files.rlim_cur, (int64_t)partitions))
        log_event(SEQB_LOG_WARN,
                  "event=connections_capped max=%lld max_connections=%lld "
                  "open_files=%lld",
                  (long long)limits->options.max_connections, (long long)wanted,
                  (long long)files.rlim_cur);
}

void accept_reload(struct server *server)
{
    struct limits_options *options =
        reloader_take_limits(server->daemon.reloader);

    if (options == NULL)
        return;
    server->daemon.limits.options = *options;
    free(options);
    accept_fit(server);
}
