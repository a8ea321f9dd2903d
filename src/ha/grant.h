/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of slots carried through one backend: reserve, judge each reply,
 * mend what is fenced or used up, ask again. On the worker's thread.
 */
#pragma once

#include "ha/worker.h"

/* Serves worker->batch[0 ... n - 1]; each slot is answered exactly once. */
void grant_run(struct worker *worker, size_t n);

/* Answers a slot: with its block if `why` is NULL. */
void grant_answer(struct slot *slot, struct seqb_error *why);
