/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handle on one SQLite file, for the sqlite engine only: opening the file
 * in the one mode that loses no commit, and its transactions.
 */
#pragma once

#include "backends/sqlite/statement.h"

/* Opens the file and prepares the queries. With `create` the file is new: its
 * tables are created in a transaction that the caller must end. A failure
 * leaves what sqlite_link_close frees. Errors as for open. */
enum seqb_status sqlite_link_open(struct sqlite_link *link,
                                  const struct seqb_backend_options *options,
                                  struct seqb_error *err);

/* Copies the whole log into the file, which is then complete without the
 * log. */
enum seqb_status sqlite_link_empty_log(struct sqlite_link *link,
                                       struct seqb_error *err);

/* From now on a call takes at most this long, including the wait for other
 * handles' locks. Until then the limit is that of opening. */
void sqlite_link_be_patient(struct sqlite_link *link, int32_t call_ms);

/* A half-open link is allowed. In a forked child it frees nothing: closing
 * there would drop the parent's locks and log. */
void sqlite_link_close(struct sqlite_link *link);

/* Locks the file against other writers, and checks that it is still the same
 * file. */
enum seqb_status sqlite_link_begin(struct sqlite_link *link,
                                   struct seqb_error *err);

/* As sqlite_link_begin, and makes the file's incarnation if there is none, so
 * that link->nonce is set. SEQB_REFUSED if its note cannot be made. */
enum seqb_status sqlite_link_begin_incarnated(struct sqlite_link *link,
                                              struct seqb_error *err);

/* As sqlite_link_begin; SEQB_UNREACHABLE if the backend has an incarnation and
 * the file now has another one. */
enum seqb_status sqlite_link_begin_unchanged(struct sqlite_link *link,
                                             const struct seqb_backend *backend,
                                             struct seqb_error *err);

/* Ends a transaction whose result is `status`. SEQB_OK: commits durably, and
 * answers SEQB_UNCERTAIN if that fails. Any other status: rolls back and
 * returns `status`. */
enum seqb_status sqlite_link_end(struct sqlite_link *link,
                                 enum seqb_status status,
                                 struct seqb_error *err);

/* Rolls back the transaction, if there is one. */
void sqlite_link_abandon(struct sqlite_link *link);
