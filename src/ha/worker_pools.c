/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a worker's partitions: how its calls change them, including a
 * call that hangs, and whether they allow the worker to be asked. */
#include "ha/worker_pools.h"

#include <assert.h>

#include "platform/clock.h"
#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

void worker_report(const struct worker *worker,
                   const struct worker_membership *membership,
                   struct pool_change change, bool is_ordered,
                   const char *reason)
{
    const struct seqb_event event = {
        .kind = SEQB_EVENT_STATE,
        .from = change.from,
        .to = change.to,
        .pool = membership->pool->options->layout.name,
        .partition = membership->member < membership->pool->pool.partitions
                         ? membership->member
                         : -1,
        .backend = worker_name(worker),
        .reason = reason,
    };

    if (!pool_change_is_news(change))
        return;
    if (is_ordered)
        events_emit_info(worker->events, &event);
    else
        events_emit(worker->events, &event);
    watchdog_expect(worker->connection.watchdog,
                    0); /* time may change it again */
}

/* With the pool's lock held. */
static struct pool_change note_in_pool(const struct worker *worker,
                                       const struct worker_membership *member,
                                       const struct seqb_error *why,
                                       int64_t elapsed_us, int64_t now_ms)
{
    struct pool *pool = &member->pool->pool;

    if (why != NULL)
        return pool_failed(pool, member->member, why, elapsed_us, now_ms);
    if (worker->is_looking)
        return pool_looked(pool, member->member, elapsed_us, now_ms);
    return pool_succeeded(pool, member->member, elapsed_us, now_ms);
}

void worker_note(struct worker *worker, const struct seqb_error *why,
                 int64_t elapsed_us)
{
    const int64_t now_ms = clock_now_ms();

    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct worker_membership *membership = &worker->memberships[i];
        struct ha_pool *pool = membership->pool;
        struct pool_change change;
        char reason[sizeof pool->pool.member[0].reason];

        pthread_mutex_lock(pool->lock);
        change = note_in_pool(worker, membership, why, elapsed_us, now_ms);
        (void)text_copy(reason, sizeof reason,
                        pool->pool.member[membership->member].reason);
        pthread_mutex_unlock(pool->lock);
        worker_report(worker, membership, change, false, reason);
    }
}

/* Retries what the partition refuses, if a retry is due. Returns when to call
 * it again. */
static int64_t membership_retry(struct worker *worker,
                                const struct worker_membership *membership,
                                int64_t now_ms)
{
    struct ha_pool *pool = membership->pool;
    int64_t next_ms = INT64_MAX;
    struct slot *slot = NULL;

    if (membership->member >= pool->pool.partitions)
        return next_ms;
    pthread_mutex_lock(pool->lock);
    slot = slot_retry(pool, membership->member, now_ms, &next_ms);
    if (slot != NULL)
        (void)worker_push(worker, &slot->job);
    pthread_mutex_unlock(pool->lock);
    return next_ms;
}

int64_t worker_evaluate(struct worker *worker, int64_t now_ms)
{
    int64_t soonest_ms = INT64_MAX;

    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct worker_membership *membership = &worker->memberships[i];
        struct ha_pool *pool = membership->pool;
        struct pool_change change;
        char reason[sizeof pool->pool.member[0].reason];
        int64_t call_ms;
        int64_t next_ms;

        pthread_mutex_lock(pool->lock);
        /* With the lock held, so that a call whose end was noted is not counted
         * again. */
        call_ms = atomic_load_explicit(&worker->connection.call_ms,
                                       memory_order_relaxed);
        change = pool_evaluate(&pool->pool, membership->member, call_ms, now_ms,
                               &next_ms);
        (void)text_copy(reason, sizeof reason,
                        pool->pool.member[membership->member].reason);
        pthread_mutex_unlock(pool->lock);
        worker_report(worker, membership, change, false, reason);
        soonest_ms = min_of(soonest_ms, next_ms);
        soonest_ms =
            min_of(soonest_ms, membership_retry(worker, membership, now_ms));
    }
    return soonest_ms;
}

void worker_show(struct worker *worker)
{
    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct worker_membership *membership = &worker->memberships[i];

        pthread_mutex_lock(membership->pool->lock);
        pool_connected(&membership->pool->pool, membership->member,
                       worker->connection.backend);
        pthread_mutex_unlock(membership->pool->lock);
    }
}

/* The worker's membership in that pool. It must have one. */
static const struct worker_membership *
worker_membership_in(const struct worker *worker, const struct ha_pool *pool)
{
    const struct worker_membership *membership = worker->memberships;

    while (membership->pool != pool) {
        membership++;
        assert(membership < worker->memberships + worker->membership_count);
    }
    return membership;
}

bool worker_may_work(struct worker *worker, const struct ha_pool *of,
                     struct seqb_error *err)
{
    const struct worker_membership *membership =
        worker_membership_in(worker, of);
    struct ha_pool *pool = membership->pool;
    const struct pool_member *member = &pool->pool.member[membership->member];
    bool may;

    pthread_mutex_lock(pool->lock);
    may = pool_is_usable(&pool->pool, membership->member) ||
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

    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct worker_membership *membership = &worker->memberships[i];

        pthread_mutex_lock(membership->pool->lock);
        is_usable |=
            pool_is_usable(&membership->pool->pool, membership->member);
        pthread_mutex_unlock(membership->pool->lock);
    }
    return is_usable;
}

static bool membership_has_base(const struct worker *worker,
                                const struct worker_membership *membership)
{
    return membership->pool->authority == worker ||
           !pool_is_windowed(membership->pool, membership->member);
}

int64_t worker_base_gap(const struct worker *worker)
{
    int64_t gap = 0;

    for (size_t i = 0; i < worker->membership_count; i++) {
        const struct worker_membership *membership = &worker->memberships[i];
        struct ha_pool *pool = membership->pool;

        pthread_mutex_lock(pool->lock);
        if (membership_has_base(worker, membership))
            gap = max_of(gap, pool->failover_gap);
        pthread_mutex_unlock(pool->lock);
    }
    return gap;
}
