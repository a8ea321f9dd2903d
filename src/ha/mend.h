/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a counter valid again that a store did not grant from; on the
 * worker's thread. */
#pragma once

#include "ha/fence.h"
#include "ha/worker.h"

/* As the verdict says: raises it, drops its window, or puts a fresh one there.
 * SEQB_AGAIN: ask again; else the slot fails with it, alone if it
 * `is_refused`. */
enum seqb_status mend_counter(struct worker *worker, struct slot *slot,
                              enum fence_verdict verdict,
                              const struct seqb_request *reply,
                              struct seqb_error *err);

#define CONNECTION_LOST "the connection was lost"
