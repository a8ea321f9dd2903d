/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that keeps the begin of the last stamp that a broker issued, for its
 * next start. It is text that an operator can read. All processes with this
 * broker's name on this machine share it, and none of them ever lowers it.
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

#define CLOCK_TEXT_SIZE   256 /* bytes; more than the file has */
#define CLOCK_BROKER_SIZE 33

/* The contents of the file. */
struct clock_note {
    char broker[CLOCK_BROKER_SIZE];
    int64_t issued_ms; /* 1 ... PERIOD_MAX_MS */
};

/* False if a field is out of its range. */
bool clock_note_write(const struct clock_note *note, char *out, size_t size);

/* SEQB_CORRUPT, with the reason, for anything that is not, byte for byte, what
 * clock_note_write writes. */
enum seqb_status clock_note_read(const char *bytes, size_t size,
                                 struct clock_note *out,
                                 struct seqb_error *err);

/* The file as one process uses it; not thread-safe. */
struct clock_file {
    const char *broker; /* owned by the caller */
    int64_t durable_ms; /* the time that this process knows to be on the disk */
    char path[PATH_MAX];
    char lock[PATH_MAX];  /* locked during a change; never removed */
    char fresh[PATH_MAX]; /* the new file, which is renamed to `path` */
};

/* `path` is absolute, `broker` a name. SEQB_INVALID: the path is too long. */
enum seqb_status clock_file_init(struct clock_file *file, const char *path,
                                 const char *broker, struct seqb_error *err);

/*
 * Makes the file keep at least `issued_ms`; 0: what it keeps already.
 * `*standing` is the time that the file then keeps, durably; 0 if there is no
 * file. Waits for other processes until `until_ms`. SEQB_CORRUPT: the file is
 * damaged, or belongs to another broker, and was not changed; SEQB_INVALID: no
 * stamp has this time; SEQB_UNAVAILABLE, SEQB_STATE_DIR, SEQB_UNCERTAIN,
 * SEQB_NO_MEMORY.
 */
enum seqb_status clock_file_keep(struct clock_file *file, int64_t issued_ms,
                                 int64_t until_ms, int64_t *standing,
                                 struct seqb_error *err);
