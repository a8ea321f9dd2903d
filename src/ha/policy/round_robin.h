/* SPDX-License-Identifier: Apache-2.0 */
/* Whose turn it is to be asked, to be probed and to be looked at, and what an
 * operator may do. Pure, as pool.h. */
#pragma once

#include "ha/policy/pool.h"
#include "platform/minmax.h"

#define POOL_PATIENCE_MIN_MS 2

static inline bool pool_is_usable(const struct pool *pool, int32_t i)
{
    return pool_state_is_usable(pool->member[i].state);
}

/* Whether any partition is usable and not in `skip` (bit i: partition i). */
bool pool_has_usable(const struct pool *pool, uint64_t skip);

/*
 * The next usable partition in turn that is not in `skip`, or -1. One that
 * ramps passes on most of its turns, unless there is no other or `all` are
 * to be asked.
 */
int32_t pool_pick(struct pool *pool, uint64_t skip, bool all, int64_t now_ms);

/* How long a call that usually takes so long may take before another partition
 * is asked, too: three times as long. */
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
 * When the member's next look is due: check_interval after its store answered
 * last, whoever had asked it (`answered_ms`), and after the last look;
 * INT64_MAX: none is. One that may not be asked is probed instead, or left
 * alone.
 */
int64_t pool_look_at(const struct pool *pool, int32_t i, int64_t answered_ms);

void pool_look_begins(struct pool *pool, int32_t i, int64_t now_ms);

/* No probe and no look of the member before then. */
void pool_hold(struct pool *pool, int32_t i, int64_t until_ms);

void pool_probe_begins(struct pool *pool, int32_t i, int64_t now_ms);

/*
 * Somebody waits and no partition outside `skip` is usable: of those that
 * rest, an authority among them, the least recently probed is probed now,
 * though not more often than every POOL_FORCE_REST_MS. Returns it, or -1 if
 * none may be.
 */
int32_t pool_force_probe(struct pool *pool, uint64_t skip, int64_t now_ms);

/* SEQB_INVALID, with the reason, if that makes no sense in its state. */
enum seqb_status pool_command(struct pool *pool, int32_t i,
                              enum seqb_order order, int64_t now_ms,
                              struct pool_change *change,
                              struct seqb_error *err);
