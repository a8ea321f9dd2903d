/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a SQLite file and its write-ahead log belong together, for the sqlite
 * engine alone. A page is read from the log if it is there, else from the file:
 * of an older file under a younger log SQLite makes one content that never was.
 *
 * Each transaction of ours counts `user_version` up, which is in page 1. So the
 * file's own first page says that it has what was written before the log began,
 * and all that was copied of the log since is compared page by page, whenever
 * the file was written. https://sqlite.org/walformat.html
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backends/sqlite/statement.h"

/* Says for sure only while no other handle writes; true without a log. */
bool sqlite_log_matches(struct sqlite_link *link);

/* How often `user_version` was counted up, modulo 2^32; false if that cannot be
 * read. */
bool sqlite_log_count(struct sqlite_link *link, uint32_t *out);
