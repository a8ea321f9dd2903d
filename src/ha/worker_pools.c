/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a worker's partitions: how its calls change them, the one that
 * hangs among them, and whether they let it be asked. */
#include "ha/worker_pools.h"

#include <assert.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

void worker_tell(const struct worker *worker, const struct worker_duty *duty,
                 struct pool_change change, const char *reason)
{
    const struct seqb_event event = {
        .kind = SEQB_EVENT_STATE,
        .from = change.from,
        .to = change.to,
        .pool = duty->pool->options->layout.name,
        .partition =
            duty->member < duty->pool->pool.partitions ? duty->member : -1,
        .backend = worker_name(worker),
        .reason = reason,
    };

    if (change.from == change.to)
        return;
    events_tell(worker->events, &event);
    watchdog_expect(worker->connection.watchdog,
                    0); /* time may change it again */
}

void worker_note(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us)
{
    const int64_t now_ms = clock_now_ms();

    if (why == NULL)
        atomic_store_explicit(&worker->well_ms, now_ms, memory_order_relaxed);
    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];
        struct ha_pool *pool = duty->pool;
        struct pool_change change;
        char reason[sizeof pool->pool.member[0].reason];

        pthread_mutex_lock(pool->lock);
        change = why == NULL ? pool_succeeded(&pool->pool, duty->member,
                                              elapsed_us, now_ms)
                             : pool_failed(&pool->pool, duty->member, why,
                                           elapsed_us, now_ms);
        (void)text_copy(reason, sizeof reason,
                        pool->pool.member[duty->member].reason);
        pthread_mutex_unlock(pool->lock);
        worker_tell(worker, duty, change, reason);
    }
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
    pthread_mutex_lock(pool->lock);
    slot = slot_retry(pool, duty->member, now_ms, &next_ms);
    if (slot != NULL)
        (void)worker_push(worker, &slot->job);
    pthread_mutex_unlock(pool->lock);
    return next_ms;
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

        pthread_mutex_lock(pool->lock);
        /* With the lock: a call whose end was noted is not judged again. */
        call_ms = atomic_load_explicit(&worker->connection.call_ms,
                                       memory_order_relaxed);
        change =
            pool_judge(&pool->pool, duty->member, call_ms, now_ms, &next_ms);
        (void)text_copy(reason, sizeof reason,
                        pool->pool.member[duty->member].reason);
        pthread_mutex_unlock(pool->lock);
        worker_tell(worker, duty, change, reason);
        soonest_ms = min_of(soonest_ms, next_ms);
        soonest_ms = min_of(soonest_ms, duty_retry(worker, duty, now_ms));
    }
    return soonest_ms;
}

void worker_show(struct worker *worker)
{
    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];

        pthread_mutex_lock(duty->pool->lock);
        pool_connected(&duty->pool->pool, duty->member,
                       worker->connection.backend);
        pthread_mutex_unlock(duty->pool->lock);
    }
}

/* The worker's part in a pool, of which it has one. */
static const struct worker_duty *worker_duty_in(const struct worker *worker,
                                                const struct ha_pool *pool)
{
    const struct worker_duty *duty = worker->duties;

    while (duty->pool != pool) {
        duty++;
        assert(duty < worker->duties + worker->duty_count);
    }
    return duty;
}

bool worker_may_work(struct worker *worker, const struct ha_pool *of,
                     struct seqb_error *err)
{
    const struct worker_duty *duty = worker_duty_in(worker, of);
    struct ha_pool *pool = duty->pool;
    const struct pool_member *member = &pool->pool.member[duty->member];
    bool may;

    pthread_mutex_lock(pool->lock);
    may = pool_is_usable(&pool->pool, duty->member) ||
          member->state == SEQB_PARTITION_PROBING;
    if (!may)
        (void)error_set(err, SEQB_UNAVAILABLE, "%s: %s",
                        seqb_partition_state_name(member->state),
                        member->reason);
    pthread_mutex_unlock(pool->lock);
    return may;
}

bool worker_is_usable(struct worker *worker)
{
    bool is_usable = false;

    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];

        pthread_mutex_lock(duty->pool->lock);
        is_usable |= pool_is_usable(&duty->pool->pool, duty->member);
        pthread_mutex_unlock(duty->pool->lock);
    }
    return is_usable;
}
