/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the file of a link is still the one that the link opened: the
 * same file under the same name, with no older content than the link has seen.
 * A file whose content went back begins another history, which is part of its
 * identity.
 */
#pragma once

#include "backends/sqlite/statement.h"

/* Notes the file's identity, after the queries were prepared. */
enum seqb_status sqlite_history_identify(struct sqlite_link *link,
                                         struct seqb_error *err);

/* SEQB_FORKED in a forked child; SEQB_UNREACHABLE if the path of the file, of
 * its log or of the log's index is now another file or none, or if one of them
 * has gained a name. */
enum seqb_status sqlite_history_check(struct sqlite_link *link,
                                      struct seqb_error *err);

/* Within a transaction: the commits that this handle saw must still be there,
 * else SEQB_UNREACHABLE. */
enum seqb_status sqlite_history_check_commits(struct sqlite_link *link,
                                              struct seqb_error *err);

/* Within a transaction: the file and its log must belong together, else
 * SEQB_UNREACHABLE. */
enum seqb_status sqlite_history_check_log(struct sqlite_link *link,
                                          struct seqb_error *err);
