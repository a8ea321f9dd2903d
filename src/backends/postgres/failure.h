/* SPDX-License-Identifier: Apache-2.0 */
/* What PostgreSQL's SQLSTATEs mean to the postgres engine. */
#pragma once

#include <stdbool.h>

#include <seqbroker/backend.h>

/* Fills `err` from the error of the server at `where`; returns the status. */
enum seqb_status postgres_failure_set(const char *where, const char *state,
                                      const char *message,
                                      struct seqb_error *err);

/* The same for libpq's verbose text of a failed connection. It contains the
 * SQLSTATE if the server answered; `state` gets a copy. */
enum seqb_status postgres_failure_connect(const char *where, const char *text,
                                          char state[static 6],
                                          struct seqb_error *err);

/* Whether the error is of one row, so that statements on other rows may
 * succeed. */
bool postgres_failure_is_of_row(const char *state);
