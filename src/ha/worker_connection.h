/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's connection. For the worker's own thread only. */
#pragma once

#include "ha/worker.h"

/* Opens the backend unless it is open, and verifies the claims of its pools.
 * Reports a failure to the pools. */
enum seqb_status worker_connect(struct worker *worker, struct seqb_error *err);

/* Only opens the backend, and copies its server to the status. `create` allows
 * it to create its store. */
enum seqb_status worker_open(struct worker *worker, bool create,
                             struct seqb_error *err);

/* Verifies the claims of every pool that the worker serves. */
enum seqb_status worker_verify(struct worker *worker, struct seqb_error *err);

/* For a connection that is not open: connects if a call lost the connection
 * without a quarantine. */
void worker_reconnect(struct worker *worker);

/* A call failed: reports it to the pools and closes the connection, on which a
 * late reply may still arrive. */
void worker_fail(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us);

/* False, with the reason, if the connection is closed and its server is
 * down and was tried just now. True for a probe, which has waited for that
 * already. */
bool worker_may_connect(struct worker *worker, struct seqb_error *err);
