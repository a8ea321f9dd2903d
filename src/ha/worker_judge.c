/* SPDX-License-Identifier: Apache-2.0 */
/* The call under way, as others see it while it hangs. */
#include "ha/slot.h"
#include "ha/worker.h"
#include "platform/text.h"

void worker_call_begins(struct worker *worker, int64_t now_ms)
{
    atomic_store_explicit(&worker->call_ms, now_ms, memory_order_relaxed);
    if (worker->timeout_ms > 0)
        watchdog_expect(worker->watchdog, now_ms + worker->timeout_ms);
}

void worker_call_ends(struct worker *worker)
{
    atomic_store_explicit(&worker->call_ms, -1, memory_order_relaxed);
}

/* Has what the partition refuses tried again when it is time to. Returns when
 * to look again. */
static int64_t duty_retry(struct worker *worker, const struct worker_duty *duty,
                          int64_t now_ms)
{
    struct ha_pool *pool = duty->pool;
    int64_t next_ms = INT64_MAX;
    struct slot *slot = NULL;

    if (duty->member >= pool->pool.partitions)
        return next_ms;
    pthread_mutex_lock(&pool->lock);
    slot = slot_retry(pool, duty->member, now_ms, &next_ms);
    pthread_mutex_unlock(&pool->lock);
    if (slot != NULL)
        (void)worker_post(worker, &slot->job);
    return next_ms;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t worker_judge(struct worker *worker, int64_t now_ms)
{
    int64_t soonest_ms = INT64_MAX;

    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];
        struct ha_pool *pool = duty->pool;
        struct pool_change change;
        char reason[sizeof pool->pool.member[0].reason];
        int64_t call_ms;
        int64_t next_ms;

        pthread_mutex_lock(&pool->lock);
        /* With the lock: a call whose end was noted is not judged again. */
        call_ms = atomic_load_explicit(&worker->call_ms, memory_order_relaxed);
        change =
            pool_judge(&pool->pool, duty->member, call_ms, now_ms, &next_ms);
        (void)text_copy(reason, sizeof reason,
                        pool->pool.member[duty->member].reason);
        pthread_mutex_unlock(&pool->lock);
        worker_tell(worker, duty, change, reason);
        soonest_ms = min_of(soonest_ms, next_ms);
        soonest_ms = min_of(soonest_ms, duty_retry(worker, duty, now_ms));
    }
    return soonest_ms;
}
