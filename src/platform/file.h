/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders that the library reads and creates, apart from its
 * stores. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <seqbroker/status.h>

/* Reads a whole file of at most `max` bytes, and appends a 0. The caller frees
 * `*out`. SEQB_INVALID with the reason: absent, not readable, a folder, too
 * large, or a pipe that does not end within 4 s. One that was passed to the
 * program as /dev/fd/N has no limit. */
enum seqb_status file_read(const char *path, size_t max, char **out,
                           struct seqb_error *err);

/* Creates a folder and its parents (mode 0700) if absent. Checks that files can
 * be created in it, and that not everybody can do so. SEQB_STATE_DIR with the
 * reason. */
enum seqb_status file_make_folder(const char *path, struct seqb_error *err);

/* Reads a whole regular file of at most `max` bytes into memory that has room
 * for one more byte, a 0. The caller frees `*out`; it is NULL if there is no
 * such file. SEQB_STATE_DIR with the reason. */
enum seqb_status file_load(const char *path, size_t max, char **out,
                           size_t *size, struct seqb_error *err);

/* Writes a file (mode 0600), replacing its content, and waits until it is on
 * the disk. SEQB_STATE_DIR with the reason: the file was removed. */
enum seqb_status file_save(const char *path, const char *bytes, size_t size,
                           struct seqb_error *err);

/* Appends to a file (mode 0600), which is created if absent, and waits until
 * the bytes are on the disk. The bytes are written as a whole unless the disk
 * is full. SEQB_STATE_DIR with the reason: the bytes are removed again, if that
 * is possible, so that later ones do not follow a partial write. Nobody else
 * may append at the same time. */
enum seqb_status file_append(const char *path, const char *bytes, size_t size,
                             struct seqb_error *err);

/* Removes the files whose path begins with `prefix`, and that were not written
 * to for `age_s` by the machine's clock. `prefix` must name more than a folder.
 * Files that cannot be removed stay. */
void file_remove_old(const char *prefix, int64_t age_s);

/* Renames a file within one folder, replacing the target, and waits until that
 * is on the disk. SEQB_UNCERTAIN: it may have happened or not, now or after a
 * crash. */
enum seqb_status file_move(const char *from, const char *to,
                           struct seqb_error *err);

/* Locks a file, which is created if absent, against every other lock of it,
 * also by other threads. Waits until `until_ms`. SEQB_UNAVAILABLE: another
 * holder has it. SEQB_STATE_DIR: another failure, also if the file is a
 * symbolic link. A forked child does not keep it locked. */
enum seqb_status file_lock(const char *path, int64_t until_ms, int *out,
                           struct seqb_error *err);
void file_unlock(int file);
