/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A restart in place: the process stops as usual but keeps its listening
 * sockets open, and then executes its program with the same options, which
 * inherits the sockets. There are never two brokers on one state directory.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <seqbroker/status.h>

struct inherited;

enum restart_verdict {
    RESTART_UNDECIDED, /* the check still runs */
    RESTART_POSSIBLE,
    RESTART_REFUSED /* the log says why */
};

/* A process that checks whether the next program could start. */
struct restart_checker;

/* Starts the program with --check, which checks its options, its topology and
 * its addresses. It is lent the sockets. NULL after logging why it cannot
 * start. */
struct restart_checker *restart_check(char **argv,
                                      const struct inherited *lent);

/* Whether this process is such a checker. To be called before inherited_read.
 */
bool restart_is_checker(void);

/* Evaluates the checker's exit code. To be called after SIGCHLD. Frees the
 * checker unless the verdict is RESTART_UNDECIDED. */
enum restart_verdict restart_evaluate(struct restart_checker *checker);

/* Kills and frees a checker whose result is no longer needed. NULL is
 * allowed. */
void restart_forget(struct restart_checker *checker);

/* Blocks the signals that stop the daemon. They stay pending over the exec. */
void restart_hold_signals(void);

/* Unblocks them, and so delivers a pending one. */
void restart_free_signals(void);

/* Whether one is pending. */
bool restart_is_overtaken(void);

/* Executes the program with these sockets. Returns only if it fails. */
void restart_run(char **argv, const struct inherited *sockets,
                 struct seqb_error *err);
