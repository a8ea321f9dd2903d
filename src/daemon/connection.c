/* SPDX-License-Identifier: Apache-2.0 */
/* A connection's life: read, execute, send, wait, close; see connection.h. */
#include "daemon/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/blocking_call.h"
#include "daemon/commands/commands.h"
#include "daemon/daemon.h"

/* Numbers and commands that one session gets in a turn of the loop. */
#define QUANTUM 1024

/* How long a peer may take to read the last reply. If the socket were closed
 * with unread input, the kernel would reset the connection and discard that
 * reply. */
#define LINGER_MS 1000

/* False if memory is short for what is wanted. */
static bool event_switch(struct event *event, bool *is_on, bool wanted)
{
    if (*is_on == wanted)
        return true;
    if (wanted && event_add(event, NULL) != 0)
        return false;
    if (!wanted)
        event_del(event);
    *is_on = wanted;
    return true;
}

/* False if memory is short: the socket is not watched as it should be, and its
 * client would wait. */
static bool connection_watch(struct connection *connection, bool reads,
                             bool writes)
{
    struct session *session = &connection->session;
    const bool has_input = reads && connection->transport.holds_input;

    transport_watch(&connection->transport, &reads, &writes);
    if (!event_switch(&connection->readable, &session->is_reading, reads) ||
        !event_switch(&connection->writable, &session->is_writing, writes))
        return false;
    if (has_input)
        event_active(&connection->readable, EV_READ, 0);
    return true;
}

void connection_free(struct connection *connection)
{
    struct session *session = &connection->session;
    struct connections *all = connection->all;
    struct daemon *daemon = all->daemon;

    waitlists_leave(&daemon->waitlists, &session->waiter);
    login_cancel(&session->login);
    (void)connection_watch(connection, false, false);
    event_del(&connection->timer);
    /* A drain's client must see no close_notify: daemon.drain_fds keeps it. */
    transport_close(&connection->transport, !session->is_drain);
    free(session->peer);
    buffer_wipe(&session->in);
    buffer_fini(&session->out);
    batch_free(session->batch);
    listing_free(session->listing);
    session_leave(session);
    limits_hold(&daemon->limits, &session->held, 0);
    blocking_call_leave(session);
    if (all->swept == session)
        all->swept = TAILQ_NEXT(session, entry);
    client_walks_leave(daemon, session);
    TAILQ_REMOVE(&daemon->sessions, session, entry);
    connection_dequeue(connection);
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
    if (session->is_barred)
        session->state = SESSION_CLOSING;
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
            connection_parse(connection, data + used, length - used, &request);

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
    connection_note_unsent(connection, sent > 0 ? (size_t)sent : 0,
                           daemon_now_ms());
    if (sent > 0)
        buffer_drop(&session->out, (size_t)sent);
    return true;
}

/* Counts the time from a turn's input to its answers' sending, and what the
 * turn cost the loop. The clock is read once for all answers, so that a
 * pipeline is not slowed down, and not for a turn without an answer. */
static void connection_count(struct connection *connection)
{
    struct session *session = &connection->session;
    struct connections *all = connection->all;
    const bool has_answered = connection->answered > 0;
    const int64_t now_us =
        has_answered ? daemon_now_us() : connection->begun_us;
    const struct load_turn turn = {
        .us = now_us - connection->begun_us,
        .errors = session->errors,
        .other_commands = session->other_commands,
        .is_long = session->state == SESSION_RUNNABLE,
        .is_unfinished = !has_answered && session->in.length > 0 &&
                         session->state == SESSION_READING,
    };

    if (has_answered)
        counts_add_duration(&all->daemon->counts,
                            now_us - connection->received_us,
                            connection->answered);
    if (load_is_heavy(&connection->load, now_us))
        fairness_use(&all->fairness, turn.us);
    load_add(&connection->load, &turn, now_us);
    session->errors = 0;
    session->other_commands = 0;
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
    /* Whatever it sends is discarded when there is time. */
    (void)connection_watch(connection, false, false);
    event_priority_set(&connection->readable, LOOP_OTHERS);
    if (!connection_watch(connection, true, false)) {
        connection_free(connection);
        return;
    }
    timer_start(&connection->timer, LINGER_MS);
}

/* The daemon stops: once all that had arrived is read, no command is read any
 * more. Those that arrive while the connection lingers are discarded: their
 * client sees the close and no answer. A connection that asked for a drain does
 * not linger: its close tells the drain's end. */
static void connection_end_input(struct connection *connection)
{
    if (connection->owed > 0 || connection->has_input_ended)
        return;
    connection->lingers = !connection->session.is_drain;
    connection->has_input_ended = true;
}

/* After execution: sends, and sets up the connection's next event. */
static void connection_update(struct connection *connection)
{
    struct session *session = &connection->session;
    bool has_room = false, reads = false;

    if (session->daemon->is_stopping &&
        (connection->is_finishing || session->command != NULL))
        connection_end_input(connection);
    if (!connection_send(connection)) {
        connection_free(connection);
        return;
    }
    if (connection->has_run)
        connection_count(connection);
    connection->has_run = false;
    if (session->state == SESSION_READING && connection->has_input_ended)
        session->state = SESSION_CLOSING;
    if (session->state == SESSION_CLOSING && session->out.length == 0) {
        connection_end(connection);
        return;
    }
    session_account(session, 0);
    connection_note_input(connection);
    has_room = session_has_room(session);
    reads = connection_is_read(connection);
    if (!connection_watch(connection,
                          reads && !connection->is_deferred &&
                              connection->owed == 0,
                          session->out.length > 0)) {
        connection_free(connection);
        return;
    }
    if ((session->state == SESSION_RUNNABLE && has_room) ||
        (reads && connection->owed > 0))
        connection_defer(connection);
}

/* Executes the input that is held. */
static void connection_work(struct connection *connection, int64_t now_us)
{
    struct buffer *in = &connection->session.in;
    size_t used = 0;

    connection->begun_us = now_us;
    connection->has_run = true;
    used = connection_run(connection, buffer_content(in), in->length);
    buffer_drop(in, used);
    connection_update(connection);
}

/* The session's wait is over. The connection may be gone afterwards. */
static void connection_resume(struct session *session)
{
    struct connection *connection = (struct connection *)session;

    event_del(&connection->timer);
    connection_work(connection, daemon_now_us());
}

/* --- reading --- */

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
                                 connection_read_size(connection));

    connection_note_read(connection, got);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0)
        connection->has_input_ended = true;
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

/* One turn of a connection that has input. */
static void connection_serve(struct connection *connection, int64_t now_us)
{
    connection->begun_us = now_us;
    connection->has_run = true;
    if (connection_read(connection))
        connection_update(connection);
    else
        connection_free(connection);
}

void connection_continue(struct connection *connection, int64_t now_us)
{
    const struct session *session = &connection->session;

    if (session->state == SESSION_RUNNABLE)
        connection_work(connection, now_us);
    else if (session->state == SESSION_READING && !session->is_reading)
        connection_serve(connection, now_us);
}

static void connection_on_readable(evutil_socket_t fd, short events,
                                   void *context)
{
    struct connection *connection = context;
    struct session *session = &connection->session;

    (void)fd;
    (void)events;
    if (session->state == SESSION_LINGERING) {
        connection_discard(connection);
        return;
    }
    if (connection->is_deferred)
        return;
    connection->received_us = daemon_now_us();
    if (connection_is_admitted(connection)) {
        connection_serve(connection, connection->received_us);
        return;
    }
    /* Watched again after its turn. */
    (void)connection_watch(connection, false, session->out.length > 0);
    connection_queue(connection);
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
    connection_work(connection, daemon_now_us());
}

struct connection *connection_new(struct connections *all,
                                  const struct transport *transport,
                                  bool is_local, bool *is_full)
{
    struct connection *connection = calloc(1, sizeof *connection);
    struct daemon *daemon = all->daemon;
    const int fd = transport->fd;
    struct session *session;

    *is_full = false;
    if (connection == NULL)
        return NULL;
    connection->all = all;
    connection->transport = *transport;
    session = &connection->session;
    session->daemon = daemon;
    session->resume = connection_resume;
    session->fd = fd;
    session->is_local = is_local;
    if (transport->ssl != NULL &&
        !tls_peer_read(transport->ssl, &session->peer)) {
        free(connection);
        return NULL;
    }
    session->id = ++daemon->connections_received;
    session->opened_ms = session->received_ms = daemon_now_ms();
    session->waiter.session = session;
    *is_full = !session_enter(session);
    event_assign(&connection->readable, all->base, fd, EV_READ | EV_PERSIST,
                 connection_on_readable, connection);
    event_assign(&connection->writable, all->base, fd, EV_WRITE | EV_PERSIST,
                 connection_on_writable, connection);
    event_assign(&connection->timer, all->base, -1, 0, connection_on_timer,
                 connection);
    event_priority_set(&connection->readable, LOOP_CLIENTS);
    event_priority_set(&connection->writable, LOOP_CLIENTS);
    event_priority_set(&connection->timer, LOOP_CLIENTS);
    if (!*is_full && connection_watch(connection, true, false))
        return connection;
    session_leave(session);
    free(session->peer);
    free(connection);
    return NULL;
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

void connection_finish(struct connection *connection, int64_t new_ms)
{
    const bool is_idle = connection_is_idle(connection, LINGER_MS);

    if (connection->session.state == SESSION_LINGERING) {
        connection_free(connection);
        return;
    }
    connection->begun_us = connection->received_us = daemon_now_us();
    connection->has_run = true;
    connection->owed = connection_arrived(connection);
    if (connection->session.state == SESSION_READING &&
        !connection_read(connection)) {
        connection_free(connection);
        return;
    }
    if (connection_is_new(connection, new_ms)) {
        connection->owed = 0;
        timer_start(&connection->timer, new_ms);
        return;
    }
    connection->is_finishing = true;
    connection_end_input(connection);
    connection->lingers = connection->lingers && !is_idle;
    connection_update(connection);
}
