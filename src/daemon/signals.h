/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that must not end the daemon, and threads that receive no
 * signals. The server handles the signals that stop it.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* From here on SIGHUP, SIGUSR1, SIGUSR2, SIGALRM and SIGPIPE do not end the
 * process. To be called before any thread is started. The server uses SIGUSR2
 * once it has a loop. */
void signals_shield(void);

/* SIGTERM and SIGINT, which stop the daemon. */
sigset_t signals_that_stop(void);

struct signals_answers {
    void (*hangup)(void *context); /* called on a separate thread */
    void *context;
};

/* Starts the thread that answers each SIGHUP until the process ends, even if
 * the loop is blocked. A SIGHUP since signals_shield is answered, too.
 * `answers` must live until the process ends. False if the thread cannot be
 * started. */
bool signals_answer(const struct signals_answers *answers);

/* Starts `run(argument)` on a thread with all signals blocked. False if it
 * cannot be started. */
bool signals_thread(pthread_t *out, void *(*run)(void *argument),
                    void *argument);

/* For the time in which the daemon opens and the loop does not run yet: a
 * SIGTERM or SIGINT ends the process with exit code 0 after `ms`, and a second
 * one at once, with 1. To be called after the server has set up these
 * signals. */
void signals_begin_opening(int64_t ms);

/* Restores the server's handlers. A signal that came meanwhile no longer ends
 * the process, and is passed to the server. */
void signals_end_opening(void);

/* When the first of them came, by daemon_now_ms; 0: none did. */
int64_t signals_asked_ms(void);

/* Ends the process with exit code 1 after `ms`, unless it has ended before: it
 * may wait for a store that never answers. */
void signals_end_within(int64_t ms);

/* The same after the close, when nothing can be lost: with exit code 0. */
void signals_finish_within(int64_t ms);

/* Cancels these. */
void signals_end_later(void);
