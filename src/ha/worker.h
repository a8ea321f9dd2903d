/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One backend's thread and connection: takes what is posted, probes when its
 * member is quarantined, tells its pools how calls went.
 */
#pragma once

#include "ha/state.h"

/* Sets up a zeroed worker with room for `duties` duties, not yet running.
 * The watchdog, the events and the server must outlive its thread; the latter
 * two may be NULL. */
enum seqb_status worker_init(struct worker *worker,
                             const struct ha_backend_options *options,
                             struct watchdog *watchdog, size_t duties,
                             struct seqb_error *err);
enum seqb_status worker_start(struct worker *worker, struct seqb_error *err);

/* Tells the thread to end; then waits for it. What is still posted is
 * answered SEQB_CLOSED. */
void worker_stop(struct worker *worker);
void worker_join(struct worker *worker);
void worker_fini(struct worker *worker);

/* Any thread. False, and nothing is posted, if the worker is stopping. */
bool worker_post(struct worker *worker, struct worker_job *job);

/* Any thread: looks again when its next probe is due. */
void worker_wake(struct worker *worker);

/* Any thread, with no lock held: tells a change of its state, if it is one. */
void worker_tell(const struct worker *worker, const struct worker_duty *duty,
                 struct pool_change change, const char *reason);

/* Any thread: judges the call under way, and what time alone changes; has what
 * is refused tried again. Returns when to do so again, INT64_MAX: not before
 * watchdog_expect says so. */
int64_t worker_judge(struct worker *worker, int64_t now_ms);

/* The rest is for the worker's own thread. */

/* Around every call of the engine, so that others may judge it. */
void worker_call_begins(struct worker *worker, int64_t now_ms);
void worker_call_ends(struct worker *worker);

/* Opens the backend unless it is open, and verifies the claims of its pools.
 * A failure is noted. */
enum seqb_status worker_connect(struct worker *worker, struct seqb_error *err);

/* Opens the backend only, under the watchdog from then on; `create` lets it
 * make its store. */
enum seqb_status worker_open_backend(struct worker *worker, bool create,
                                     struct seqb_error *err);

/* Verifies the claims of every pool that the worker serves. */
enum seqb_status worker_verify(struct worker *worker, struct seqb_error *err);

/* Of clocks.c: asks for the store's wall clock, and whether it is time to do so
 * again. */
enum seqb_status worker_see_clock(struct worker *worker,
                                  struct seqb_error *err);
bool worker_clock_is_due(const struct worker *worker);

/* Of clocks.c, any thread: the store's wall clock less ours, ms, or NO_CLOCK;
 * and the later one of both. */
int64_t worker_clock_ahead_ms(const struct worker *worker);
int64_t worker_latest_ms(const struct worker *worker);

/* Of clocks.c: no stamp that a broker has begun so far begins after it. */
int64_t worker_base_ms(const struct worker *worker);

void worker_disconnect(struct worker *worker);

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
