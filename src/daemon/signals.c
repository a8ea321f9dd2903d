/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that must not end the daemon; see signals.h. */
#include "daemon/signals.h"

#include <signal.h>
#include <stddef.h>

static sigset_t hangup_only(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    return set;
}

void signals_shield(void)
{
    const sigset_t hangup = hangup_only();

    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGALRM, SIG_IGN);
    /* Blocked, not ignored: it waits for the thread that answers it. */
    pthread_sigmask(SIG_BLOCK, &hangup, NULL);
}

bool signals_thread(pthread_t *out, void *(*run)(void *argument),
                    void *argument)
{
    sigset_t all;
    sigset_t before;
    bool is_started = false;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    is_started = pthread_create(out, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

/* Not a handler: that could not log, and would interrupt whoever runs. */
static void *hangup_run(void *argument)
{
    const struct signals_answers *answers = argument;
    const sigset_t hangup = hangup_only();
    int number = 0;

    while (sigwait(&hangup, &number) == 0)
        answers->hangup();
    return NULL;
}

bool signals_answer(const struct signals_answers *answers)
{
    pthread_t thread;

    if (!signals_thread(&thread, hangup_run, (void *)answers))
        return false;
    pthread_detach(thread);
    return true;
}
