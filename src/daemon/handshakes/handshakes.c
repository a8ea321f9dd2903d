/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of handshakes, and what happens to failed ones; see
 * handshakes.h. */
#include "daemon/handshakes/handshakes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/event_struct.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "daemon/daemon.h"

#define HANDSHAKES_MAX 1024

/* How long a handshake may take, and how long while all places are taken. */
#define PATIENCE_MS      10000
#define FULL_PATIENCE_MS 1000

/* The first byte of a TLS handshake. No command begins with it. */
#define RECORD_HANDSHAKE 0x16

#define PLAIN_ANSWER                                                           \
    "-ERR this port speaks TLS only: connect with redis-cli --tls, or "        \
    "seqctl -s tls://HOST:PORT\r\n"

#define NO_USER_ANSWER                                                         \
    "-NOAUTH the certificate belongs to no user: name it as the "              \
    "certificate of one of the topology's users; docs/tls.md\r\n"

struct handshake {
    struct handshakes *all;
    TAILQ_ENTRY(handshake) entry; /* the oldest first */
    TAILQ_ENTRY(handshake) ready; /* if is_ready */
    struct transport transport;
    struct event event; /* what the socket is watched for */
    int64_t started_ms;
    bool is_ready; /* the socket has what it waited for */
    bool is_known; /* its first byte was that of TLS */
    bool is_over;  /* it has failed, and the client may still read the reason */
};

TAILQ_HEAD(handshake_list, handshake);

struct handshakes {
    struct tls_server *server;
    struct connections *connections;
    struct listeners *listeners;
    struct daemon *daemon;
    struct handshake_list list;
    struct handshake_list ready;
    struct event *turn;     /* active while a handshake is ready */
    struct event *deadline; /* of the oldest handshake */
    bool is_resting;        /* no clients are accepted, until one has left */
};

/* If there is none, a further one begins or is refused: nobody would leave. */
static bool handshakes_have_room(const struct handshakes *all)
{
    const struct daemon *daemon = all->daemon;

    return daemon->handshake_count == 0 ||
           (daemon->handshake_count < HANDSHAKES_MAX &&
            !limits_are_passed(&daemon->limits, LIMITS_OPENING_BYTES));
}

/* Sets the timer for the deadline of the oldest handshake. */
static void handshakes_watch(struct handshakes *all)
{
    const struct handshake *oldest = TAILQ_FIRST(&all->list);
    const int64_t patience_ms =
        handshakes_have_room(all) ? PATIENCE_MS : FULL_PATIENCE_MS;
    int64_t left_ms = 0;

    if (oldest == NULL) {
        event_del(all->deadline);
        return;
    }
    left_ms = oldest->started_ms + patience_ms - daemon_now_ms();
    timer_start(all->deadline, left_ms > 0 ? left_ms : 0);
}

/* Accepts clients again, if there is room for one. */
static void handshakes_wake(struct handshakes *all)
{
    if (!all->is_resting || all->daemon->is_stopping ||
        !handshakes_have_room(all))
        return;
    all->is_resting = false;
    listeners_watch_tls(all->listeners, true);
}

/* Removes the handshake from all lists and frees it. Its transport stays the
 * caller's. */
static void handshake_leave(struct handshake *handshake)
{
    struct handshakes *all = handshake->all;

    event_del(&handshake->event);
    if (handshake->is_ready)
        TAILQ_REMOVE(&all->ready, handshake, ready);
    TAILQ_REMOVE(&all->list, handshake, entry);
    all->daemon->handshake_count--;
    free(handshake);
    handshakes_watch(all);
    handshakes_wake(all);
    if (daemon_is_done(all->daemon))
        event_base_loopbreak(all->connections->base);
}

static void handshake_drop(struct handshake *handshake)
{
    struct transport transport = handshake->transport;

    /* First, so that its memory counts no more. */
    event_del(&handshake->event);
    transport_close(&transport, false);
    handshake_leave(handshake);
}

static void handshake_done(struct handshake *handshake)
{
    const struct handshakes *all = handshake->all;
    struct transport transport = handshake->transport;

    /* The first command may have come with the client's last message. */
    transport.holds_input = SSL_has_pending(transport.ssl) == 1;
    limits_hold(&all->daemon->limits, &transport.held, LIMITS_TLS_BYTES);
    connection_adopt(all->connections, &transport, false);
    handshake_leave(handshake);
}

static void handshake_on_event(evutil_socket_t fd, short events, void *context)
{
    struct handshake *handshake = context;
    struct handshakes *all = handshake->all;

    (void)fd;
    (void)events;
    handshake->is_ready = true;
    TAILQ_INSERT_TAIL(&all->ready, handshake, ready);
    timer_start(all->turn, 0);
}

static void handshake_wait(struct handshake *handshake, short events)
{
    event_assign(&handshake->event, handshake->all->connections->base,
                 handshake->transport.fd, events, handshake_on_event,
                 handshake);
    event_add(&handshake->event, NULL);
}

/* Ends a failed handshake. If the socket were closed with unread input, the
 * kernel would reset the connection and discard the error text that is on its
 * way. So this waits, until the deadline, for the client to close first. */
static void handshake_end(struct handshake *handshake)
{
    if (handshake->all->daemon->is_stopping) {
        handshake_drop(handshake);
        return;
    }
    shutdown(handshake->transport.fd, SHUT_WR);
    handshake->is_over = true;
    handshake_wait(handshake, EV_READ);
}

static void certificate_audit(struct handshake *handshake,
                              const struct tls_peer *certificate)
{
    char from[ADDRESS_SIZE];

    identity_from(handshake->transport.fd, from);
    audit_login_refused(
        &handshake->all->daemon->access.audit,
        &(struct audit_entry){
            .user = certificate != NULL ? certificate->common_name : "",
            .from = from,
            .command = "TLS",
            .reason = "no user's certificate"},
        (struct audit_time){daemon_now_ms(), daemon_wall_ms()});
}

/* Tells a client by TLS that its certificate belongs to no user. */
static void handshake_refuse(struct handshake *handshake)
{
    (void)transport_write(&handshake->transport, NO_USER_ANSWER,
                          strlen(NO_USER_ANSWER));
    transport_end(&handshake->transport);
    handshake_end(handshake);
}

static void handshake_admit(struct handshake *handshake)
{
    const struct access *access = &handshake->all->daemon->access;
    struct tls_peer *certificate = NULL;

    if (access->wants_user &&
        !tls_peer_read(handshake->transport.ssl, &certificate)) {
        tls_server_log(handshake->all->server, handshake->transport.fd,
                       "the names in the certificate cannot be read: out of "
                       "memory, or malformed");
        handshake_end(handshake);
    } else if (access->wants_user && access_bars(access, certificate)) {
        certificate_audit(handshake, certificate);
        handshake_refuse(handshake);
    } else {
        handshake_done(handshake);
    }
    free(certificate);
}

static void handshake_discard(struct handshake *handshake)
{
    char trash[4096];
    const ssize_t got = recv(handshake->transport.fd, trash, sizeof trash, 0);

    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        handshake_wait(handshake, EV_READ);
    else
        handshake_drop(handshake);
}

/* A client that does not speak TLS expects an answer in the plain protocol. */
static void plain_refuse(struct handshake *handshake)
{
    const int fd = handshake->transport.fd;

    tls_server_log(handshake->all->server, fd,
                   "the client speaks no TLS, which this port wants");
    (void)!send(fd, PLAIN_ANSWER, strlen(PLAIN_ANSWER), MSG_NOSIGNAL);
    handshake_end(handshake);
}

/* Whether the client's input begins as TLS does. False if that is not known
 * yet, or if the client was refused or dropped. */
static bool handshake_is_tls(struct handshake *handshake)
{
    unsigned char first = 0;
    ssize_t got = 0;

    if (handshake->is_known)
        return true;
    got = recv(handshake->transport.fd, &first, 1, MSG_PEEK);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        handshake_wait(handshake, EV_READ);
        return false;
    }
    if (got <= 0) {
        handshake_drop(handshake);
        return false;
    }
    if (first != RECORD_HANDSHAKE) {
        plain_refuse(handshake);
        return false;
    }
    handshake->is_known = true;
    return true;
}

static void handshake_step(struct handshake *handshake)
{
    int result = 0;

    if (handshake->is_over) {
        handshake_discard(handshake);
        return;
    }
    if (!handshake_is_tls(handshake))
        return;
    result = SSL_do_handshake(handshake->transport.ssl);
    if (result == 1) {
        handshake_admit(handshake);
        return;
    }
    result = SSL_get_error(handshake->transport.ssl, result);
    ERR_clear_error();
    if (result == SSL_ERROR_WANT_READ)
        handshake_wait(handshake, EV_READ);
    else if (result == SSL_ERROR_WANT_WRITE)
        handshake_wait(handshake, EV_WRITE);
    else
        handshake_end(handshake);
}

static void handshakes_on_turn(evutil_socket_t fd, short events, void *context)
{
    struct handshakes *all = context;
    struct handshake *next = TAILQ_FIRST(&all->ready);

    (void)fd;
    (void)events;
    if (next == NULL)
        return;
    TAILQ_REMOVE(&all->ready, next, ready);
    next->is_ready = false;
    if (!TAILQ_EMPTY(&all->ready))
        timer_start(all->turn, 0);
    handshake_step(next);
}

static void handshakes_on_deadline(evutil_socket_t fd, short events,
                                   void *context)
{
    struct handshakes *all = context;
    struct handshake *oldest = TAILQ_FIRST(&all->list);

    (void)fd;
    (void)events;
    if (oldest == NULL)
        return;
    if (!oldest->is_over)
        tls_server_log(all->server, oldest->transport.fd,
                       "the handshake took too long");
    handshake_drop(oldest);
}

struct handshakes *handshakes_new(struct tls_server *server,
                                  struct connections *connections,
                                  struct listeners *listeners)
{
    struct handshakes *all = calloc(1, sizeof *all);

    if (all == NULL)
        return NULL;
    all->server = server;
    all->connections = connections;
    all->listeners = listeners;
    all->daemon = connections->daemon;
    TAILQ_INIT(&all->list);
    TAILQ_INIT(&all->ready);
    all->turn = evtimer_new(connections->base, handshakes_on_turn, all);
    all->deadline = evtimer_new(connections->base, handshakes_on_deadline, all);
    if (all->turn != NULL && all->deadline != NULL)
        return all;
    handshakes_free(all);
    return NULL;
}

void handshakes_add(struct handshakes *all, struct transport *plain)
{
    struct handshake *handshake = calloc(1, sizeof *handshake);
    SSL *ssl = handshake == NULL ? NULL : tls_server_accept(all->server);

    if (ssl == NULL || SSL_set_fd(ssl, plain->fd) != 1) {
        ERR_clear_error();
        SSL_free(ssl);
        free(handshake);
        transport_close(plain, false);
        return;
    }
    /* One read of the socket gets a whole record and more. This is not set in
     * the context, which HTTPS uses as well: libevent does not look for input
     * that OpenSSL has buffered. */
    SSL_set_read_ahead(ssl, 1);
    *handshake = (struct handshake){
        .all = all,
        .transport = {.fd = plain->fd,
                      .source = plain->source,
                      .ssl = ssl,
                      .limits = &all->daemon->limits},
        .started_ms = daemon_now_ms(),
    };
    limits_hold(&all->daemon->limits, &handshake->transport.held,
                LIMITS_OPENING_BYTES);
    TAILQ_INSERT_TAIL(&all->list, handshake, entry);
    all->daemon->handshake_count++;
    handshake_wait(handshake, EV_READ);
    if (all->daemon->handshake_count == 1 || !handshakes_have_room(all))
        handshakes_watch(all);
}

bool handshakes_admit(struct handshakes *all)
{
    const bool has_room = handshakes_have_room(all);

    if (has_room)
        return true;
    all->is_resting = true;
    listeners_watch_tls(all->listeners, false);
    handshakes_watch(all);
    return false;
}

static void drop_those(struct handshakes *all, bool over_only)
{
    struct handshake *next = NULL;

    for (struct handshake *handshake = TAILQ_FIRST(&all->list);
         handshake != NULL; handshake = next) {
        next = TAILQ_NEXT(handshake, entry);
        if (handshake->is_over || !over_only)
            handshake_drop(handshake);
    }
}

void handshakes_finish(struct handshakes *all)
{
    if (all != NULL)
        drop_those(all, true);
}

void handshakes_free(struct handshakes *all)
{
    if (all == NULL)
        return;
    drop_those(all, false);
    if (all->turn != NULL)
        event_free(all->turn);
    if (all->deadline != NULL)
        event_free(all->deadline);
    free(all);
}
