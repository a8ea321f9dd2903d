/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that must not end the daemon, and threads that take none. Those
 * that stop it are the server's.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* From here on SIGHUP, SIGUSR1, SIGUSR2, SIGALRM and SIGPIPE end nothing. To be
 * called before any thread is started. SIGUSR2 is the server's once it has a
 * loop. */
void signals_shield(void);

struct signals_answers {
    void (*hangup)(void *context); /* on a thread of its own */
    void *context;
};

/* Starts the thread that answers each SIGHUP until the process ends, also while
 * the loop does not turn. One that came since signals_shield is answered, too.
 * `answers` must last as long. False if there can be no thread. */
bool signals_answer(const struct signals_answers *answers);

/* Starts `run(argument)` on a thread that is never interrupted by a signal;
 * false if there can be none. */
bool signals_thread(pthread_t *out, void *(*run)(void *argument),
                    void *argument);

/* From now on, while the loop does not turn: a SIGTERM or SIGINT ends the
 * process with 0 when `ms` have passed, and a second one at once, with 1. To be
 * called once, after the loop has taken these signals. */
void signals_begin_opening(int64_t ms);

/* The loop's are back; one that came meanwhile is given to it, and no longer
 * ends the process. */
void signals_end_opening(void);

/* The process ends with 1 when `ms` have passed, if it is still there: what it
 * waits for may never come. */
void signals_end_within(int64_t ms);

/* It does not. */
void signals_end_later(void);
