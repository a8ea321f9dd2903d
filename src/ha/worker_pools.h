/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker reports to its pools, and what these allow. */
#pragma once

#include "ha/worker.h"

/* Any thread, with no lock held: tells a change of its state, if it is one. One
 * that an operator ordered is no warning. */
void worker_report(const struct worker *worker,
                   const struct worker_membership *membership,
                   struct pool_change change, bool is_ordered,
                   const char *reason);

/* Any thread: judges the call under way, and what time alone changes; has what
 * is refused tried again. Returns when to do so again, INT64_MAX: not before
 * watchdog_expect says so. */
int64_t worker_evaluate(struct worker *worker, int64_t now_ms);

/* Any thread. Tells every pool how a call went: `why` NULL for success. */
void worker_note(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us);

/* The rest is for the worker's own thread. */

/* For the status: who serves now may be another server than before. */
void worker_show(struct worker *worker);

/* Whether any of its pools may ask it. */
bool worker_is_usable(struct worker *worker);

/* False, with the reason, while the backend is not to be asked for that pool.
 */
bool worker_may_work(struct worker *worker, const struct ha_pool *of,
                     struct seqb_error *err);
