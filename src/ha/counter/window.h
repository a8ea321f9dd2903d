/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows for a windowed slot. Each window is leased once, ever, from the
 * pool's authority or from one of the neighbours, by an ordinary reservation of
 * that store's worker. Spare windows are leased ahead, so that the lessor may
 * be down for a while.
 */
#pragma once

#include "ha/counter/counter.h"

/* Windows of one lease, each `step` above the one before. */
struct windows {
    int64_t first;
    int64_t step;
    int64_t count;
};

static inline int64_t windows_last(const struct windows *windows)
{
    return windows->first + (windows->count - 1) * windows->step;
}

/*
 * Takes windows above `floor` for the slot, on its worker's thread: spare ones,
 * or those of a new lease from the pool's authority, for which it waits until
 * `deadline_ms` at most. It takes at least one window, and at most as many as
 * the slot wants whole, plus one. A window is never handed out twice.
 * SEQB_UNAVAILABLE, with the reason, if the authority does not answer;
 * SEQB_AGAIN: try when the other partitions were asked, see slot_waits;
 * SEQB_NO_MEMORY; any other status: the authority is well and refuses to lease
 * windows for this counter, so that the slot `is_refused`. The first call makes
 * the slot's source.
 *
 * In a pool with neighbours it does not wait, since the worker may have to
 * lease for others meanwhile. If there is no spare window, `out` is empty. The
 * slot is then posted again when there is one, or another thread answers it:
 * the caller no longer owns it.
 */
enum seqb_status window_take(struct slot *slot, int64_t floor,
                             int64_t deadline_ms, struct windows *out,
                             struct seqb_error *err);

/*
 * Whether the slot's cell has nothing left of what is wanted, as far as this
 * broker knows; where windows are granted whole, next to nothing counts as
 * nothing. The cell counts in a window of this broker, which was granted all of
 * it so far. Another broker may have installed its window since then. Then the
 * store refuses a window that is not above the installed one, and the cell is
 * asked. On the slot's worker's thread.
 */
bool window_is_spent(const struct slot *slot);

/* How much to ask the cell for: no more than is left in this broker's window. A
 * SQL store needs three round trips to grant a part of what is wanted, but one
 * for the whole. */
int64_t window_wanted(const struct slot *slot);

/* On the lessor's thread: the slot of a lease is about to be reserved for,
 * under the name `counter`. */
void window_lease_begins(struct slot *slot, const char *counter);

/* On the lessor's thread, in a pool with neighbours: the nonce of the term that
 * the lessor must be in. */
const char *window_lease_nonce(const struct slot *slot);

/* Call it after the workers have stopped. NULL is allowed. */
void window_source_free(struct window_source *source);

/* With the pool's lock held: whether a window is being leased for the slot. */
bool window_is_asked(const struct slot *slot);

/* With the pool's lock held, and no lease under way: drops the slot's windows,
 * since the slot belongs to another stamp from now on. */
void window_renew(struct slot *slot);
