/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's connection, which its own thread alone uses. */
#pragma once

#include "ha/worker.h"

/* Opens the backend unless it is open, and verifies the claims of its pools.
 * A failure is noted. */
enum seqb_status worker_connect(struct worker *worker, struct seqb_error *err);

/* Opens the backend only, and shows its server in the status; `create` lets it
 * make its store. */
enum seqb_status worker_open(struct worker *worker, bool create,
                             struct seqb_error *err);

/* Verifies the claims of every pool that the worker serves. */
enum seqb_status worker_verify(struct worker *worker, struct seqb_error *err);

/* One that is not open: connects if a call has cost the connection and no
 * quarantine. */
void worker_reconnect(struct worker *worker);

/* A call failed: notes it and closes the connection, which may hold a reply
 * that nobody waits for. */
void worker_fail(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us);

/* False, with the reason, while it would have to be connected to a server that
 * is down and was tried just now. A probe has waited for that before. */
bool worker_may_connect(struct worker *worker, struct seqb_error *err);
