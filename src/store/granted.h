/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to where this broker was granted each counter, kept in a file of its state
 * directory. A store that is put back to an older state also gets back all that
 * it keeps about itself, and cannot show the loss. A broker that was started
 * since then detects it by these notes. See docs/decisions/0050-granted.md.
 * Thread-safe.
 *
 * The file has one line of 64 bytes for each counter, which is overwritten in
 * place:
 *
 *   <value, 20 digits> <counter, 16> <last day, 10> <checksum, 14>
 *
 * Counter and checksum are hexadecimal, the others decimal; the day is in days
 * since 1970. The counter is a checksum of its name, which has its pool and
 * partition. The backend's name is no part of it, since a copy of its store may
 * be used under another one. A line that is damaged, or whose day is over, is
 * free. Brokers that share the directory have a file each, <path>-0 ...
 * <path>-63, and read all of them when they start.
 *
 * A note is not synced. It survives any end of the process, but the notes of
 * the last half minute may be lost if the machine fails.
 */
#pragma once

#include <stdint.h>

#include <seqbroker/status.h>

#define GRANTED_LINES_MAX (UINT32_C(1) << 22) /* of a file: 256 MiB */

#define GRANTED_FOREVER ((int64_t)9999999999) /* a day that never ends */

struct granted;

/* A counter: the name of its backend, for messages, and its own name in that
 * store. */
struct granted_counter {
    const char *backend;
    const char *name;
    int64_t last_day; /* the last day on which it matters, or GRANTED_FOREVER */
};

/* `path` is absolute; NULL: nothing is kept, and `*out` is NULL. A file that
 * cannot be used is logged, and counts as empty. SEQB_NO_MEMORY. */
enum seqb_status granted_open(const char *path, struct granted **out,
                              struct seqb_error *err);
void granted_close(struct granted *granted); /* syncs; NULL is allowed */

/* Reads the files of all brokers, and takes none: granted_note may not be
 * called. Call granted_close, also after an error. SEQB_STATE_DIR if a file
 * cannot be read; none at all is no error. */
enum seqb_status granted_read(const char *path, struct granted **out,
                              struct seqb_error *err);

/* The highest value noted of the counter before this broker was opened; 0:
 * none. Sets `*line` to its line if that is in this broker's file; else leaves
 * it unchanged. */
int64_t granted_find(const struct granted *granted,
                     const struct granted_counter *counter, uint32_t *line);

/* Notes a value in the line, in place of what it holds. If `*line` is 0, takes
 * a free line and sets it. A failure is logged, once for each broker. */
void granted_note(struct granted *granted,
                  const struct granted_counter *counter, int64_t value,
                  uint32_t *line);
