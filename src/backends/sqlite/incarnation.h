/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The incarnation of a SQLite file, which cells are bound to. There is no
 * server process whose start could define it, so a note in the machine's memory
 * is used instead: a random nonce, and how many transactions were committed in
 * the file. Restoring the file, even with all its attributes or with a snapshot
 * of the disk, does not bring back an older note. If the file has fewer
 * transactions than the note says, or the machine was booted since, another
 * nonce is made.
 *
 * A file has no note until a cell is made in it, or until it is opened with
 * needs_incarnation.
 */
#pragma once

#include "backends/sqlite/statement.h"

/* Within a write transaction, after the file's transactions were counted:
 * begins another incarnation if the file went back. SEQB_REFUSED if there is a
 * note that may not be read. */
enum seqb_status sqlite_incarnation_check(struct sqlite_link *link,
                                          struct seqb_error *err);

/* Within such a transaction: makes a note if there is none, so that link->nonce
 * is set. */
enum seqb_status sqlite_incarnation_make(struct sqlite_link *link,
                                         struct seqb_error *err);

/* Within such a transaction: SEQB_UNREACHABLE if the backend has an incarnation
 * and the file now has another one. */
enum seqb_status sqlite_incarnation_hold(struct sqlite_link *link,
                                         const struct seqb_backend *backend,
                                         struct seqb_error *err);

/* To be called immediately before the commit of transaction number `commits`.
 * If that commit fails, the note is ahead: that only costs windows. */
enum seqb_status sqlite_incarnation_note(struct sqlite_link *link,
                                         int64_t commits,
                                         struct seqb_error *err);

void sqlite_incarnation_close(struct sqlite_link *link);
