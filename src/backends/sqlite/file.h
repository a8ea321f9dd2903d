/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file it is that stands under a path, and whether its content went
 * back, for the sqlite engine alone.
 *
 * A mark outside a SQLite file's content, in extended attributes of the file:
 * how many transactions were committed in it. An older content that is written
 * into the same file (`cp backup.db partition-0.db`) is behind its mark: then
 * another history has begun. It is not noticed while a `-wal` is beside the
 * file, where the newest count is read from (log.h sees that), nor on a file
 * system without such attributes: docs/guarantees.md.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SQLITE_FILE_ID_SIZE 112
#define SQLITE_HISTORY_SIZE 33

/* What stands at the file: 0 and "" if it has no mark. */
struct sqlite_mark {
    int64_t commits; /* at most as many as the content has, if it is right */
    char history[SQLITE_HISTORY_SIZE];
};

void sqlite_mark_read(const char *path, struct sqlite_mark *out);

/* To be called after the commit, and lost in a power cut at worst: the mark
 * may lag behind, and must never be ahead. */
void sqlite_mark_commits(const char *path, int64_t commits);

/* Gives the file another history, in which `commits` transactions stand. */
void sqlite_mark_begin(const char *path, const char *history, int64_t commits);

/* Names the file as no other one is ever named; false if there is none. */
bool sqlite_file_identify(const char *path, char out[SQLITE_FILE_ID_SIZE]);

/* Whether it is still that one. */
bool sqlite_file_is(const char *path, const char *identity);

/* What kind of file system the file is on, or is to be made on, if other
 * machines may reach it too ("nfs"); NULL: a local one, or it is not known. */
const char *sqlite_file_network(const char *path);
