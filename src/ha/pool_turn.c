/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is to be asked, and to be probed. */
#include "ha/pool_turn.h"

#define CREDIT_FULL  256 /* a whole turn */
#define CREDIT_FIRST 32  /* of a turn, when ramping begins */

#define PATIENCE_MIN_MS 2

/* --- who may be asked --- */

bool pool_is_usable(const struct pool *pool, int32_t i)
{
    return pool_state_is_usable(pool->member[i].state);
}

static bool may_pick(const struct pool *pool, uint64_t skip, int32_t i)
{
    return pool_is_usable(pool, i) && (skip >> i & 1) == 0;
}

bool pool_has_usable(const struct pool *pool, uint64_t skip)
{
    for (int32_t i = 0; i < pool->partitions; i++) {
        if (may_pick(pool, skip, i))
            return true;
    }
    return false;
}

/* Grows from the first share to the whole while it ramps. */
static bool takes_turn(struct pool_member *member, int64_t now_ms)
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
        const int32_t i = (pool->turn + step) & (pool->partitions - 1);

        if (!may_pick(pool, skip, i))
            continue;
        if (all || takes_turn(&pool->member[i], now_ms)) {
            pool->turn = i + 1;
            return i;
        }
        if (passed < 0)
            passed = i;
    }
    if (passed >= 0)
        pool->turn = passed + 1;
    return passed;
}

int64_t pool_patience_ms(const struct pool *pool, int32_t i)
{
    const int64_t usual_ms = 3 * pool->member[i].latency_us / 1000;

    return usual_ms > PATIENCE_MIN_MS ? usual_ms : PATIENCE_MIN_MS;
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

    if (member->next_probe_ms < until_ms)
        member->next_probe_ms = until_ms;
}

void pool_probe_begins(struct pool *pool, int32_t i, int64_t now_ms)
{
    pool->member[i].state = SEQB_PARTITION_PROBING;
    pool->member[i].last_probe_ms = now_ms;
}

bool pool_hasten(struct pool *pool, int32_t i, int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];

    if (member->state != SEQB_PARTITION_QUARANTINED)
        return false;
    member->next_probe_ms = now_ms;
    member->is_urged = true;
    return true;
}

static bool may_be_urged(const struct pool_member *member, int64_t now_ms)
{
    return member->state == SEQB_PARTITION_QUARANTINED &&
           member->next_probe_ms > now_ms &&
           now_ms - member->last_probe_ms >= POOL_URGE_REST_MS;
}

int32_t pool_urge(struct pool *pool, uint64_t skip, int64_t now_ms)
{
    int32_t oldest = -1;

    if (pool->options->rescue == HA_RESCUE_FIXED || pool_has_usable(pool, skip))
        return -1;
    for (int32_t i = 0; i < pool->members; i++) {
        if (may_be_urged(&pool->member[i], now_ms) &&
            (oldest < 0 || pool->member[i].last_probe_ms <
                               pool->member[oldest].last_probe_ms))
            oldest = i;
    }
    if (oldest < 0)
        return -1;
    pool->member[oldest].next_probe_ms = now_ms;
    pool->member[oldest].is_urged = true;
    return oldest;
}
