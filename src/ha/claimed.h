/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a store that may forget is by now. Its claims were compared when it was
 * connected. It may have forgotten them since, and then brokers of another
 * topology may have claimed it: they count in cells of the same names, in
 * windows of another authority. For the worker's thread.
 */
#pragma once

#include "ha/worker.h"

/* Call it between a reserve and what follows from its answers. Compares the
 * layout that a pool claimed in the store, or claims it again, if one of the
 * first `n` slots of the batch met a window that is new to it, or is about to
 * install one; or if the last time was a second ago. A failure is that of the
 * backend, not of a counter. SEQB_OK for a store that does not forget. */
enum seqb_status claimed_compare(struct worker *worker, size_t n,
                                 struct seqb_error *err);

/* For a store that nobody asks: the same for all pools. A store that does not
 * forget is only asked for a claim. */
enum seqb_status claimed_look(struct worker *worker, struct seqb_error *err);
