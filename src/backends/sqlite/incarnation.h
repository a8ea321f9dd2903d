/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The incarnation of a SQLite file, which cells are bound to. There is no
 * server process whose start could define it, so a note in the machine's memory
 * is used instead: a random nonce, and the name of the last commit in the file
 * that was made with this nonce. That commit wrote the name, which is random,
 * into the file, too, in a row for the nonce. Restoring the file, even with all
 * its attributes or with a snapshot of the disk, does not bring back an older
 * note. If the file's row has another name than the note, or the machine was
 * booted since, another nonce is made.
 *
 * Containers that share the file each have a note, since each has a /dev/shm.
 * They have different nonces, so none of them writes another one's row, and
 * none of them counts in another one's cells.
 *
 * A file has no note until a cell is made in it, or until it is opened with
 * needs_incarnation.
 */
#pragma once

#include "backends/sqlite/statement.h"

/* Within a write transaction that has written nothing yet: compares the note
 * with the file, and sets link->nonce, "" if there is no note. Makes a missing
 * note with `make`. If another incarnation begins, link->is_begun is set, and
 * the transaction must be committed. SEQB_REFUSED if there is a note that may
 * not be read. */
enum seqb_status sqlite_incarnation_check(struct sqlite_link *link, bool make,
                                          struct seqb_error *err);

/* To be called immediately before the commit of transaction number `commits`:
 * gives that commit a name, if there is a note. If the commit fails, the note
 * is ahead: that only costs windows. */
enum seqb_status sqlite_incarnation_note(struct sqlite_link *link,
                                         int64_t commits,
                                         struct seqb_error *err);

void sqlite_incarnation_close(struct sqlite_link *link);
