/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a broker notes of its grants in its state directory, and what it knows
 * of them after a restart. On the worker's thread.
 */
#pragma once

#include "ha/counter/counter.h"
#include "ha/worker.h"

/* Before the first reply for a counter is judged: the slot's mark becomes what
 * was noted of it. `name` is the counter's in its store. */
void recall_mark(struct worker *worker, struct slot *slot, const char *name);

/* Notes the slot's mark, before anybody has a number of the block. */
void recall_note(struct worker *worker, struct slot *slot, const char *name);
