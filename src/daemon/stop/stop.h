/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the server stops: by a signal or a drain, after a delay, or for a restart
 * in place, which a signal or a drain turns into a stop.
 */
#pragma once

#include <stdbool.h>

#include <event2/event.h>

struct server;

/* SIGTERM and SIGINT are noted from now on, and wake the loop: they stop the
 * server. To be called once wake_fd is open. */
void stop_watch_signals(const struct server *server);

/* To be called before wake_fd is closed. Restores the handlers before, unless
 * the server stops: then a signal ends the process, still. If the server is
 * restarting, signals are kept from here on for the next program. */
void stop_unwatch_signals(const struct server *server);

/* Events of the loop, whose context is the server: the delay is over; the time
 * for clients is over. */
void stop_on_delay(evutil_socket_t fd, short events, void *context);
void stop_on_grace(evutil_socket_t fd, short events, void *context);

/* Stops, but the sockets keep listening for the next program. */
void stop_for_restart(struct server *server);

/* For the loop's wake-up: begins the stop that a signal or a drain asks for, or
 * makes a restart a stop. */
void stop_poll(struct server *server);

/* To be called after the loop, if the server is restarting. False if a signal
 * has come, even if the loop has not handled it, or a drain was answered: then
 * this is a stop. */
bool stop_may_restart(struct server *server);

/* To be called after the close, if stop_may_restart was true: a signal came
 * since, and the next program is not to be executed. */
bool stop_is_asked(void);
