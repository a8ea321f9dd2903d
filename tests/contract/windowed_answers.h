/* SPDX-License-Identifier: Apache-2.0 */
/* What every windowed engine must do with answers that a correct server does
 * not give, whatever the protocol. The functions must_... fail the test
 * otherwise. */
#pragma once

#include "contract/impostor.h"

/* Opening must fail with `status` if the server sends `text` and shuts down its
 * side. */
void must_refuse_session(const struct seqb_backend_ops *ops, const char *text,
                         enum seqb_status status);

/* The engine must give up when its time is over, if a server drips after
 * `opening` during open, or after `session` during reserve. */
void must_give_up_drips(const struct seqb_backend_ops *ops, const char *opening,
                        const char *session, int64_t limit);

/* Asks an open backend for ten values each of two counters, whose windows have
 * `limit` offsets. */
enum seqb_status reserve_two(struct impostor *impostor, int64_t limit,
                             struct seqb_request requests[static 2]);

/* The first answer is invalid, so the engine must trust no answer from there
 * on, and the connection must not be usable any more. */
void must_distrust(struct impostor *impostor, int64_t limit);

/* The first answer grants `count` values, the second one is cut off. */
void must_doubt_second(struct impostor *impostor, int64_t limit, int64_t count);
