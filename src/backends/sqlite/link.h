/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One handle on one SQLite file, for the sqlite engine alone: opening it in
 * the one mode that loses no commit, and its transactions.
 */
#pragma once

#include "backends/sqlite/statement.h"

/* Opens the file and prepares the queries. With `create` it is a new file,
 * and its tables are made in a transaction that is for the caller to end. A
 * failure leaves what sqlite_link_close frees. Errors as open's. */
enum seqb_status sqlite_link_open(struct sqlite_link *link,
                                  const struct seqb_backend_options *options,
                                  struct seqb_error *err);

/* Copies the whole log into the file, which is then whole without it. */
enum seqb_status sqlite_link_empty_log(struct sqlite_link *link,
                                       struct seqb_error *err);

/* From now on a call takes no longer than that, waiting for others' lock
 * included. As opened, it is the time that opening has. */
void sqlite_link_be_patient(struct sqlite_link *link, int32_t call_ms);

/* Takes a half-open link. In a forked child it frees nothing: closing there
 * would drop the parent's locks and log. */
void sqlite_link_close(struct sqlite_link *link);

/* Locks the file against other writers, and checks that it is the same. */
enum seqb_status sqlite_link_begin(struct sqlite_link *link,
                                   struct seqb_error *err);

/* Ends a transaction that went as `status` says: SEQB_OK commits, durably,
 * SEQB_UNCERTAIN if that fails; else rolls back and returns `status`. */
enum seqb_status sqlite_link_end(struct sqlite_link *link,
                                 enum seqb_status status,
                                 struct seqb_error *err);

/* Ends a transaction without a change, if there is one. */
void sqlite_link_abandon(struct sqlite_link *link);
