/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's guarded clock at work: the guard with a lock around it, the
 * clock that it reads, and the thread that keeps what it has issued in the
 * state directory, and in a store if one is named, before it is issued.
 * Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#include "ha/ha.h"
#include "queue/queue.h"

struct guarded_clock;

/*
 * Reads what was kept, asks the stores for their clocks, and starts the
 * thread. Waits for the store that keeps it, and for other processes of this
 * broker, until `until_ms` (clock_now_ms). The options and the ha must outlive
 * it. `*out` is for guarded_clock_close, touched only on success.
 *
 * SEQB_CLOCK: the clock is not set (before 2020), farther ahead of the stores'
 * clocks than max_ahead, or farther behind what was kept than max_rollback:
 * the text says by how much and what to do. SEQB_CORRUPT: the state file is
 * damaged, or another broker's; SEQB_STATE_DIR; SEQB_UNAVAILABLE: the store
 * that keeps it does not answer, or the file is locked; SEQB_UNCERTAIN: the
 * file was written, perhaps not for good; SEQB_NO_MEMORY.
 */
enum seqb_status guarded_clock_open(const struct queue_clock_options *options,
                                    struct ha *ha, int64_t until_ms,
                                    struct guarded_clock **out,
                                    struct seqb_error *err);

/* Ends the thread, once; may be called while others still use the clock, which
 * then keeps nothing any more. Takes NULL. */
void guarded_clock_stop(struct guarded_clock *clock);
void guarded_clock_close(struct guarded_clock *clock); /* takes NULL */

/* The time for stamps, ms since 1970. Any thread. SEQB_AGAIN: the clock is
 * behind, and on_rollback is to wait; SEQB_CLOCK. */
enum seqb_status guarded_clock_now(struct guarded_clock *clock, int64_t *out,
                                   struct seqb_error *err);

/*
 * Asks that stamps up to one that begins at `begin_ms` may be issued; does not
 * wait. True if that is so already. A begin that is farther ahead than
 * max_rollback is not asked for yet: a start before it would be refused.
 */
bool guarded_clock_expect(struct guarded_clock *clock, int64_t begin_ms);

/*
 * The stamp that begins at `begin_ms` is issued from now on: SEQB_OK once that
 * is kept; waits for it until `until_ms` (clock_now_ms; a moment that is past:
 * does not wait), then SEQB_AGAIN; SEQB_CLOCK if it cannot be kept, with the
 * reason. SEQB_CLOSED after guarded_clock_stop.
 */
enum seqb_status guarded_clock_issue(struct guarded_clock *clock,
                                     int64_t begin_ms, int64_t until_ms,
                                     struct seqb_error *err);

void guarded_clock_status(struct guarded_clock *clock,
                          struct seqb_clock_status *out);
