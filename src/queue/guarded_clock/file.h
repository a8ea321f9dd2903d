/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that keeps up to when a broker has issued stamps, for its next
 * start. Text that an operator can read; shared by the processes of one
 * broker's name on this machine, and never lowered by any of them.
 *
 *   seqbroker clock 1
 *   broker=<name>
 *   issued=<ms since 1970>
 *   checksum=<of all before it, 16 hexadecimal digits>
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

#define CLOCK_TEXT_SIZE   256 /* more than the file has */
#define CLOCK_BROKER_SIZE 33

/* What the file says. */
struct clock_note {
    char broker[CLOCK_BROKER_SIZE];
    int64_t issued_ms; /* 1 ... PERIOD_MAX_MS */
};

/* False if it is out of its range. */
bool clock_note_write(const struct clock_note *note, char *out, size_t size);

/* SEQB_CORRUPT, with the reason, for anything that was not written so, byte
 * for byte. */
enum seqb_status clock_note_read(const char *bytes, size_t size,
                                 struct clock_note *out,
                                 struct seqb_error *err);

/* Of one process; not thread-safe. */
struct clock_file {
    const char *broker; /* the caller's */
    int64_t durable_ms; /* what this process knows to be on the disk */
    char path[PATH_MAX];
    char lock[PATH_MAX];  /* locked for an exchange; never removed */
    char fresh[PATH_MAX]; /* what is to take the file's place */
};

/* `path` is absolute, `broker` a name. SEQB_INVALID: the path is too long. */
enum seqb_status clock_file_init(struct clock_file *file, const char *path,
                                 const char *broker, struct seqb_error *err);

/*
 * The file says `issued_ms` at least; 0: what it says anyway. `*standing` is
 * that, 0 if there is no file, and on the disk. Waits for other processes
 * until `until_ms`. SEQB_CORRUPT: it is damaged, or another broker's, and was
 * not changed; SEQB_UNAVAILABLE, SEQB_STATE_DIR, SEQB_UNCERTAIN,
 * SEQB_NO_MEMORY; SEQB_INVALID: a time that no stamp has.
 */
enum seqb_status clock_file_keep(struct clock_file *file, int64_t issued_ms,
                                 int64_t until_ms, int64_t *standing,
                                 struct seqb_error *err);
