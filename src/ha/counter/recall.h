/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a broker notes about its grants in its state directory, and what it
 * reads of that after a restart. For the worker's thread.
 */
#pragma once

#include "ha/counter/counter.h"
#include "ha/worker.h"

/* Call it before the first reply for a counter is judged: sets the slot's mark
 * to what was noted. `name` is the counter's name in its store. */
void recall_mark(struct worker *worker, struct slot *slot, const char *name);

/* Notes the slot's mark. Call it before any caller has a number of the
 * block. */
void recall_note(struct worker *worker, struct slot *slot, const char *name);
