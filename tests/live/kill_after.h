/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engines sqlite and redis as "killable-sqlite" and "killable-redis". They
 * kill or stop their own process after a call, so that a test can interrupt an
 * operation at every step.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/backend.h>

/* The engines for seqb_open_with and its like. */
extern const struct seqb_backend_ops *const killable_engines[];

/* From now on, the process gets SIGKILL after `calls` calls that may write,
 * counted over both engines; 0: never. */
void kill_after(int64_t calls);

/* The same with SIGSTOP. Other calls are not counted. */
void stop_after(int64_t calls);

/* Migrates in a child process that ends after `calls` such calls. True if the
 * migration finished first. `without` may be NULL. No broker may be open in
 * this process. */
bool migrate_killed_after(int64_t calls, const char *from, const char *to,
                          const char *without);
