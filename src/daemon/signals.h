/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signals that must not end the daemon, and threads that take none. Those
 * that stop it are the server's.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* From here on SIGHUP, SIGUSR1, SIGUSR2, SIGALRM and SIGPIPE end nothing. To be
 * called before any thread is started. SIGUSR2 is the server's once it has a
 * loop. */
void signals_shield(void);

struct signals_answers {
    void (*hangup)(void); /* on a thread of its own */
};

/* Starts the thread that answers each SIGHUP until the process ends, also while
 * the loop does not turn. One that came since signals_shield is answered, too.
 * `answers` must last as long. False if there can be no thread. */
bool signals_answer(const struct signals_answers *answers);

/* Starts `run(argument)` on a thread that is never interrupted by a signal;
 * false if there can be none. */
bool signals_thread(pthread_t *out, void *(*run)(void *argument),
                    void *argument);
