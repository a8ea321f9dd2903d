/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One backend's thread, which owns its connection: takes what is posted, probes
 * when its member is quarantined, tells its pools how calls went.
 */
#pragma once

#include "ha/state.h"

/* Sets up a worker that is zeroed but for its connection, with room for
 * `duties` duties, not yet running. */
enum seqb_status worker_init(struct worker *worker, size_t duties,
                             struct seqb_error *err);

/* Starts its thread; of serve.c. */
enum seqb_status worker_start(struct worker *worker, struct seqb_error *err);

/* Tells the thread to end; then waits for it. What is still posted is
 * answered SEQB_CLOSED. */
void worker_stop(struct worker *worker);
void worker_join(struct worker *worker);
void worker_fini(struct worker *worker);

/* Any thread. False, and nothing is posted, if the worker is stopping. */
bool worker_post(struct worker *worker, struct worker_job *job);

/* Takes all that was posted, in its order; NULL: nothing. */
struct worker_job *worker_take(struct worker *worker);

/* Any thread: looks again when its next probe is due. */
void worker_wake(struct worker *worker);

/* Any thread, with no lock held: tells a change of its state, if it is one. */
void worker_tell(const struct worker *worker, const struct worker_duty *duty,
                 struct pool_change change, const char *reason);

/* Any thread: judges the call under way, and what time alone changes. Returns
 * when to do so again, INT64_MAX if no call is under way. */
int64_t worker_judge(struct worker *worker, int64_t now_ms);

/* The rest is for the worker's own thread. */

/* Opens the backend unless it is open, and verifies the claims of its pools.
 * A failure is noted. */
enum seqb_status worker_connect(struct worker *worker, struct seqb_error *err);

/* Opens the backend only, and shows its server in the status; `create` lets it
 * make its store. */
enum seqb_status worker_open(struct worker *worker, bool create,
                             struct seqb_error *err);

/* Verifies the claims of every pool that the worker serves. */
enum seqb_status worker_verify(struct worker *worker, struct seqb_error *err);

/* Connects again if a call has cost the connection and no quarantine. */
void worker_reconnect(struct worker *worker);

/* Tells every pool how a call went: `why` NULL for success. */
void worker_note(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us);

/* A call failed: notes it and closes the connection, which may hold a reply
 * that nobody waits for. */
void worker_fail(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us);

/* False, with the reason, while the backend is not to be asked for that pool;
 * and while it would have to be connected to a server that is down and was
 * tried just now. A probe has waited for that before. */
bool worker_may_work(struct worker *worker, const struct ha_pool *of,
                     struct seqb_error *err);
bool worker_may_connect(struct worker *worker, struct seqb_error *err);
