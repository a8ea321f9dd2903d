/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of libevent, as the daemon uses it: priorities of events, timers,
 * and by fairness.h who is served first. */
#pragma once

#include <stdint.h>

#include <event2/event.h>

#include "daemon/loop/fairness.h"

/* Priorities. While events of the first one are active, those of the second
 * one, which is libevent's default, wait: addresses, HTTP, handshakes, timers,
 * the queue of connections. The time they wait is bounded by fairness.h. */
#define LOOP_CLIENTS 0 /* sockets and waits of connections */
#define LOOP_OTHERS  1

/* A loop that, while it runs events of the second priority, looks for events of
 * the first one after every few. NULL if memory is short. */
struct event_base *loop_new(void);

/* An event of the first priority: `fd`, an eventfd, was written to, because
 * waits of connections have ended. It is edge-triggered: an fd that cannot be
 * emptied would hold back all events of the second priority for ever. NULL if
 * memory is short. */
struct event *loop_wake_new(struct event_base *base, int fd,
                            event_callback_fn run, void *context);

/* Makes the timer fire after `ms`; at once if memory is short. */
void timer_start(struct event *timer, int64_t ms);
