/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to where this broker raised counters, kept in a file of its state
 * directory: a store that goes back a second time, to a state that knows of no
 * raise, is raised above the first one. Thread-safe.
 *
 *   <value> <backend> <counter> <checksum, 16 hexadecimal digits>
 *
 * A line a raise, the last one of a counter counts; a line that is damaged is
 * passed over. Brokers that share the directory read each other's lines when
 * they start.
 */
#pragma once

#include <stdint.h>

#include <seqbroker/status.h>

struct raised;

/* `path` is absolute; NULL: nothing is kept, and `*out` is NULL. A file that
 * cannot be read is logged, and nothing is known of it. SEQB_NO_MEMORY. */
enum seqb_status raised_open(const char *path, struct raised **out,
                             struct seqb_error *err);
void raised_close(struct raised *raised); /* takes NULL */

/* The highest value noted for the counter of that backend; 0: none. */
int64_t raised_find(struct raised *raised, const char *backend,
                    const char *counter);

/* Notes a raise. It is on the disk on return; if that fails, it is logged, and
 * is known until this broker ends. */
void raised_note(struct raised *raised, const char *backend,
                 const char *counter, int64_t value);
