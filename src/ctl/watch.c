/* SPDX-License-Identifier: Apache-2.0 */
/* The loop of --watch. The signals are blocked and waited for, so that none
 * cuts a table in two. */
#include "ctl/watch.h"

#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define SCREEN_SIZE  65536           /* bytes written at once */
#define CLEAR_SCREEN "\033[H\033[2J" /* ECMA-48: cursor home, erase */

static void signals_block(sigset_t *out)
{
    sigemptyset(out);
    sigaddset(out, SIGINT);
    sigaddset(out, SIGTERM);
    sigprocmask(SIG_BLOCK, out, NULL);
}

/* False when a signal came. */
static bool wait_calmly(const sigset_t *signals, int64_t seconds)
{
    const struct timespec interval = {.tv_sec = (time_t)seconds};

    return sigtimedwait(signals, NULL, &interval) < 0;
}

enum ctl_exit watch_run(const struct ctl_options *options,
                        enum ctl_exit (*show)(const struct ctl_options *))
{
    const bool is_terminal = isatty(STDOUT_FILENO) == 1;
    bool is_first = true;
    sigset_t signals;

    signals_block(&signals);
    if (is_terminal) /* a screen at once, lest it flickers */
        (void)setvbuf(stdout, NULL, _IOFBF, SCREEN_SIZE);
    do {
        enum ctl_exit result;

        if (is_terminal)
            fputs(CLEAR_SCREEN, stdout);
        else if (!is_first)
            putchar('\n');
        result = show(options);
        if (fflush(stdout) != 0)
            return CTL_FAILED;
        if (is_first && result != CTL_OK)
            return result;
        is_first = false;
    } while (wait_calmly(&signals, options->interval_s));
    return CTL_OK;
}
