/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the file of a link is still the one that it opened: the same file
 * under the same name, with no older content than it saw. A file whose
 * content went back begins another history, which is part of its identity.
 */
#pragma once

#include "backends/sqlite/statement.h"

/* Notes which file it is, once the queries are prepared. */
enum seqb_status sqlite_history_identify(struct sqlite_link *link,
                                         struct seqb_error *err);

/* SEQB_FORKED in a forked child; SEQB_UNREACHABLE if another file or none
 * stands under the path or that of the log by now. */
enum seqb_status sqlite_history_check(struct sqlite_link *link,
                                      struct seqb_error *err);

/* Inside a transaction: what this handle saw must still be there, else
 * SEQB_UNREACHABLE. */
enum seqb_status sqlite_history_check_commits(struct sqlite_link *link,
                                              struct seqb_error *err);

/* Inside a transaction: the file and its log must belong together, else
 * SEQB_UNREACHABLE. */
enum seqb_status sqlite_history_check_log(struct sqlite_link *link,
                                          struct seqb_error *err);
