/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders: what the library reads and makes besides its stores. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

/* Reads a whole file of at most `max` bytes, a 0 after it. `*out` is the
 * caller's to free. SEQB_INVALID with the reason: absent, not readable, a
 * folder, too large. */
enum seqb_status file_read(const char *path, size_t max, char **out,
                           struct seqb_error *err);

/* Makes a folder and its parents (mode 0700) where absent, and checks that
 * files can be made in it, and not by everybody. SEQB_STATE_DIR with the
 * reason. */
enum seqb_status file_make_folder(const char *path, struct seqb_error *err);

/* Reads a whole regular file of at most `max` bytes into memory with one byte
 * more, for a 0. `*out` is the caller's to free, NULL if there is no such
 * file. SEQB_STATE_DIR with the reason. */
enum seqb_status file_load(const char *path, size_t max, char **out,
                           size_t *size, struct seqb_error *err);

/* Writes a file (mode 0600), the old one's content gone, and waits until it is
 * on the disk. SEQB_STATE_DIR with the reason: then it is removed. */
enum seqb_status file_save(const char *path, const char *bytes, size_t size,
                           struct seqb_error *err);

/* Adds to the end of a file (mode 0600), which is made if absent, in one piece
 * unless the disk is full, and waits until it is on the disk. SEQB_STATE_DIR
 * with the reason: then it is taken off again, so that what comes next does not
 * follow a piece of it, if that can be done. While nobody else adds to it. */
enum seqb_status file_append(const char *path, const char *bytes, size_t size,
                             struct seqb_error *err);

/* Removes the files whose path begins with `prefix`, which names no folder
 * alone, and that nobody has written to for `age_s` by the machine's clock.
 * Those that cannot be removed stay. */
void file_remove_old(const char *prefix, int64_t age_s);

/* Renames within one folder, over what stands there, and waits until that is
 * on the disk. SEQB_UNCERTAIN: it may be done or not, now or after a crash. */
enum seqb_status file_move(const char *from, const char *to,
                           struct seqb_error *err);

/* Locks a file, made if absent, against every other lock of it, of other
 * threads as well; waits until `until_ms`. SEQB_UNAVAILABLE: somebody holds
 * it; SEQB_STATE_DIR, also if it is a symbolic link. A forked child does not
 * keep it locked. */
enum seqb_status file_lock(const char *path, int64_t until_ms, int *out,
                           struct seqb_error *err);
void file_unlock(int file);
