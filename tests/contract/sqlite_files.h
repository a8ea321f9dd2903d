/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder with a SQLite file in it, for tests of the sqlite engine,
 * and what an operator may do to such a file. */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

struct sqlite_files {
    char folder[64];
    char path[80]; /* the file under test, not yet made */
    char log[80];  /* its write-ahead log */
    char copy[80];
    struct seqb_backend_options options; /* of `path`, with `create` */
};

/* A new folder; false if there can be none. */
bool sqlite_files_init(struct sqlite_files *files);

/* Removes the folder and what is in it. */
void sqlite_files_fini(struct sqlite_files *files);

/* Where the engine notes the incarnation of `path`, once it has a cell. */
void sqlite_files_note(const struct sqlite_files *files, char out[64]);

/* Runs SQL on `path` through a handle of its own; ends the program if it
 * fails, since no test means that. */
void sqlite_files_run(const struct sqlite_files *files, const char *sql);

/* The number that a query answers. */
int64_t sqlite_files_ask(const struct sqlite_files *files, const char *sql);

/* A whole copy of the database as it is now, also if it is open, to `copy`. */
void sqlite_files_save(struct sqlite_files *files);

/* Puts the copy in the file's place, as `mv` would. */
void sqlite_files_restore(struct sqlite_files *files);

/* Writes the copy's content into the file, as sqlite3's .restore would, also
 * if it is open. */
void sqlite_files_restore_inside(struct sqlite_files *files);

/* `cp FROM TO`: the inode of TO stays, if it is there. */
void sqlite_files_copy(const char *from, const char *to);

/* Writes a file's content. */
void sqlite_files_write(const char *path, const char *text, size_t size);
