/* SPDX-License-Identifier: Apache-2.0 */
/* What any windowed engine must make of answers that a sound server does not
 * give, whatever their protocol; the must_... functions assert. */
#pragma once

#include "contract/impostor.h"

/* A server that sends `text` and ends its side does not open, for that reason
 * and no other. */
void must_refuse_session(const struct seqb_backend_ops *ops, const char *text,
                         enum seqb_status status);

/* A server that drips while it is opened, after `opening`, or while it is
 * asked, after `session`, is given up when the time is over. */
void must_give_up_drips(const struct seqb_backend_ops *ops, const char *opening,
                        const char *session, int64_t limit);

/* Asks an open backend for ten values each of two counters whose windows are of
 * `limit` offsets. */
enum seqb_status reserve_two(struct impostor *impostor, int64_t limit,
                             struct seqb_request requests[static 2]);

/* The first answer makes no sense, and so nothing is believed from there on and
 * the connection is of no use any more. */
void must_distrust(struct impostor *impostor, int64_t limit);

/* The first answer grants `count` values, the second one is cut off. */
void must_doubt_second(struct impostor *impostor, int64_t limit, int64_t count);
