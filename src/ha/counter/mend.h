/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a counter valid again that a store did not grant from; on the
 * worker's thread. */
#pragma once

#include "ha/policy/policy.h"
#include "ha/worker.h"

/* As the verdict says: raises it, drops its window, or puts a fresh one there.
 * SEQB_AGAIN: ask again; SEQB_OK: the slot was answered, or waits for a window
 * (see window_take), and is not to be touched; else it fails with that, alone
 * if it `is_refused`. */
enum seqb_status mend_counter(struct worker *worker, struct slot *slot,
                              enum fence_verdict verdict,
                              const struct seqb_request *reply,
                              struct seqb_error *err);

/* Raises a counter that went back above all that this broker was granted of it,
 * and by the gap, before the partition is refused: others are not to count on
 * from where it is now. For a window: that one is counted in no more. */
enum seqb_status mend_poisoned(struct worker *worker, const struct slot *slot,
                               const struct seqb_request *reply,
                               struct seqb_error *err);

/* The same where that is no surgery: a direct counter whose store became
 * another one since this broker was granted more of it, or one that was noted
 * higher before this broker was opened. SEQB_AGAIN: ask again; else as above.
 */
enum seqb_status mend_lower(struct worker *worker, struct slot *slot,
                            const struct seqb_request *reply,
                            struct seqb_error *err);

#define CONNECTION_LOST "the connection was lost"
