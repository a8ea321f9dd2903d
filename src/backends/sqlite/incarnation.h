/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The incarnation of a SQLite file, which cells are bound to. There is no
 * server process that starts, so that a note in the memory of the machine takes
 * its place: a random nonce, and how many transactions were committed in the
 * file. Nothing that is put back, be it with all its attributes or the disk's
 * snapshot, brings back an older note; if the file has fewer transactions than
 * the note says, or the machine was booted since, another nonce is made.
 *
 * A file has no note before a cell is made in it, or it is opened by who needs
 * its incarnation.
 */
#pragma once

#include "backends/sqlite/statement.h"

/* In a transaction that writes, after the file's transactions were counted:
 * another incarnation begins if the file went back. SEQB_REFUSED if there is a
 * note that may not be read. */
enum seqb_status sqlite_incarnation_check(struct sqlite_link *link,
                                          struct seqb_error *err);

/* There, too: makes a note if there is none, so that link->nonce is set. */
enum seqb_status sqlite_incarnation_make(struct sqlite_link *link,
                                         struct seqb_error *err);

/* There, too: SEQB_UNREACHABLE if the backend has an incarnation and the file
 * another one by now. */
enum seqb_status sqlite_incarnation_hold(struct sqlite_link *link,
                                         const struct seqb_backend *backend,
                                         struct seqb_error *err);

/* Right before the commit of the transaction that is number `commits`. A commit
 * that then fails leaves a note that is ahead: that costs windows. */
enum seqb_status sqlite_incarnation_note(struct sqlite_link *link,
                                         int64_t commits,
                                         struct seqb_error *err);

void sqlite_incarnation_close(struct sqlite_link *link);
