/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to where this broker was granted each counter, kept in a file of its
 * state directory. A store that was put back to an older state, with all
 * that it says of itself, looks as it did then; a broker that was started since
 * finds out by its own notes. See docs/decisions/0050-granted.md. Thread-safe.
 *
 * The file has lines of 64 bytes, one a counter, written over in place:
 *
 *   <value, 20 digits> <counter, 16> <last day, 10> <checksum, 14>
 *
 * in hexadecimal but for the value and the day, which is in days since 1970.
 * The counter is a checksum of its backend's name and its own. A line that is
 * damaged, or whose day is over, is free. Brokers that share the directory have
 * a file each, <path>-0 ... <path>-63, and read all of them when they start.
 *
 * A note is not synced: it survives the end of the process, however that comes,
 * but the last half minute may be lost if the machine fails.
 */
#pragma once

#include <stdint.h>

#include <seqbroker/status.h>

#define GRANTED_LINES_MAX (UINT32_C(1) << 22) /* of a file: 256 MiB */

#define GRANTED_FOREVER ((int64_t)9999999999) /* a day that is never over */

struct granted;

/* Which counter: the name of its backend, and its own in that store. */
struct granted_counter {
    const char *backend;
    const char *name;
    int64_t last_day; /* on which it is of use; GRANTED_FOREVER */
};

/* `path` is absolute; NULL: nothing is kept, and `*out` is NULL. A file that
 * cannot be used is logged, and nothing is known of it. SEQB_NO_MEMORY. */
enum seqb_status granted_open(const char *path, struct granted **out,
                              struct seqb_error *err);
void granted_close(struct granted *granted); /* syncs; takes NULL */

/* The highest value noted of the counter before this broker was opened; 0:
 * none. `*line` is its line if that is in this broker's file, else unchanged.
 */
int64_t granted_find(const struct granted *granted,
                     const struct granted_counter *counter, uint32_t *line);

/* Notes a value, over whatever stands in the line; `*line` 0: a free one is
 * taken. A failure is logged, once a broker. */
void granted_note(struct granted *granted,
                  const struct granted_counter *counter, int64_t value,
                  uint32_t *line);
