/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A restart in place: the process stops as usual but keeps its listening
 * sockets open, and then executes its program with the same options, which
 * inherits the sockets. There are never two brokers on one state directory.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct inherited;

enum restart_verdict {
    RESTART_UNDECIDED, /* the check still runs */
    RESTART_POSSIBLE,
    RESTART_REFUSED /* the log says why */
};

/* Starts the program with --check, which checks its options and its topology.
 * Returns its pid, or 0 after logging why it cannot start. */
pid_t restart_check(char **argv);

/* Evaluates the checker's exit code. To be called after SIGCHLD. */
enum restart_verdict restart_evaluate(pid_t checker);

/* Kills a checker whose result is no longer needed. 0 is allowed. */
void restart_forget(pid_t checker);

/* Blocks the signals that stop the daemon. They stay pending over the exec. */
void restart_hold_signals(void);

/* Unblocks them, and so delivers a pending one. */
void restart_free_signals(void);

/* Executes the program with these sockets. Returns an exit code only if it
 * fails, after logging why. */
int restart_run(char **argv, const struct inherited *sockets);
