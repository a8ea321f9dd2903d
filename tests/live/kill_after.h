/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines sqlite and redis as "killable-sqlite" and "killable-redis", whose
 * process is killed or stopped after a call: so that what they serve can be cut
 * off at every step.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

/* For seqb_open_with and its like. */
extern const struct seqb_backend_ops *const killable_engines[];

/* SIGKILL to this process after so many calls from now on, of both engines
 * together, that may write; 0: never. */
void kill_after(int64_t calls);

/* SIGSTOP instead, in no other call. */
void stop_after(int64_t calls);

/* Migrates in a process that ends after so many calls; true if it came to the
 * end before. `without` may be NULL. No broker may be open in this process. */
bool migrate_killed_after(int64_t calls, const char *from, const char *to,
                          const char *without);
