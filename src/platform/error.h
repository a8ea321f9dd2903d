/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a struct seqb_error, and says whose fault a status is. */
#pragma once

#include <seqbroker/status.h>

enum blame { BLAME_NOBODY, BLAME_CALLER, BLAME_BACKEND, BLAME_LAYOUT };

enum blame status_blame(enum seqb_status status);

/* Fills `err` (which may be NULL) and returns `status`, so that a failure is
 * one return statement. A text that is too long is cut. */
enum seqb_status error_set(struct seqb_error *err, enum seqb_status status,
                           const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies `from` into `to`, which may be NULL; returns its status. */
enum seqb_status error_copy(struct seqb_error *to,
                            const struct seqb_error *from);
