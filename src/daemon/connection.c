/* SPDX-License-Identifier: Apache-2.0 */
/* A connection's life: read, execute, send, wait, close; see connection.h. What
 * the commands do stands in the files of commands.h. */
#include "daemon/connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/blocking_call.h"
#include "daemon/commands/commands.h"
#include "daemon/daemon.h"

/* Numbers and commands that one session gets before others have their turn. */
#define QUANTUM 4096

/* How long a peer may take to read the last reply. Closing while its input is
 * unread would make the kernel throw that reply away. */
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

    event_switch(&connection->readable, &session->is_reading, reads);
    event_switch(&connection->writable, &session->is_writing, writes);
}

/* Closes it, leaves every list and frees it. */
static void connection_close(struct connection *connection)
{
    struct session *session = &connection->session;
    struct connections *all = connection->all;
    struct daemon *daemon = all->daemon;

    waitlists_leave(&daemon->waitlists, &session->waiter);
    connection_watch(connection, false, false);
    event_del(&connection->timer);
    close(session->fd);
    buffer_fini(&session->in);
    buffer_fini(&session->out);
    batch_free(session->batch);
    if (session->blocking_call != NULL)
        session->blocking_call->session = NULL;
    TAILQ_REMOVE(&daemon->sessions, session, entry);
    if (connection->is_deferred)
        TAILQ_REMOVE(&all->deferred, connection, deferred);
    daemon->session_count--;
    if (daemon_is_done(daemon))
        event_base_loopbreak(all->base);
    free(connection);
}

/* --- executing --- */

/* A request is answered. */
static void request_count(struct session *session)
{
    session->wait_until_ms = 0;
    session->is_late = false;
    session->daemon->commands_processed++;
    session->budget--;
    if (session->state == SESSION_READING &&
        (session->budget <= 0 || session->out.length > SESSION_UNSENT_MAX))
        session->state = SESSION_RUNNABLE;
}

/* The command is not done. Who waits for a number does so until a deadline. */
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

/* Executes what it understands of `data`; returns how much that was. */
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

/* One send, which costs less than a write: what it leaves waits for the socket
 * to have room. False if the connection is gone. */
static bool connection_send(struct connection *connection)
{
    struct session *session = &connection->session;
    ssize_t sent = 0;

    if (session->out.is_broken)
        return false;
    if (session->out.length > 0)
        sent = send(session->fd, buffer_content(&session->out),
                    session->out.length, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if ((size_t)sent == session->out.length)
        buffer_give_spare(&session->out, &connection->all->spare);
    else
        buffer_drop(&session->out, (size_t)sent);
    return true;
}

/* From when a turn's bytes came until its answers were given to the socket. One
 * look at the clock for all of them, so that a pipeline is not slowed down. */
static void connection_count(struct connection *connection)
{
    if (connection->answered == 0)
        return;
    counts_add_duration(&connection->all->daemon->counts,
                        daemon_now_us() - connection->received_us,
                        connection->answered);
    connection->answered = 0;
}

/* All is sent, nothing more is to come. */
static void connection_end(struct connection *connection)
{
    if (connection->has_input_ended && !connection->lingers) {
        connection_close(connection);
        return;
    }
    shutdown(connection->session.fd, SHUT_WR);
    connection->session.state = SESSION_LINGERING;
    connection_watch(connection, true, false);
    timer_start(&connection->timer, LINGER_MS);
}

/* Has it executed further in the next turn of the loop. */
static void connection_defer(struct connection *connection)
{
    struct connections *all = connection->all;

    if (connection->is_deferred)
        return;
    connection->is_deferred = true;
    TAILQ_INSERT_TAIL(&all->deferred, connection, deferred);
    timer_start(all->defer, 0);
}

/* We stop: no command is read any more. One that was sent meanwhile is thrown
 * away while the connection lingers: its client sees the end, and no answer.
 * That of a drain says by its end that the drain is over. */
static void connection_end_input(struct connection *connection)
{
    connection->lingers =
        !connection->has_input_ended && !connection->session.is_drain;
    connection->has_input_ended = true;
}

/* After running: sends, and arranges what calls the connection next. */
static void connection_update(struct connection *connection)
{
    struct session *session = &connection->session;
    bool has_room = false;

    if (session->daemon->is_stopping && !connection->has_input_ended &&
        session->command != NULL)
        connection_end_input(connection);
    if (!connection_send(connection)) {
        connection_close(connection);
        return;
    }
    connection_count(connection);
    if (session->state == SESSION_READING && connection->has_input_ended)
        session->state = SESSION_CLOSING;
    if (session->state == SESSION_CLOSING && session->out.length == 0) {
        connection_end(connection);
        return;
    }
    has_room = session->out.length <= SESSION_UNSENT_MAX;
    connection_watch(connection, session->state == SESSION_READING && has_room,
                     session->out.length > 0);
    if (session->state == SESSION_RUNNABLE && has_room)
        connection_defer(connection);
}

/* Executes what it has. It may be gone afterwards. */
static void connection_work(struct connection *connection)
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

/* Reads behind what the session held back, all of it in the one big buffer, so
 * that idle sessions need none. Copying is bounded: what is held back is part
 * of one request. False if the connection is gone. */
static bool connection_read(struct connection *connection)
{
    struct session *session = &connection->session;
    char *input = connection->all->input;
    size_t held = session->in.length;
    size_t used = 0;
    ssize_t got =
        recv(session->fd, input + held, CONNECTION_INPUT_SIZE - held, 0);

    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0)
        connection->has_input_ended = true;
    connection->received_us = daemon_now_us();
    session->received_ms = connection->received_us / 1000;
    memcpy(input, buffer_content(&session->in), held);
    buffer_drop(&session->in, held);
    used = connection_run(connection, input, held + (size_t)got);
    buffer_append(&session->in, input + used, held + (size_t)got - used);
    if (session->in.is_broken)
        return false;
    return true;
}

static void connection_discard(struct connection *connection)
{
    ssize_t got = recv(connection->session.fd, connection->all->input,
                       CONNECTION_INPUT_SIZE, 0);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        connection_close(connection);
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
        connection_close(connection);
        return;
    }
    connection_update(connection);
}

static void connection_on_writable(evutil_socket_t fd, short events,
                                   void *context)
{
    (void)fd;
    (void)events;
    connection_update(context);
}

/* The deadline of a wait, the end of lingering, or that of waiting for a first
 * command while we stop. */
static void connection_on_timer(evutil_socket_t fd, short events, void *context)
{
    struct connection *connection = context;
    struct session *session = &connection->session;

    (void)fd;
    (void)events;
    if (session->state == SESSION_LINGERING ||
        session->state == SESSION_READING) {
        connection_close(connection);
        return;
    }
    waitlists_leave(&session->daemon->waitlists, &session->waiter);
    session->is_late = true;
    connection_work(connection);
}

void connection_adopt(struct connections *all, int fd)
{
    struct connection *connection = calloc(1, sizeof *connection);
    struct daemon *daemon = all->daemon;
    struct session *session;

    if (connection == NULL) {
        close(fd);
        return;
    }
    connection->all = all;
    session = &connection->session;
    session->daemon = daemon;
    session->resume = connection_resume;
    session->fd = fd;
    session->id = ++daemon->connections_received;
    session->opened_ms = daemon_now_ms();
    session->received_ms = session->opened_ms;
    session->waiter.session = session;
    event_assign(&connection->readable, all->base, fd, EV_READ | EV_PERSIST,
                 connection_on_readable, connection);
    event_assign(&connection->writable, all->base, fd, EV_WRITE | EV_PERSIST,
                 connection_on_writable, connection);
    event_assign(&connection->timer, all->base, -1, 0, connection_on_timer,
                 connection);
    TAILQ_INSERT_TAIL(&daemon->sessions, session, entry);
    daemon->session_count++;
    connection_watch(connection, true, false);
}

/* Its client has connected, and may be about to send its first command. */
static bool connection_is_new(const struct connection *connection,
                              int64_t new_ms)
{
    const struct session *session = &connection->session;

    return session->state == SESSION_READING && session->command == NULL &&
           !connection->has_input_ended &&
           daemon_now_ms() - session->opened_ms < new_ms;
}

/* Nobody is about to send a command, as far as can be told: closing it loses no
 * answer. */
static bool connection_is_idle(const struct connection *connection)
{
    const struct session *session = &connection->session;

    return session->state == SESSION_READING &&
           daemon_now_ms() - session->received_ms >= LINGER_MS;
}

static void connection_finish(struct connection *connection, int64_t new_ms)
{
    const bool is_idle = connection_is_idle(connection);

    if (connection->session.state == SESSION_LINGERING) {
        connection_close(connection);
        return;
    }
    if (connection->session.state == SESSION_READING &&
        !connection_read(connection)) {
        connection_close(connection);
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

/* --- all of them --- */

/* One turn of one session, then the loop looks at all others again: whoever
 * asks for little waits for one turn at most, however many ask for much. */
static void connections_on_defer(evutil_socket_t fd, short events,
                                 void *context)
{
    struct connections *all = context;
    struct connection *connection = TAILQ_FIRST(&all->deferred);

    (void)fd;
    (void)events;
    if (connection == NULL)
        return;
    TAILQ_REMOVE(&all->deferred, connection, deferred);
    connection->is_deferred = false;
    if (!TAILQ_EMPTY(&all->deferred))
        timer_start(all->defer, 0);
    connection_work(connection);
}

bool connections_init(struct connections *all, struct daemon *daemon,
                      struct event_base *base)
{
    all->daemon = daemon;
    all->base = base;
    TAILQ_INIT(&all->deferred);
    all->defer = evtimer_new(base, connections_on_defer, all);
    daemon->session_size = sizeof(struct connection);
    return all->defer != NULL;
}

void connections_finish(struct connections *all, int64_t new_ms)
{
    struct daemon *daemon = all->daemon;
    struct session *session = NULL;
    struct session *next = NULL;

    daemon->is_stopping = true;
    if (daemon_is_done(daemon))
        event_base_loopbreak(all->base);
    for (session = TAILQ_FIRST(&daemon->sessions); session != NULL;
         session = next) {
        next = TAILQ_NEXT(session, entry);
        connection_finish((struct connection *)session, new_ms);
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
        connection_close((struct connection *)session);
    }
    if (all->defer != NULL)
        event_free(all->defer);
    buffer_fini(&all->spare);
}
