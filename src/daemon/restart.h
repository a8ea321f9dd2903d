/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A restart in place: the process stops as it always does, but for its sockets,
 * and executes its program, with the same options, which goes on with them.
 * There are never two brokers over one state directory.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct inherited;

enum restart_verdict {
    RESTART_UNDECIDED, /* it is still being checked */
    RESTART_POSSIBLE,
    RESTART_REFUSED /* and the log says why */
};

/* Starts the program that would be executed, to check its options and its
 * topology. Its pid, or 0 after logging why there is none. */
pid_t restart_check(char **argv);

/* What that one said; to be called after SIGCHLD. */
enum restart_verdict restart_judge(pid_t checker);

/* Ends one whose word is no longer wanted. Takes 0. */
void restart_forget(pid_t checker);

/* Signals that stop the daemon wait from now on, for the next program, too. */
void restart_hold_signals(void);

/* They act, and one that waited does. */
void restart_free_signals(void);

/* Executes it with these sockets. Returns an exit code, after logging why it
 * could not. */
int restart_run(char **argv, const struct inherited *sockets);
