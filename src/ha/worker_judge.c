/* SPDX-License-Identifier: Apache-2.0 */
/* The call under way, as others see it while it hangs. */
#include "ha/worker.h"

#include "platform/text.h"

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
        call_ms = atomic_load_explicit(&worker->connection.call_ms,
                                       memory_order_relaxed);
        change =
            pool_judge(&pool->pool, duty->member, call_ms, now_ms, &next_ms);
        (void)text_copy(reason, sizeof reason,
                        pool->pool.member[duty->member].reason);
        pthread_mutex_unlock(&pool->lock);
        worker_tell(worker, duty, change, reason);
        if (next_ms < soonest_ms)
            soonest_ms = next_ms;
    }
    return soonest_ms;
}
