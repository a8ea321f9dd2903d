/* SPDX-License-Identifier: Apache-2.0 */
/* Which member is asked, probed or looked at next. Pure, as pool.h. */
#pragma once

#include "ha/policy/pool.h"
#include "platform/minmax.h"

#define POOL_PATIENCE_MIN_MS 2

/* Whether the member does not answer: as many time-outs were passed as take out
 * a partition that is not the last one, and no reservation was answered since.
 * An end of time-outs is enough after a while. */
static inline bool pool_is_stuck(const struct pool *pool, int32_t i)
{
    return pool->member[i].is_stuck;
}

/* Whether a caller may expect an answer of that member. */
static inline bool pool_may_answer(const struct pool *pool, int32_t i)
{
    return pool_is_usable(pool, i) && !pool_is_stuck(pool, i);
}

/*
 * The next usable partition in turn that is not in `skip`, or -1. A ramping
 * partition passes on most of its turns, unless `all` are to be asked or no
 * other one is usable.
 */
int32_t pool_pick(struct pool *pool, uint64_t skip, bool all, int64_t now_ms);

/* How long a call that usually takes `usual_us` may take before another
 * partition is asked, too: three times as long, and POOL_PATIENCE_MIN_MS at
 * least. */
static inline int64_t pool_patience_us(int64_t usual_us)
{
    return max_of(3 * usual_us, (int64_t)POOL_PATIENCE_MIN_MS * 1000);
}

static inline int64_t pool_patience_ms(const struct pool *pool, int32_t i)
{
    return pool_patience_us(pool->member[i].latency_us) / 1000;
}

/* When the member's next probe is due; INT64_MAX if none is. */
int64_t pool_probe_at(const struct pool *pool, int32_t i);

/*
 * When the member's next look is due: check_interval after `answered_ms`, when
 * its store last answered any caller, and after the last look. After a time-out
 * it is due sooner, until a reservation is answered. INT64_MAX: none is due,
 * because looks are off or the member may not be asked.
 */
int64_t pool_look_at(const struct pool *pool, int32_t i, int64_t answered_ms);

void pool_look_begins(struct pool *pool, int32_t i, int64_t now_ms);

/* Allows no probe and no look of the member before `until_ms`. */
void pool_hold(struct pool *pool, int32_t i, int64_t until_ms);

void pool_probe_begins(struct pool *pool, int32_t i, int64_t now_ms);

/*
 * A caller waits and no partition outside `skip` is usable. Makes a probe due
 * now of the quarantined member, authority included, that was probed the
 * longest time ago; of each member no more often than every POOL_FORCE_REST_MS.
 * Returns the member, or -1 if none may be probed or rescue is FIXED.
 */
int32_t pool_force_probe(struct pool *pool, uint64_t skip, int64_t now_ms);
