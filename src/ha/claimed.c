/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the claims of a store that may have forgotten them. */
#include "ha/claimed.h"

#include "platform/clock.h"

/* A cell may have been put there by others in the very window that this broker
 * knows, and a store may evict a claim alone. So claims are also compared after
 * this time. */
#define COMPARE_MS 1000

/* Whether the cell counts in the window of this broker's last grant. */
static bool is_known(const struct slot *slot, const struct seqb_request *reply)
{
    return reply->status == SEQB_OK && reply->window == slot->mark.window;
}

static bool pool_meets_window(const struct worker *worker, size_t n,
                              const struct ha_pool *pool)
{
    for (size_t i = 0; i < n; i++) {
        const struct slot *slot = worker->batch[i];

        if (slot_pool(slot) == pool && !is_known(slot, &worker->requests[i]))
            return true;
    }
    return false;
}

/* Compares the claims of the pools of the batch, or with `n` 0 of all pools. */
static enum seqb_status compare(struct worker *worker, size_t n,
                                struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < worker->membership_count && status == SEQB_OK; i++) {
        const struct ha_pool *pool = worker->memberships[i].pool;

        if (n == 0 || pool_meets_window(worker, n, pool))
            status = claim_layout(&worker->connection, &pool->options->layout,
                                  &pool->claim, err);
    }
    return status;
}

static enum seqb_status compare_all(struct worker *worker, int64_t now_ms,
                                    struct seqb_error *err)
{
    worker->compared_ms = now_ms;
    return compare(worker, 0, err);
}

enum seqb_status claimed_compare(struct worker *worker, size_t n,
                                 struct seqb_error *err)
{
    const int64_t now_ms = clock_now_ms();

    if (worker_guarantee(worker) == SEQB_DIRECT)
        return SEQB_OK;
    if (now_ms - worker->compared_ms >= COMPARE_MS)
        return compare_all(worker, now_ms, err);
    return compare(worker, n, err);
}

enum seqb_status claimed_look(struct worker *worker, struct seqb_error *err)
{
    if (worker_guarantee(worker) == SEQB_DIRECT)
        return claim_look(&worker->connection, err);
    return compare_all(worker, clock_now_ms(), err);
}
