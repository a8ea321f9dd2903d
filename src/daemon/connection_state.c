/* SPDX-License-Identifier: Apache-2.0 */
/* The queues of connections, and queries about one connection; see
 * connection.h. */
#include "daemon/connection.h"

#include <poll.h>
#include <sys/ioctl.h>

#include "daemon/daemon.h"

/* How often it is noted that others may wait. */
#define MARK_US 1000

/* A client has to take this many of the unsent bytes within client_timeout, or
 * all of them if they are fewer. */
#define TAKEN_MIN 65536

/* No connection queues, and of the events that are known by now the mark alone
 * is active. After the last connection of a turn of the loop, all others that
 * are active wait. */
static bool connections_are_alone(const struct connections *all)
{
    return TAILQ_EMPTY(&all->deferred) && all->delayed_count == 0 &&
           event_base_get_num_events(all->base, EVENT_BASE_COUNT_ACTIVE) <= 1;
}

/* The mark runs with the others, after light connections have let them. */
bool connection_is_admitted(struct connection *connection)
{
    struct connections *all = connection->all;
    const int64_t now_us = connection->received_us;
    bool is_admitted = false;

    if (fairness_looks(&all->fairness, now_us) && connections_are_alone(all))
        all->fairness.waiting_us = now_us;
    is_admitted = fairness_admits(&all->fairness, &connection->load,
                                  TAILQ_EMPTY(&all->deferred), now_us);
    if (all->fairness.waiting_us == 0 && now_us - all->marked_us >= MARK_US) {
        all->fairness.waiting_us = now_us;
        all->marked_us = now_us;
        event_active(all->mark, EV_TIMEOUT, 0);
    }
    return is_admitted;
}

/* Puts it into the queue, to continue in a later turn of the loop. */
void connection_defer(struct connection *connection)
{
    struct connections *all = connection->all;

    if (connection->is_deferred)
        return;
    connection->is_deferred = true;
    TAILQ_INSERT_TAIL(&all->deferred, connection, deferred);
    timer_start(all->defer, 0);
}

/* Puts a light one behind all that waits now, and before heavy ones. */
static void connection_delay(struct connection *connection)
{
    struct connections *all = connection->all;

    connection->is_deferred = true;
    connection->is_delayed = true;
    all->delayed_count++;
    all->daemon->delayed = all->interleave;
    TAILQ_INSERT_TAIL(&all->delayed, connection, deferred);
    timer_start(all->defer, 0);
}

void connection_queue(struct connection *connection)
{
    if (load_is_heavy(&connection->load, connection->received_us))
        connection_defer(connection);
    else
        connection_delay(connection);
}

void connection_dequeue(struct connection *connection)
{
    struct connections *all = connection->all;

    if (!connection->is_deferred)
        return;
    TAILQ_REMOVE(connection->is_delayed ? &all->delayed : &all->deferred,
                 connection, deferred);
    all->delayed_count -= connection->is_delayed;
    if (all->delayed_count == 0)
        all->daemon->delayed = NULL;
    connection->is_deferred = false;
    connection->is_delayed = false;
}

bool connection_is_held_back(const struct connection *connection)
{
    const struct session *session = &connection->session;

    return session->in.length >= LIMITS_SMALL &&
           limits_are_full(&session->daemon->limits);
}

bool connection_is_read(const struct connection *connection)
{
    const struct session *session = &connection->session;

    return session->state == SESSION_READING && session_has_room(session) &&
           !connection_is_held_back(connection);
}

bool connection_has_left(const struct connection *connection)
{
    struct pollfd peer = {.fd = connection->session.fd, .events = POLLRDHUP};

    return connection_is_held_back(connection) && poll(&peer, 1, 0) > 0;
}

bool connection_is_new(const struct connection *connection, int64_t new_ms)
{
    const struct session *session = &connection->session;

    return session->state == SESSION_READING && session->command == NULL &&
           !connection->has_input_ended &&
           daemon_now_ms() - session->opened_ms < new_ms;
}

bool connection_is_idle(const struct connection *connection, int64_t ms)
{
    const struct session *session = &connection->session;

    return session->state == SESSION_READING &&
           daemon_now_ms() - session->received_ms >= ms;
}

size_t connection_read_size(const struct connection *connection)
{
    const struct session *session = &connection->session;

    return session_is_unknown(session) ||
                   limits_are_full(&session->daemon->limits)
               ? LIMITS_SMALL
               : CONNECTION_INPUT_SIZE - session->in.length;
}

/* Of the bytes that OpenSSL holds, at most a record's, the socket knows
 * nothing. */
size_t connection_arrived(const struct connection *connection)
{
    const struct transport *transport = &connection->transport;
    const size_t held =
        transport->holds_input || tls_input_is_within(transport->ssl)
            ? LIMITS_RECORD_BYTES
            : 0;
    int bytes = 0;

    return ioctl(transport->fd, FIONREAD, &bytes) == 0 && bytes > 0
               ? (size_t)bytes + held
               : held;
}

void connection_note_read(struct connection *connection, ssize_t got)
{
    const size_t left = connection->owed;

    connection->owed = got > 0 && (size_t)got < left ? left - (size_t)got : 0;
}

/* The time of a record begins when the one before it has come. While the daemon
 * does not read, it is not the client that is late. */
static void connection_note_record(struct connection *connection)
{
    if (!connection_is_read(connection) ||
        !tls_input_is_within(connection->transport.ssl))
        connection->record_ms = 0;
    else if (connection->record_ms <= connection->session.received_ms)
        connection->record_ms = daemon_now_ms();
}

bool connection_is_stuck(const struct connection *connection, int64_t now_ms)
{
    return connection->record_ms > 0 && connection_is_read(connection) &&
           tls_input_is_within(connection->transport.ssl) &&
           limits_are_full(&connection->session.daemon->limits) &&
           now_ms - connection->record_ms >= TLS_FULL_MS;
}

/* Without a request, a record of TLS may be incomplete. */
void connection_note_input(struct connection *connection)
{
    const struct session *session = &connection->session;

    connection_note_record(connection);
    if (session->state != SESSION_READING)
        connection->partial_ms = 0;
    else if (session->in.length == 0)
        connection->partial_ms = connection->record_ms;
    else if (connection->partial_ms == 0)
        connection->partial_ms = session->received_ms;
}

void connection_note_unsent(struct connection *connection, size_t taken,
                            int64_t now_ms)
{
    const bool is_first = connection->unsent_ms == 0;

    connection->taken = is_first ? 0 : connection->taken + taken;
    if (!is_first && connection->taken < TAKEN_MIN)
        return;
    connection->unsent_ms = now_ms;
    connection->taken = 0;
}

enum resp_result connection_parse(const struct connection *connection,
                                  const char *data, size_t length,
                                  struct resp_request *out)
{
    const enum resp_result result = resp_parse(data, length, out);
    const size_t size = result == RESP_COMPLETE ? out->size : length;

    if (result == RESP_BROKEN || size <= LIMITS_LOGIN ||
        !session_is_unknown(&connection->session) ||
        session_has_begun(&connection->session))
        return result;
    out->error = "Protocol error: too big request before the login";
    return RESP_BROKEN;
}
