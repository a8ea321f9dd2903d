/* SPDX-License-Identifier: Apache-2.0 */
/* Another process with a broker of its own on a SQLite file, for tests with one
 * thread. */
#pragma once

#include <sys/types.h>

#include "contract/sqlite_files.h"

#define SQLITE_OTHER_WANT ((int64_t)5) /* values of each block */

struct sqlite_other {
    pid_t pid;
    int orders;  /* one byte each */
    int answers; /* a struct sqlite_answer each */
};

struct sqlite_answer {
    enum seqb_status status;
    int64_t first; /* of the block; 0: none */
    char text[300];
};

/* Starts a broker that opens `path` and answers. `mount` makes its mounts
 * before, in a mount namespace of its own; may be NULL. No handle may be
 * open. */
struct sqlite_other
sqlite_other_start(const struct sqlite_files *files, const char *path,
                   bool (*mount)(const struct sqlite_files *files));

/* Awaits its next answer. */
struct sqlite_answer sqlite_other_answer(const struct sqlite_other *other);

/* Lets it reserve a block of ORDER. It answers before it syncs the log, with
 * the write lock held and the counter read. It goes on after one more order,
 * and answers with the block. If it fails it answers once. */
void sqlite_other_order(const struct sqlite_other *other);

/* Ends it, without closing the file. */
void sqlite_other_end(const struct sqlite_other *other);

/* Lets it close the file, and ends it. */
void sqlite_other_close(const struct sqlite_other *other);
