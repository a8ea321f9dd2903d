/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a SQLite store: itself, its log, and the index of that. */
#pragma once

#define SQLITE_PARTS     3
#define SQLITE_PART_SIZE 96

/* The i-th of the files that belong to the one at `path`. */
const char *sqlite_part(const char *path, int i,
                        char out[static SQLITE_PART_SIZE]);

/* Copies those that are there with all their attributes, into the same files
 * if there are any, and removes the others. */
void sqlite_parts_copy(const char *from, const char *to);
void sqlite_parts_remove(const char *path);
