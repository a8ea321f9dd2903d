/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a worker's backend may be asked, or connected to, just now. */
#include "ha/worker.h"

#include <assert.h>

#include "platform/clock.h"
#include "platform/error.h"

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

    pthread_mutex_lock(&pool->lock);
    may = pool_is_usable(&pool->pool, duty->member) ||
          member->state == SEQB_PARTITION_PROBING;
    if (!may)
        (void)error_set(err, SEQB_UNAVAILABLE, "%s: %s",
                        seqb_partition_state_name(member->state),
                        member->reason);
    pthread_mutex_unlock(&pool->lock);
    return may;
}

bool worker_may_connect(struct worker *worker, struct seqb_error *err)
{
    if (worker->is_probing ||
        connection_enter(&worker->connection, clock_now_ms()) == 0)
        return true;
    (void)error_set(err, SEQB_UNAVAILABLE,
                    "its server is down, and was tried less than %d ms ago",
                    ENDPOINT_ATTEMPT_MS);
    return false;
}

static bool worker_is_usable(struct worker *worker)
{
    bool is_usable = false;

    for (size_t i = 0; i < worker->duty_count; i++) {
        const struct worker_duty *duty = &worker->duties[i];

        pthread_mutex_lock(&duty->pool->lock);
        is_usable |= pool_is_usable(&duty->pool->pool, duty->member);
        pthread_mutex_unlock(&duty->pool->lock);
    }
    return is_usable;
}

/* A call that passed its deadline has cost the connection, but no quarantine
 * yet: whether the server is there is found out now, not by the next who
 * asks. */
void worker_reconnect(struct worker *worker)
{
    struct seqb_error err;

    if (!connection_is_open(&worker->connection) && worker_is_usable(worker) &&
        worker_may_connect(worker, &err))
        (void)worker_connect(worker, &err);
}
