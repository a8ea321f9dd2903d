/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock of a SQLite file beside SQLite's own, for the sqlite engine only.
 *
 * SQLite locks by fcntl(2). The kernel drops all such locks that a process has
 * of a file when the process closes the file once: when a program that uses the
 * library copies its files, or has a second SQLite library that closes one. Two
 * brokers could then write at once, and be granted the same block. A lock by
 * flock(2) belongs to the open file, so nobody else drops it. It is on the log,
 * of which SQLite has no lock.
 */
#pragma once

#include "backends/sqlite/statement.h"

/* Locks the log against other brokers, until `until_ms`. It may be locked
 * already. Whether it is still the file's log is to be checked behind it.
 * SEQB_UNREACHABLE: another broker has it. */
enum seqb_status sqlite_lock_take(struct sqlite_link *link, int64_t until_ms,
                                  struct seqb_error *err);

/* It need not be locked. */
void sqlite_lock_release(struct sqlite_link *link);

/* Releases it for good. */
void sqlite_lock_close(struct sqlite_link *link);
