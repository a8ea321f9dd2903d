/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a SQLite store: the database, its write-ahead log, and the log's
 * index. */
#pragma once

#include "chaos.h"

#define SQLITE_PARTS     3
#define SQLITE_PART_SIZE 96

/* The i-th file of the store at `path`. */
const char *sqlite_part(const char *path, int i,
                        char out[static SQLITE_PART_SIZE]);

/* Copies the files that exist, with all their attributes, and removes the
 * others. Existing files are overwritten in place. */
void sqlite_parts_copy(const char *from, const char *to);
void sqlite_parts_remove(const char *path);

/* Replaces the files at `to` by copies of those at `from`. Brokers that run do
 * nothing meanwhile. */
void sqlite_parts_replace(struct chaos *chaos, const char *from,
                          const char *to);
