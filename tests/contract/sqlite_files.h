/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder with a SQLite file, for tests of the sqlite engine, and
 * what an operator may do to such a file. */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

struct sqlite_files {
    char folder[64];
    char path[80]; /* the file under test, which does not exist yet */
    char log[80];  /* its write-ahead log */
    char copy[80];
    struct seqb_backend_options options; /* for `path`, with `create` set */
};

/* Makes a new folder; false if that fails. */
bool sqlite_files_init(struct sqlite_files *files);

/* Removes the folder and its content. */
void sqlite_files_fini(struct sqlite_files *files);

/* The path of the engine's note of the incarnation of `path`. The note exists
 * once the store has a cell. */
void sqlite_files_note(const struct sqlite_files *files, char out[64]);

/* Runs SQL on `path` through a separate handle. Aborts the program if it fails,
 * because no test expects that. */
void sqlite_files_run(const struct sqlite_files *files, const char *sql);

/* The number that a query returns. */
int64_t sqlite_files_ask(const struct sqlite_files *files, const char *sql);

/* Copies the whole database, which may be open, to `copy`. */
void sqlite_files_save(struct sqlite_files *files);

/* Replaces the file by the copy, like `mv`. */
void sqlite_files_restore(struct sqlite_files *files);

/* Writes the copy's content into the file, which may be open, like .restore of
 * sqlite3. */
void sqlite_files_restore_inside(struct sqlite_files *files);

/* `cp FROM TO`: if TO exists, its inode stays. */
void sqlite_files_copy(const char *from, const char *to);

/* Writes a file's content. */
void sqlite_files_write(const char *path, const char *text, size_t size);
