/* SPDX-License-Identifier: Apache-2.0 */
/* Which member is asked, probed or looked at next. */
#include "ha/policy/round_robin.h"

#include "platform/minmax.h"

#define CREDIT_FULL  256 /* a whole turn */
#define CREDIT_FIRST 32  /* of a turn, when ramping begins */

/* --- turns --- */

/* While the member ramps, its share of turns grows from CREDIT_FIRST to all. */
static bool takes_share(struct pool_member *member, int64_t now_ms)
{
    const int64_t past_ms = now_ms - member->since_ms;

    if (member->state != SEQB_PARTITION_RAMPING || past_ms >= POOL_RAMP_MS)
        return true;
    member->credit += CREDIT_FIRST + (int32_t)((CREDIT_FULL - CREDIT_FIRST) *
                                               past_ms / POOL_RAMP_MS);
    if (member->credit < CREDIT_FULL)
        return false;
    member->credit -= CREDIT_FULL;
    return true;
}

int32_t pool_pick(struct pool *pool, uint64_t skip, bool all, int64_t now_ms)
{
    int32_t passed = -1;

    for (int32_t step = 0; step < pool->partitions; step++) {
        const int32_t i = (pool->next + step) & (pool->partitions - 1);

        if (!pool_may_pick(pool, skip, i))
            continue;
        if (all || takes_share(&pool->member[i], now_ms)) {
            pool->next = i + 1;
            return i;
        }
        if (passed < 0)
            passed = i;
    }
    if (passed >= 0)
        pool->next = passed + 1;
    return passed;
}

/* --- probes --- */

int64_t pool_probe_at(const struct pool *pool, int32_t i)
{
    const struct pool_member *member = &pool->member[i];

    return member->state == SEQB_PARTITION_QUARANTINED ? member->next_probe_ms
                                                       : INT64_MAX;
}

void pool_hold(struct pool *pool, int32_t i, int64_t until_ms)
{
    struct pool_member *member = &pool->member[i];

    member->next_probe_ms = max_of(member->next_probe_ms, until_ms);
    member->next_look_ms = max_of(member->next_look_ms, until_ms);
}

void pool_probe_begins(struct pool *pool, int32_t i, int64_t now_ms)
{
    pool->member[i].state = SEQB_PARTITION_PROBING;
    pool->member[i].last_probe_ms = now_ms;
}

int64_t pool_look_at(const struct pool *pool, int32_t i, int64_t answered_ms)
{
    const int64_t interval_ms = pool->options->check_interval_ms;

    if (pool_is_usable(pool, i) && pool->member[i].unanswered > 0)
        return pool->member[i].next_look_ms;
    if (interval_ms == 0 || !pool_is_usable(pool, i))
        return INT64_MAX;
    return max_of(answered_ms + interval_ms, pool->member[i].next_look_ms);
}

/* Between two reservations of a store that does not answer: it doubles with
 * each one that is not answered either, since those that are answered too late
 * are gaps. */
static int64_t unanswered_rest_ms(const struct pool *pool, int32_t i)
{
    const int64_t more =
        max_of(pool->member[i].unanswered - pool->options->slow_count, 0);

    return min_of((int64_t)POOL_FORCE_REST_MS << min_of(more, 8),
                  POOL_UNANSWERED_REST_MS);
}

void pool_look_begins(struct pool *pool, int32_t i, int64_t now_ms)
{
    pool->member[i].next_look_ms =
        now_ms + (pool->member[i].unanswered > 0
                      ? unanswered_rest_ms(pool, i)
                      : pool->options->check_interval_ms);
}

static bool may_be_forced(const struct pool_member *member, int64_t now_ms)
{
    return member->state == SEQB_PARTITION_QUARANTINED &&
           member->next_probe_ms > now_ms &&
           now_ms - member->last_probe_ms >= POOL_FORCE_REST_MS;
}

int32_t pool_force_probe(struct pool *pool, uint64_t skip, int64_t now_ms)
{
    int32_t oldest = -1;

    if (pool->options->rescue == HA_RESCUE_FIXED || pool_has_usable(pool, skip))
        return -1;
    for (int32_t i = 0; i < pool->members; i++) {
        if (may_be_forced(&pool->member[i], now_ms) &&
            (oldest < 0 || pool->member[i].last_probe_ms <
                               pool->member[oldest].last_probe_ms))
            oldest = i;
    }
    if (oldest < 0)
        return -1;
    pool->member[oldest].next_probe_ms = now_ms;
    pool->member[oldest].is_forced = true;
    return oldest;
}
