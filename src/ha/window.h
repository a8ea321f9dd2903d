/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows for a windowed slot: each leased once, ever, from the pool's
 * authority by an ordinary reservation of its worker, one spare ahead, so that
 * the authority may be down for a while.
 */
#pragma once

#include "ha/counter.h"

/*
 * Takes a window above `floor` for the slot, on its worker's thread: the spare,
 * else a fresh lease of the pool's authority, waiting for it at most until
 * `deadline_ms`. A window taken is never handed out again. SEQB_UNAVAILABLE if
 * the authority does not answer, with its reason; SEQB_NO_MEMORY; any other:
 * the authority is well and refuses to lease windows for this counter, so that
 * the slot `is_refused`. The slot's source is made by the first call.
 */
enum seqb_status window_take(struct slot *slot, int64_t floor,
                             int64_t deadline_ms, int64_t *out,
                             struct seqb_error *err);

/* When the workers have stopped. Takes NULL. */
void window_source_free(struct window_source *source);

/* With the pool's lock held: whether a window is being leased for the slot. */
bool window_is_asked(const struct slot *slot);

/* Forgets what was leased for the slot: it is of another stamp from now on.
 * While nothing is asked. */
void window_renew(struct slot *slot);
