/* SPDX-License-Identifier: Apache-2.0 */
/* The stop of a server; see stop.h. */
#include "daemon/stop/stop.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "daemon/accept.h"
#include "daemon/log/log.h"
#include "daemon/restart.h"
#include "daemon/server.h"
#include "daemon/signals.h"

/* A loop that has not handled a signal for this long is blocked, and a further
 * signal ends the process. */
#define BLOCKED_MS 1000

/* What SIGTERM and SIGINT do. */
enum signal_effect {
    SIGNAL_ASKS,      /* asks the loop for a stop */
    SIGNAL_IS_SPARED, /* nothing, but the next one ends the process */
    SIGNAL_ENDS       /* ends the process */
};

/* Of the server's handler of signals, which stays from the start to the end. So
 * no signal is lost between two handlers. */
static struct {
    volatile sig_atomic_t effect; /* enum signal_effect */
    volatile sig_atomic_t count;  /* signals that asked the loop */
    volatile sig_atomic_t wake_fd;
    volatile sig_atomic_t handled; /* of `count`, by the loop */
    int64_t first_ms;              /* when the first one came since; 0: none
                                      has ever come */
    const struct stop_times *times;
    struct sigaction term, interrupt; /* the handlers before */
} asked;

void stop_on_grace(evutil_socket_t fd, short events, void *context)
{
    struct server *server = context;

    (void)fd;
    (void)events;
    event_base_loopbreak(server->base);
}

static void server_end_listening(struct server *server)
{
    event_del(server->again);
    if (server->is_restarting) {
        listeners_watch(&server->listeners, false);
        return;
    }
    server->daemon.is_accepting = true;
    accept_rest(server);
    server->daemon.is_accepting = false;
    listeners_close(&server->listeners);
}

/* When a signal asked for the stop that begins; 0: a drain did, or the delay is
 * over. The loop may have been busy since. */
static int64_t stop_asked_ms(const struct server *server)
{
    if (server->daemon.is_leaving)
        return 0;
    return signals_asked_ms() > 0 ? signals_asked_ms() : asked.first_ms;
}

/* Stops: answers the input that has arrived and accepts nothing new. The loop
 * ends when all is sent. */
static void server_stop(struct server *server)
{
    const int64_t now_ms = daemon_now_ms();
    const struct stop_times *times = &server->daemon.stop;
    const struct stop stop = stop_begin(times, stop_asked_ms(server), now_ms);

    if (!server->is_restarting)
        signals_end_within(stop_rest(times, stop.begun_ms, now_ms).close_ms);
    event_del(server->delay);
    server->stopped_ms = stop.begun_ms;
    server_end_listening(server);
    timer_start(server->grace, stop.left_ms);
    connections_finish(&server->connections, stop.left_ms);
    handshakes_finish(server->handshakes);
    http_finish(server->http, server->is_restarting);
}

/* --- signals --- */

/* A stop that the loop never begins must end, too. */
static void end_although_blocked(void)
{
    const int64_t now_ms = daemon_now_ms();

    signals_end_within(asked.times->delay_ms +
                       stop_rest(asked.times, now_ms, now_ms).close_ms);
}

static void on_signal(int number)
{
    const uint64_t one = 1;
    const int error = errno;

    (void)number;
    if (asked.effect == SIGNAL_ENDS)
        _exit(1);
    if (asked.effect == SIGNAL_IS_SPARED) {
        asked.effect = SIGNAL_ENDS;
        return;
    }
    if (asked.count != asked.handled &&
        daemon_now_ms() - asked.first_ms >= BLOCKED_MS)
        _exit(1);
    if (asked.count == asked.handled) {
        asked.first_ms = daemon_now_ms();
        end_although_blocked();
    }
    asked.count++;
    (void)!write(asked.wake_fd, &one, sizeof one);
    errno = error;
}

void stop_watch_signals(const struct server *server)
{
    const struct sigaction action = {.sa_handler = on_signal,
                                     .sa_mask = signals_that_stop(),
                                     .sa_flags = SA_RESTART};

    asked.effect = SIGNAL_ASKS;
    asked.count = asked.handled = 0;
    asked.first_ms = 0;
    asked.times = &server->daemon.stop;
    asked.wake_fd = server->daemon.wake_fd;
    sigaction(SIGTERM, &action, &asked.term);
    sigaction(SIGINT, &action, &asked.interrupt);
}

void stop_unwatch_signals(const struct server *server)
{
    signals_end_later();
    if (server->is_restarting)
        restart_hold_signals();
    if (asked.effect != SIGNAL_ASKS || asked.wake_fd != server->daemon.wake_fd)
        return;
    sigaction(SIGTERM, &asked.term, NULL);
    sigaction(SIGINT, &asked.interrupt, NULL);
}

static bool is_signal_unhandled(void)
{
    return asked.count != asked.handled;
}

/* From now on signals act even if the loop is blocked. The first one after a
 * drain asks only for the stop that is in progress already: it is spared. One
 * that the loop has not handled counts as the first. */
static void server_heed_signals(const struct server *server)
{
    asked.effect = server->is_signalled ? SIGNAL_ENDS : SIGNAL_IS_SPARED;
    if (is_signal_unhandled())
        asked.effect = SIGNAL_ENDS;
}

/* --- a stop for good --- */

static void server_stop_for_good(struct server *server)
{
    server_heed_signals(server);
    server_stop(server);
}

void stop_on_delay(evutil_socket_t fd, short events, void *context)
{
    (void)fd;
    (void)events;
    server_stop_for_good(context);
}

/* Serves for the delay, in which load balancers learn to send no more clients,
 * and then stops. */
static void server_leave(struct server *server)
{
    const int64_t delay_ms = server->daemon.stop.delay_ms;

    if (delay_ms == 0) {
        server_stop_for_good(server);
        return;
    }
    server->daemon.is_leaving = true;
    log_event(SEQB_LOG_INFO, "event=leaving delay_ms=%lld",
              (long long)delay_ms);
    timer_start(server->delay, delay_ms);
}

/* The first signal begins the stop. A signal during the delay ends the
 * delay. */
static void server_handle_signal(struct server *server)
{
    asked.handled++;
    server->is_signalled = true;
    if (server->daemon.is_leaving)
        server_stop_for_good(server);
    else
        server_leave(server);
}

/* --- a restart --- */

void stop_for_restart(struct server *server)
{
    log_event(SEQB_LOG_INFO, "event=restarting");
    server->is_restarting = true;
    server_stop(server);
}

static bool restart_is_called_off(const struct server *server)
{
    return is_signal_unhandled() || server->daemon.is_drain_asked;
}

static void restart_call_off(struct server *server)
{
    server->is_restarting = false;
    server_heed_signals(server);
}

void stop_poll(struct server *server)
{
    if (server->is_restarting && restart_is_called_off(server)) {
        restart_call_off(server);
        server_end_listening(server);
        http_finish(server->http, false);
        if (daemon_is_done(&server->daemon))
            event_base_loopbreak(server->base);
    }
    while (is_signal_unhandled() && !server->daemon.is_stopping)
        server_handle_signal(server);
    if (server->daemon.is_drain_asked && daemon_leaves(&server->daemon) == NULL)
        server_leave(server);
}

bool stop_may_restart(struct server *server)
{
    if (!restart_is_called_off(server))
        return true;
    restart_call_off(server);
    return false;
}

bool stop_is_asked(void)
{
    return is_signal_unhandled();
}
