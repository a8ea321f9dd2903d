/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's guarded clock: the guard with a lock around it, the clock that
 * it reads, and a thread. Before a time is issued, the thread keeps it in the
 * state directory, and in a store if one is configured. Private to this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <seqbroker/admin.h>

#include "ha/ha.h"
#include "queue/queue.h"

struct guarded_clock;

/*
 * Reads the time that was kept, reads the stores' clocks, and starts the
 * thread. Waits until `until_ms` (clock_now_ms) for the store that keeps the
 * time, and for other processes of this broker. The options and the ha must
 * outlive the clock. `*out` is set only on success; free it with
 * guarded_clock_close.
 *
 * SEQB_CLOCK: the clock is not set (before 2020), or is ahead of the stores'
 * clocks by more than max_ahead, or is behind the time that was kept by more
 * than max_rollback: the text says by how much, and what to do. SEQB_CORRUPT:
 * the state file is damaged, or belongs to another broker; SEQB_STATE_DIR;
 * SEQB_UNAVAILABLE: the store that keeps the time does not answer, or the file
 * is locked; SEQB_UNCERTAIN: the file was written, but may not be durable;
 * SEQB_NO_MEMORY.
 */
enum seqb_status guarded_clock_open(const struct queue_clock_options *options,
                                    struct ha *ha, int64_t until_ms,
                                    struct guarded_clock **out,
                                    struct seqb_error *err);

/* Ends the thread, once. Other threads may still use the clock, which then
 * keeps nothing more. NULL is allowed. */
void guarded_clock_stop(struct guarded_clock *clock);
void guarded_clock_close(struct guarded_clock *clock); /* NULL is allowed */

/* The time for stamps, in ms since 1970. Any thread. SEQB_AGAIN: the clock is
 * behind, and on_rollback says to wait; SEQB_CLOCK. */
enum seqb_status guarded_clock_now(struct guarded_clock *clock, int64_t *out,
                                   struct seqb_error *err);

/*
 * Asks for permission to issue stamps up to the one that begins at `begin_ms`,
 * without waiting. True if they may be issued already. Does not ask yet for a
 * begin that is farther ahead than max_rollback, because a start before that
 * time would be refused.
 */
bool guarded_clock_expect(struct guarded_clock *clock, int64_t begin_ms);

/*
 * Call it before the stamp that begins at `begin_ms` is issued. SEQB_OK once
 * that time is kept. Waits for that until `until_ms` (clock_now_ms; a time in
 * the past means not to wait), then returns SEQB_AGAIN. SEQB_CLOCK, with the
 * reason, if the time cannot be kept. SEQB_CLOSED after guarded_clock_stop.
 */
enum seqb_status guarded_clock_issue(struct guarded_clock *clock,
                                     int64_t begin_ms, int64_t until_ms,
                                     struct seqb_error *err);

/* Fills all but the effect. Returns whether it gives the time at that moment.
 */
bool guarded_clock_status(struct guarded_clock *clock,
                          struct seqb_clock_status *out);
