/* SPDX-License-Identifier: Apache-2.0 */
/* A connection's life: read, execute, send, wait, close; see session.h. What
 * the commands do stands in the files of commands.h. */
#include "daemon/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seqbroker/admin.h>

#include "daemon/batch.h"
#include "daemon/commands.h"
#include "daemon/errand.h"
#include "daemon/reply.h"
#include "daemon/server.h"

/* Numbers and commands that one session gets before others have their turn. */
#define TURN_BUDGET 4096

/* How long a peer may take to read the last reply. Closing while its input is
 * unread would make the kernel throw that reply away. */
#define LINGER_MS 1000

/* A request is answered. */
static void session_count(struct session *session)
{
    session->wait_until_ms = 0;
    session->is_late = false;
    session->server->commands_processed++;
    session->budget--;
    if (session->state == SESSION_READING &&
        (session->budget <= 0 || session->out.length > SESSION_UNSENT_MAX))
        session->state = SESSION_RUNNABLE;
}

/* Executes what it understands of `data`; returns how much that was. */
static size_t session_run(struct session *session, const char *data,
                          size_t length)
{
    struct resp_request request;
    size_t used = 0;

    buffer_take_spare(&session->out, &session->server->spare);
    session->budget = TURN_BUDGET;
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
            session->state =
                outcome == COMMAND_WAITS ? SESSION_WAITING : SESSION_RUNNABLE;
            break;
        }
        used = length - session->ahead.length;
        session_count(session);
    }
    return used;
}

/* One send, which costs less than a write: what it leaves waits for the socket
 * to have room. False if the connection is gone. */
static bool session_send(struct session *session)
{
    ssize_t sent = 0;

    if (session->out.is_broken)
        return false;
    if (session->out.length > 0)
        sent = send(session->fd, buffer_content(&session->out),
                    session->out.length, MSG_NOSIGNAL);
    if (sent < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if ((size_t)sent == session->out.length)
        buffer_give_spare(&session->out, &session->server->spare);
    else
        buffer_drop(&session->out, (size_t)sent);
    return true;
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

static void session_watch(struct session *session, bool reads, bool writes)
{
    event_switch(&session->readable, &session->is_reading, reads);
    event_switch(&session->writable, &session->is_writing, writes);
}

static void session_set_timer(struct session *session, int64_t ms)
{
    struct timeval delay = {(time_t)(ms / 1000),
                            (suseconds_t)(ms % 1000) * 1000};

    event_add(&session->timer, &delay);
}

/* All is sent, nothing more is to come. */
static void session_end(struct session *session)
{
    if (session->has_input_ended) {
        session_close(session);
        return;
    }
    shutdown(session->fd, SHUT_WR);
    session->state = SESSION_LINGERING;
    session_watch(session, true, false);
    session_set_timer(session, LINGER_MS);
}

/* After running: sends, and arranges what calls the session next. */
static void session_settle(struct session *session)
{
    bool has_room = false;

    if (!session_send(session)) {
        session_close(session);
        return;
    }
    if (session->state == SESSION_READING && session->has_input_ended)
        session->state = SESSION_CLOSING;
    if (session->state == SESSION_CLOSING && session->out.length == 0) {
        session_end(session);
        return;
    }
    has_room = session->out.length <= SESSION_UNSENT_MAX;
    session_watch(session, session->state == SESSION_READING && has_room,
                  session->out.length > 0);
    if (session->state == SESSION_RUNNABLE && has_room)
        server_defer(session->server, session);
}

void session_work(struct session *session)
{
    size_t used =
        session_run(session, buffer_content(&session->in), session->in.length);

    buffer_drop(&session->in, used);
    session_settle(session);
}

void session_resume(struct session *session)
{
    event_del(&session->timer);
    session_work(session);
}

/* Reads behind what the session held back, all of it in the server's one big
 * buffer, so that idle sessions need none. Copying is bounded: what is held
 * back is part of one request. False if the connection is gone. */
static bool session_read(struct session *session)
{
    char *input = session->server->input;
    size_t held = session->in.length;
    size_t used = 0;
    ssize_t got = recv(session->fd, input + held, SERVER_INPUT_SIZE - held, 0);

    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (got == 0)
        session->has_input_ended = true;
    session->heard_ms = server_now_ms();
    memcpy(input, buffer_content(&session->in), held);
    buffer_drop(&session->in, held);
    used = session_run(session, input, held + (size_t)got);
    buffer_append(&session->in, input + used, held + (size_t)got - used);
    if (session->in.is_broken)
        return false;
    return true;
}

static void session_discard(struct session *session)
{
    ssize_t got =
        recv(session->fd, session->server->input, SERVER_INPUT_SIZE, 0);

    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
        session_close(session);
}

static void session_on_readable(evutil_socket_t fd, short events, void *context)
{
    struct session *session = context;

    (void)fd;
    (void)events;
    if (session->state == SESSION_LINGERING)
        session_discard(session);
    else if (session_read(session))
        session_settle(session);
    else
        session_close(session);
}

static void session_on_writable(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    session_settle(context);
}

/* The deadline of a wait, or the end of lingering. */
static void session_on_timer(evutil_socket_t fd, short events, void *context)
{
    struct session *session = context;

    (void)fd;
    (void)events;
    if (session->state == SESSION_LINGERING) {
        session_close(session);
        return;
    }
    lanes_leave(&session->server->lanes, &session->waiter);
    session->is_late = true;
    session_work(session);
}

void session_open(struct server *server, int fd)
{
    struct session *session = calloc(1, sizeof *session);

    if (session == NULL) {
        close(fd);
        return;
    }
    session->server = server;
    session->fd = fd;
    session->id = ++server->connections_received;
    session->opened_ms = server_now_ms();
    session->heard_ms = session->opened_ms;
    session->waiter.session = session;
    event_assign(&session->readable, server->base, fd, EV_READ | EV_PERSIST,
                 session_on_readable, session);
    event_assign(&session->writable, server->base, fd, EV_WRITE | EV_PERSIST,
                 session_on_writable, session);
    event_assign(&session->timer, server->base, -1, 0, session_on_timer,
                 session);
    server_add(server, session);
    session_watch(session, true, false);
}

void session_close(struct session *session)
{
    lanes_leave(&session->server->lanes, &session->waiter);
    session_watch(session, false, false);
    event_del(&session->timer);
    close(session->fd);
    buffer_fini(&session->in);
    buffer_fini(&session->out);
    batch_free(session->batch);
    if (session->errand != NULL)
        session->errand->session = NULL;
    server_remove(session->server, session);
    free(session);
}

void session_finish(struct session *session)
{
    bool is_alive = true;

    if (session->state == SESSION_LINGERING) {
        session_close(session);
        return;
    }
    if (session->state == SESSION_READING)
        is_alive = session_read(session);
    session->has_input_ended = true;
    if (is_alive)
        session_settle(session);
    else
        session_close(session);
}

struct lane *session_lane(struct session *session, struct resp_slice key)
{
    struct lane *lane = session->lane;
    struct seqb_error err;

    if (lane != NULL && lane->key_length == key.length &&
        memcmp(lane->key, key.data, key.length) == 0)
        return lane;
    if (lanes_find(&session->server->lanes, key, &lane, &err) != SEQB_OK) {
        reply_failure(&session->out, &err);
        return NULL;
    }
    session->lane = lane;
    return lane;
}

void session_answered(struct session *session, size_t count, size_t size)
{
    session->ahead.data += count * size;
    session->ahead.length -= count * size;
    session->server->commands_processed += (int64_t)count;
    session->budget -= (int)count;
}

void session_wait(struct session *session, struct lane *lane)
{
    int64_t now_ms = server_now_ms();
    bool has_waited = session->wait_until_ms != 0;

    if (!has_waited)
        session->wait_until_ms = now_ms + seqb_deadline_ms(lane->sequence);
    lanes_join(&session->server->lanes, lane, &session->waiter, has_waited);
    session_set_timer(session, session->wait_until_ms > now_ms
                                   ? session->wait_until_ms - now_ms
                                   : 0);
}
