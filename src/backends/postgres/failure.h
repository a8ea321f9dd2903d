/* SPDX-License-Identifier: Apache-2.0 */
/* What PostgreSQL's SQLSTATEs mean to the postgres engine. */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

/* Fills `err` from what the server at `where` said; returns the status. */
enum seqb_status postgres_failure_set(const char *where, const char *state,
                                      const char *message,
                                      struct seqb_error *err);

/* The same for libpq's verbose text of a failed connection, in which the
 * SQLSTATE stands if the server said anything; it is copied to `state`. */
enum seqb_status postgres_failure_connect(const char *where, const char *text,
                                          char state[static 6],
                                          struct seqb_error *err);

/* Whether it is of one row, so that statements on others may go well. */
bool postgres_failure_is_of_row(const char *state);
