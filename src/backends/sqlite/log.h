/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a SQLite file and its write-ahead log belong together, for the
 * sqlite engine only. SQLite reads a page from the log if it is there, else
 * from the file. So from an older file with a newer log it would compose a
 * content that never existed.
 *
 * Each transaction of ours increments `user_version`, which is in page 1. So
 * the file's own first page shows that the file has everything written before
 * the log began. All that was copied from the log since then is compared page
 * by page, whenever the file was written. https://sqlite.org/walformat.html
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "backends/sqlite/statement.h"

/* Reliable only while no other handle writes; true without a log. */
bool sqlite_log_matches(struct sqlite_link *link);

/* How often `user_version` was incremented, modulo 2^32; false if it cannot be
 * read. */
bool sqlite_log_count(struct sqlite_link *link, uint32_t *out);
