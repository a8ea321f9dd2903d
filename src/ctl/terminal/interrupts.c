/* SPDX-License-Identifier: Apache-2.0 */
/* The signals that end a program which prints repeatedly. */
#include <signal.h>
#include <unistd.h>

#include "ctl/terminal/terminal.h"

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static bool are_held;

static void ending_set(sigset_t *out)
{
    sigemptyset(out);
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        sigaddset(out, ending[i]);
}

/* A handler must not call stdio, so output that is still buffered is lost. */
static void end_at_once(int signal)
{
    (void)signal;
    screen_abandon();
    _exit(0);
}

void interrupts_hold(void)
{
    struct sigaction action = {.sa_handler = end_at_once};
    sigset_t set;

    ending_set(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    action.sa_mask = set;
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        sigaction(ending[i], &action, NULL);
    are_held = true;
}

static void interrupts_mask(int how)
{
    sigset_t set;

    ending_set(&set);
    if (are_held)
        sigprocmask(how, &set, NULL);
}

void interrupts_allow(void)
{
    interrupts_mask(SIG_UNBLOCK);
}

void interrupts_forbid(void)
{
    interrupts_mask(SIG_BLOCK);
}
