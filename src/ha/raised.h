/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to where this broker raised counters, kept in a file of its state
 * directory. If a store goes back a second time, to a state from before the
 * first raise, it is raised above that raise. Thread-safe.
 *
 *   <value> <backend> <counter> <checksum, 16 hexadecimal digits>
 *
 * One line for each raise. The highest value of a counter counts, and a damaged
 * line is skipped. Brokers that share the directory read each other's lines
 * when they start.
 */
#pragma once

#include <stdint.h>

#include <seqbroker/status.h>

struct raised;

/* `path` is absolute; NULL: nothing is kept, and `*out` is NULL. A file that
 * cannot be read is logged, and counts as empty. SEQB_NO_MEMORY. */
enum seqb_status raised_open(const char *path, struct raised **out,
                             struct seqb_error *err);
void raised_close(struct raised *raised); /* NULL is allowed */

/* The highest value noted for that counter, whatever its backend was called; 0:
 * none. */
int64_t raised_find(struct raised *raised, const char *backend,
                    const char *counter);

/* Notes a raise. It is on disk when this returns. If the write fails, that is
 * logged, and the raise is only known until this broker ends. */
void raised_note(struct raised *raised, const char *backend,
                 const char *counter, int64_t value);
