/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows for a windowed slot: each leased once, ever, from the pool's
 * authority by an ordinary reservation of its worker, one spare ahead, so that
 * the authority may be down for a while.
 */
#pragma once

#include "ha/state.h"

/* How many windows a changed authority is raised by: leases are rare, so that
 * this covers more lost ones than a store can forget in practice. */
#define WINDOW_GAP 65536

/* A source for `slot`, leasing through the pool's authority. Free it when the
 * workers have stopped. NULL when out of memory. */
struct window_source *window_source_new(struct slot *slot);
void window_source_free(struct window_source *source);

/*
 * Takes a window above `floor`: the spare, else a fresh lease, waiting for it
 * at most until `deadline_ms`. A window taken is never handed out again.
 * SEQB_UNAVAILABLE if the authority does not answer, with its reason.
 */
enum seqb_status window_take(struct window_source *source, int64_t floor,
                             int64_t deadline_ms, int64_t *out,
                             struct seqb_error *err);
