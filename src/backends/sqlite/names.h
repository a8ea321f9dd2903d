/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a SQLite file has one name, for the sqlite engine only.
 *
 * SQLite names the log and its index after the path of the file, and the lock
 * of the writer is in the index. So brokers that reach one file by two names
 * have two logs and two locks, and may be granted the same block. A file has
 * two names by a hard link, or if it is mounted into a folder by itself.
 * Symbolic links are none: SQLite resolves them.
 */
#pragma once

#include <limits.h>

#include "backends/sqlite/statement.h"

/* SEQB_UNSAFE if the file, its log or its index has another name. They may be
 * missing. The handle is open. */
enum seqb_status sqlite_names_check(const struct sqlite_link *link,
                                    struct seqb_error *err);

/* The path of the log's index. */
void sqlite_names_index(const struct sqlite_link *link, char out[PATH_MAX]);
