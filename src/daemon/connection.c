/* SPDX-License-Identifier: Apache-2.0 */
/* A connection's life: read, execute, send, wait, close; see connection.h. */
#include "daemon/connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/blocking_call.h"
#include "daemon/commands/commands.h"
#include "daemon/daemon.h"

/* Numbers and commands that one session gets in a turn of the loop. */
#define QUANTUM 4096

/* How long a peer may take to read the last reply. If the socket were closed
 * with unread input, the kernel would reset the connection and discard that
 * reply. */
#define LINGER_MS 1000

void timer_start(struct event *timer, int64_t ms)
{
    const struct timeval delay = {(time_t)(ms / 1000),
                                  (suseconds_t)(ms % 1000) * 1000};

    event_add(timer, &delay);
}

static void event_switch(struct event *event, bool *is_on, bool wanted)
{
    if (*is_on == wanted)
        return;
    if (wanted)
        event_add(event, NULL);
    else
        event_del(event);
    *is_on = wanted;
}

static void connection_watch(struct connection *connection, bool reads,
                             bool writes)
{
    struct session *session = &connection->session;
    const bool has_input = reads && connection->transport.holds_input;

    transport_watch(&connection->transport, &reads, &writes);
    event_switch(&connection->readable, &session->is_reading, reads);
    event_switch(&connection->writable, &session->is_writing, writes);
    if (has_input)
        event_active(&connection->readable, EV_READ, 0);
}

void connection_free(struct connection *connection)
{
    struct session *session = &connection->session;
    struct connections *all = connection->all;
    struct daemon *daemon = all->daemon;

    waitlists_leave(&daemon->waitlists, &session->waiter);
    login_cancel(&session->login);
    connection_watch(connection, false, false);
    event_del(&connection->timer);
    /* A drain's client must see no close_notify: daemon.drain_fd keeps it. */
    transport_close(&connection->transport, !session->is_drain);
    free(session->peer);
    buffer_wipe(&session->in);
    buffer_fini(&session->out);
    batch_free(session->batch);
    listing_free(session->listing);
    session_leave(session);
    limits_hold(&daemon->limits, &session->held, 0);
    if (session->blocking_call != NULL)
        session->blocking_call->session = NULL;
    if (all->swept == session)
        all->swept = TAILQ_NEXT(session, entry);
    client_walks_leave(daemon, session);
    TAILQ_REMOVE(&daemon->sessions, session, entry);
    if (connection->is_deferred)
        TAILQ_REMOVE(&all->deferred, connection, deferred);
    daemon->session_count--;
    if (daemon_is_done(daemon))
        event_base_loopbreak(all->base);
    free(connection);
}

/* --- executing --- */

/* Counts an answered request. */
static void request_count(struct session *session)
{
    session->wait_until_ms = 0;
    session->is_late = false;
    session->daemon->commands_processed++;
    session->budget--;
    if (session->state == SESSION_READING &&
        (session->budget <= 0 || !session_has_room(session)))
        session->state = SESSION_RUNNABLE;
}

/* The command is not done yet. A wait for a number has a deadline. */
static void connection_pause(struct connection *connection,
                             enum command_outcome outcome)
{
    struct session *session = &connection->session;
    int64_t left_ms;

    session->state =
        outcome == COMMAND_WAITS ? SESSION_WAITING : SESSION_RUNNABLE;
    if (outcome != COMMAND_WAITS || session->wait_until_ms == 0)
        return;
    left_ms = session->wait_until_ms - daemon_now_ms();
    timer_start(&connection->timer, left_ms > 0 ? left_ms : 0);
}

/* Executes the complete requests in `data`. Returns their size in bytes. */
static size_t connection_run(struct connection *connection, const char *data,
                             size_t length)
{
    struct session *session = &connection->session;
    const int64_t before = session->daemon->commands_processed;
    struct resp_request request;
    size_t used = 0;

    buffer_take_spare(&session->out, &connection->all->spare);
    session->budget = QUANTUM;
    session->state = SESSION_READING;
    while (session->state == SESSION_READING) {
        enum command_outcome outcome = COMMAND_DONE;
        enum resp_result result =
            resp_parse(data + used, length - used, &request);

        if (result == RESP_PARTIAL)
            break;
        if (result == RESP_BROKEN) {
            reply_error(&session->out, "ERR", "%s", request.error);
            session->state = SESSION_CLOSING;
            break;
        }
        session->ahead = (struct resp_slice){data + used + request.size,
                                             length - used - request.size};
        if (request.argc > 0)
            outcome = command_run(session, &request);
        if (outcome != COMMAND_DONE) {
            connection_pause(connection, outcome);
            break;
        }
        used = length - session->ahead.length;
        request_count(session);
    }
    session->commands += session->daemon->commands_processed - before;
    connection->answered += session->daemon->commands_processed - before;
    return used;
}

/* Sends once (send costs less than write); the rest waits until the socket has
 * room. False if the connection is gone. */
static bool connection_send(struct connection *connection)
{
    struct session *session = &connection->session;
    ssize_t sent = 0;

    if (session->out.is_broken)
        return false;
    if (session->out.length > 0)
        sent =
            transport_write(&connection->transport,
                            buffer_content(&session->out), session->out.length);
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
        return false;
    if (sent >= 0 && (size_t)sent == session->out.length) {
        buffer_give_spare(&session->out, &connection->all->spare);
        connection->unsent_ms = 0;
        return true;
    }
    if (sent > 0 || connection->unsent_ms == 0)
        connection->unsent_ms = daemon_now_ms();
    if (sent > 0)
        buffer_drop(&session->out, (size_t)sent);
    return true;
}

/* Counts the time from a turn's input to its answers' sending. The clock is
 * read once for all of them, so that a pipeline is not slowed down. */
static void connection_count(struct connection *connection)
{
    if (connection->answered == 0)
        return;
    counts_add_duration(&connection->all->daemon->counts,
                        daemon_now_us() - connection->received_us,
                        connection->answered);
    connection->answered = 0;
}

/* All is sent, and nothing more will come. */
static void connection_end(struct connection *connection)
{
    if (connection->has_input_ended && !connection->lingers) {
        connection_free(connection);
        return;
    }
    transport_end(&connection->transport);
    connection->session.state = SESSION_LINGERING;
    connection_watch(connection, true, false);
    timer_start(&connection->timer, LINGER_MS);
}

/* Continues its execution in a later turn of the loop. */
static void connection_defer(struct connection *connection)
{
    struct connections *all = connection->all;

    if (connection->is_deferred)
        return;
    connection->is_deferred = true;
    TAILQ_INSERT_TAIL(&all->deferred, connection, deferred);
    timer_start(all->defer, 0);
}

/* The daemon stops: no command is read any more. Those that arrive while the
 * connection lingers are discarded: their client sees the close and no answer.
 * A connection that asked for a drain does not linger: its close tells the
 * drain's end. */
static void connection_end_input(struct connection *connection)
{
    connection->lingers =
        !connection->has_input_ended && !connection->session.is_drain;
    connection->has_input_ended = true;
}

/* A large request is not read further until clients hold less memory, because
 * all of it would have to be held. */
static bool connection_is_held_back(const struct connection *connection)
{
    const struct session *session = &connection->session;

    return session->in.length >= LIMITS_SMALL &&
           limits_are_full(&session->daemon->limits);
}

/* Notes since when a request is incomplete. The time is that of its first
 * bytes, so that a request that comes byte by byte times out as well. */
static void connection_note_input(struct connection *connection)
{
    const struct session *session = &connection->session;

    if (session->state != SESSION_READING || session->in.length == 0)
        connection->partial_ms = 0;
    else if (connection->partial_ms == 0)
        connection->partial_ms = session->received_ms;
}

/* After execution: sends, and sets up the connection's next event. */
static void connection_update(struct connection *connection)
{
    struct session *session = &connection->session;
    bool has_room = false;

    if (session->daemon->is_stopping && !connection->has_input_ended &&
        session->command != NULL)
        connection_end_input(connection);
    if (!connection_send(connection)) {
        connection_free(connection);
        return;
    }
    connection_count(connection);
    if (session->state == SESSION_READING && connection->has_input_ended)
        session->state = SESSION_CLOSING;
    if (session->state == SESSION_CLOSING && session->out.length == 0) {
        connection_end(connection);
        return;
    }
    session_account(session, 0);
    connection_note_input(connection);
    has_room = session_has_room(session);
    connection_watch(connection,
                     session->state == SESSION_READING && has_room &&
                         !connection_is_held_back(connection),
                     session->out.length > 0);
    if (session->state == SESSION_RUNNABLE && has_room)
        connection_defer(connection);
}

void connection_work(struct connection *connection)
{
    struct buffer *in = &connection->session.in;
    size_t used = connection_run(connection, buffer_content(in), in->length);

    buffer_drop(in, used);
    connection_update(connection);
}

void connection_resume(struct session *session)
{
    struct connection *connection = (struct connection *)session;

    event_del(&connection->timer);
    connection_work(connection);
}

/* --- reading --- */

/* Bytes to read at once behind the input that is held back. */
static size_t connection_read_size(const struct session *session)
{
    return limits_are_full(&session->daemon->limits)
               ? LIMITS_SMALL
               : CONNECTION_INPUT_SIZE - session->in.length;
}

/* Reads and executes. Held back input is copied to the front of the one big
 * buffer, so that idle sessions need no buffer. It is a part of one request,
 * and may be of a password: none of it stays there. False if the connection is
 * gone. */
static bool connection_read(struct connection *connection)
{
    struct session *session = &connection->session;
    char *input = connection->all->input;
    size_t held = session->in.length;
    size_t used = 0;
    ssize_t got = transport_read(&connection->transport, input + held,
                                 connection_read_size(session));

    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0)
        connection->has_input_ended = true;
    connection->received_us = daemon_now_us();
    session->received_ms = connection->received_us / 1000;
    memcpy(input, buffer_content(&session->in), held);
    buffer_wipe(&session->in);
    used = connection_run(connection, input, held + (size_t)got);
    buffer_append(&session->in, input + used, held + (size_t)got - used);
    explicit_bzero(input + used, held + (size_t)got - used);
    return !session->in.is_broken;
}

static void connection_discard(struct connection *connection)
{
    char *input = connection->all->input; /* gets what may be a password */
    ssize_t got = recv(connection->session.fd, input, CONNECTION_INPUT_SIZE, 0);

    explicit_bzero(input, got > 0 ? (size_t)got : 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        connection_free(connection);
}

static void connection_on_readable(evutil_socket_t fd, short events,
                                   void *context)
{
    struct connection *connection = context;

    (void)fd;
    (void)events;
    if (connection->session.state == SESSION_LINGERING) {
        connection_discard(connection);
        return;
    }
    if (!connection_read(connection)) {
        connection_free(connection);
        return;
    }
    connection_update(connection);
}

static void connection_on_writable(evutil_socket_t fd, short events,
                                   void *context)
{
    struct connection *connection = context;
    const struct session *session = &connection->session;

    if (connection->transport.reads_by_writing &&
        session->state == SESSION_READING && session->out.length == 0)
        connection_on_readable(fd, events, context);
    else
        connection_update(connection);
}

/* The deadline of a wait, the end of lingering, or, while the daemon stops, the
 * end of waiting for a first command. */
static void connection_on_timer(evutil_socket_t fd, short events, void *context)
{
    struct connection *connection = context;
    struct session *session = &connection->session;

    (void)fd;
    (void)events;
    if (session->state == SESSION_LINGERING ||
        session->state == SESSION_READING) {
        connection_free(connection);
        return;
    }
    waitlists_leave(&session->daemon->waitlists, &session->waiter);
    session->is_late = true;
    connection_work(connection);
}

struct connection *connection_new(struct connections *all,
                                  const struct transport *transport,
                                  bool is_local)
{
    struct connection *connection = calloc(1, sizeof *connection);
    struct daemon *daemon = all->daemon;
    const int fd = transport->fd;
    struct session *session;

    if (connection == NULL)
        return NULL;
    connection->all = all;
    connection->transport = *transport;
    session = &connection->session;
    session->daemon = daemon;
    session->resume = connection_resume;
    session->fd = fd;
    session->is_local = is_local;
    if (transport->ssl != NULL)
        session->peer = tls_peer_new(transport->ssl);
    session->id = ++daemon->connections_received;
    session->opened_ms = daemon_now_ms();
    session->received_ms = session->opened_ms;
    session->waiter.session = session;
    if (!session_enter(session)) {
        free(session->peer);
        free(connection);
        return NULL;
    }
    event_assign(&connection->readable, all->base, fd, EV_READ | EV_PERSIST,
                 connection_on_readable, connection);
    event_assign(&connection->writable, all->base, fd, EV_WRITE | EV_PERSIST,
                 connection_on_writable, connection);
    event_assign(&connection->timer, all->base, -1, 0, connection_on_timer,
                 connection);
    connection_watch(connection, true, false);
    return connection;
}

/* Whether its peer is gone: while input is held back, the socket is not read
 * and the close is not noticed. */
static bool connection_has_left(const struct connection *connection)
{
    struct pollfd peer = {.fd = connection->session.fd, .events = POLLRDHUP};

    return connection_is_held_back(connection) && poll(&peer, 1, 0) > 0;
}

void connection_sweep(struct connection *connection, bool is_over)
{
    struct session *session = &connection->session;

    session->daemon->limits.connections_timed_out += is_over;
    if (is_over || connection_has_left(connection))
        connection_free(connection);
    else if (session->state == SESSION_READING && !session->is_reading)
        connection_update(connection); /* its input may have been held back */
}

/* Whether its client has just connected, and may be about to send its first
 * command. */
static bool connection_is_new(const struct connection *connection,
                              int64_t new_ms)
{
    const struct session *session = &connection->session;

    return session->state == SESSION_READING && session->command == NULL &&
           !connection->has_input_ended &&
           daemon_now_ms() - session->opened_ms < new_ms;
}

/* Whether its client has been silent for a while, so that closing it most
 * likely loses no answer. */
static bool connection_is_idle(const struct connection *connection)
{
    const struct session *session = &connection->session;

    return session->state == SESSION_READING &&
           daemon_now_ms() - session->received_ms >= LINGER_MS;
}

void connection_finish(struct connection *connection, int64_t new_ms)
{
    const bool is_idle = connection_is_idle(connection);

    if (connection->session.state == SESSION_LINGERING) {
        connection_free(connection);
        return;
    }
    if (connection->session.state == SESSION_READING &&
        !connection_read(connection)) {
        connection_free(connection);
        return;
    }
    if (connection_is_new(connection, new_ms)) {
        timer_start(&connection->timer, new_ms);
        return;
    }
    connection_end_input(connection);
    connection->lingers = connection->lingers && !is_idle;
    connection_update(connection);
}
