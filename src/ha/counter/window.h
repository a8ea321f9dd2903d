/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows for a windowed slot: each leased once, ever, from the pool's
 * authority or from one of its neighbours by an ordinary reservation of that
 * one's worker, one spare ahead, so that who leases may be down for a while.
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
 * Takes windows above `floor` for the slot, on its worker's thread: spares,
 * else a fresh lease of the pool's authority, waiting for it at most until
 * `deadline_ms`. As many as hold what the slot wants, whole, and one more, at
 * most; one at least. A window taken is never handed out again.
 * SEQB_UNAVAILABLE if the authority does not answer, with its reason;
 * SEQB_AGAIN: once the other partitions were asked, see slot_waits;
 * SEQB_NO_MEMORY; any other: the authority is well and refuses to lease windows
 * for this counter, so that the slot `is_refused`. The slot's source is made by
 * the first call.
 */
enum seqb_status window_take(struct slot *slot, int64_t floor,
                             int64_t deadline_ms, struct windows *out,
                             struct seqb_error *err);

/* The same in a pool with neighbours, but for the wait, since the worker may
 * have to lease for others meanwhile: if there is no spare, `out` has none,
 * and the slot is posted once more when there is one, or is
 * answered by another thread. It is not the caller's any more. */

/*
 * Whether the slot's cell has nothing of what is wanted, as far as this broker
 * knows, or next to nothing where windows are granted whole: it counts in a
 * window of this broker, which was granted all of it so far. Another broker may
 * have put its window there since then: the store refuses one that is not
 * above that, and the cell is asked. On its worker's thread.
 */
bool window_is_spent(const struct slot *slot);

/* What the cell is asked for: no more than is left in such a window. A SQL
 * store grants a part of what is wanted in three round trips, the whole in one.
 */
int64_t window_wanted(const struct slot *slot);

/* On the lessor's thread: the slot of a lease is about to be reserved for, as
 * that counter. */
void window_lease_begins(struct slot *slot, const char *counter);

/* There, of neighbours: the nonce of the term in which the lessor must be. */
const char *window_lease_nonce(const struct slot *slot);

/* When the workers have stopped. Takes NULL. */
void window_source_free(struct window_source *source);

/* With the pool's lock held: whether a window is being leased for the slot. */
bool window_is_asked(const struct slot *slot);

/* With the pool's lock held: forgets what was leased for the slot, which is of
 * another stamp from now on. While nothing is asked. */
void window_renew(struct slot *slot);
