/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identifies the file at a path, and detects whether its content went back, for
 * the sqlite engine only.
 *
 * A mark is kept outside a SQLite file's content, in extended attributes of the
 * file: how many transactions were committed in it. If an older content is
 * written into the same file (`cp backup.db partition-0.db`), it is behind the
 * mark, and the file begins another history. This is not detected while a
 * `-wal` file exists beside it, because the newest count is read from that file
 * (log.h detects that case), nor on a file system without extended attributes:
 * docs/guarantees.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SQLITE_FILE_ID_SIZE 112
#define SQLITE_HISTORY_SIZE 33

/* The commits in the mark of a file, 0 if it has none: at most as many as the
 * content has, unless the content went back. */
int64_t sqlite_mark_read(const char *path);

/* To be called after the commit, with the file locked against other writers. A
 * power cut may lose the write: the mark may lag behind, but must never be
 * ahead. */
void sqlite_mark_raise(const char *path, int64_t commits);

/* Gives the file another history, which has `commits` transactions. */
void sqlite_mark_begin(const char *path, const char *history, int64_t commits);

/* A name that no other file ever has; false if there is no file, or if it has
 * hard links, because the locks depend on the path (names.h). */
bool sqlite_inode_identify(const char *path, char out[SQLITE_FILE_ID_SIZE]);

/* Whether the file at the path still has that name, and no hard links. */
bool sqlite_inode_is(const char *path, const char *identity);

/* The same for a file whose mark tells its history. */
bool sqlite_file_identify(const char *path, char out[SQLITE_FILE_ID_SIZE]);
bool sqlite_file_is(const char *path, const char *identity);

/* The kind of the file's file system ("nfs"), also for a file that does not
 * exist yet, if other machines may access it; NULL: local, or not known. */
const char *sqlite_file_network(const char *path);
