/* SPDX-License-Identifier: Apache-2.0 */
/* Repairs a counter that its store could not grant from. For the worker's
 * thread. */
#pragma once

#include "ha/policy/policy.h"
#include "ha/worker.h"

/* Does what the verdict says: raises the counter, drops its window, or installs
 * a new one. SEQB_AGAIN: ask again. SEQB_OK: the slot was answered or waits for
 * a window (see window_take); do not touch it. Any other status: the slot fails
 * with it; only this counter does if `is_refused`. */
enum seqb_status mend_counter(struct worker *worker, struct slot *slot,
                              enum fence_verdict verdict,
                              const struct seqb_request *reply,
                              struct seqb_error *err);

/* Raises a counter that went back above all that this broker was granted of it,
 * plus the gap, before the partition is refused: other brokers must not
 * continue from its present value. A window's cell: drops that window, so that
 * none counts in it. */
enum seqb_status mend_poisoned(struct worker *worker, const struct slot *slot,
                               const struct seqb_request *reply,
                               struct seqb_error *err);

/* The same where no operator has to act: a direct counter whose store became
 * another one since this broker's last grant, or one whose note from before
 * this broker was opened is higher. SEQB_AGAIN: ask again; else as
 * mend_counter. */
enum seqb_status mend_lower(struct worker *worker, struct slot *slot,
                            const struct seqb_request *reply,
                            struct seqb_error *err);

#define CONNECTION_LOST "the connection was lost"
