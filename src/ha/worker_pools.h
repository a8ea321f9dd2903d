/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker reports to its pools, and what they allow it to do. */
#pragma once

#include "ha/worker.h"

/* Any thread, with no lock held: reports a change of state, unless from == to.
 * A change that an operator ordered is logged as info. */
void worker_report(const struct worker *worker,
                   const struct worker_membership *membership,
                   struct pool_change change, bool is_ordered,
                   const char *reason);

/* Any thread: evaluates the call under way, makes the changes of state that
 * depend on time alone, and retries what is refused. Returns when to call it
 * again; INT64_MAX: not before watchdog_expect says so. */
int64_t worker_evaluate(struct worker *worker, int64_t now_ms);

/* Any thread: reports the result of a call to every pool. `why` NULL for
 * success. */
void worker_note(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us);

/* Any thread: by how much the store's base is raised if the store changed: the
 * largest gap of the pools that have counters there which begin after it. 0: it
 * has only leases of neighbours, which the sync protects, or cells. */
int64_t worker_base_gap(const struct worker *worker);

/* The rest is for the worker's own thread. */

/* Updates the server in the status: it may be another one than before. */
void worker_show(struct worker *worker);

/* Whether any of its pools may ask it. */
bool worker_is_usable(struct worker *worker);

/* False, with the reason, if that pool may not ask the backend now. */
bool worker_may_work(struct worker *worker, const struct ha_pool *of,
                     struct seqb_error *err);
