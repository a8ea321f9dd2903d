/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a pool's partitions. */
#include "ha/pool.h"

#include <assert.h>
#include <stdio.h>

#include "platform/error.h"
#include "platform/text.h"

const char *seqb_partition_state_name(enum seqb_partition_state state)
{
    static const char *const names[] = {
        [SEQB_PARTITION_STARTING] = "starting",
        [SEQB_PARTITION_UP] = "up",
        [SEQB_PARTITION_QUARANTINED] = "quarantined",
        [SEQB_PARTITION_PROBING] = "probing",
        [SEQB_PARTITION_REFUSED] = "refused",
    };

    return (size_t)state < sizeof names / sizeof names[0] ? names[state]
                                                          : "unknown";
}

static void member_enter(struct pool_member *member,
                         enum seqb_partition_state state, int64_t now_ms)
{
    member->state = state;
    member->since_ms = now_ms;
}

void pool_init(struct pool *pool, const struct ha_pool_options *options,
               int32_t members, int64_t now_ms)
{
    *pool = (struct pool){.options = options,
                          .partitions = 1 << options->bits,
                          .members = members};
    for (int32_t i = 0; i < members; i++)
        member_enter(&pool->member[i], SEQB_PARTITION_STARTING, now_ms);
}

void pool_connected(struct pool *pool, int32_t i,
                    const struct seqb_backend *backend)
{
    struct pool_member *member = &pool->member[i];

    (void)text_copy(member->server, sizeof member->server, backend->server);
    (void)text_copy(member->domain, sizeof member->domain, backend->domain);
    (void)text_copy(member->loss, sizeof member->loss, backend->loss);
}

static bool is_skipped(uint64_t skip, int32_t i)
{
    return (skip >> i & 1) != 0;
}

int32_t pool_pick(struct pool *pool, uint64_t skip)
{
    for (int32_t step = 0; step < pool->partitions; step++) {
        const int32_t i = (pool->turn + step) & (pool->partitions - 1);

        if (pool->member[i].state != SEQB_PARTITION_UP || is_skipped(skip, i))
            continue;
        pool->turn = i + 1;
        return i;
    }
    return -1;
}

bool pool_has_usable(const struct pool *pool, uint64_t skip)
{
    for (int32_t i = 0; i < pool->partitions; i++) {
        if (pool->member[i].state == SEQB_PARTITION_UP && !is_skipped(skip, i))
            return true;
    }
    return false;
}

static enum pool_event member_quarantine(struct pool *pool, int32_t i,
                                         const char *reason, int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];
    const int64_t longest = pool->options->rescue_after_ms;
    const bool is_probe = member->state == SEQB_PARTITION_PROBING;

    if (pool->options->rescue == HA_RESCUE_FIXED)
        member->rest_ms = longest;
    else
        member->rest_ms = is_probe ? member->rest_ms * 2 : POOL_FIRST_PROBE_MS;
    if (member->rest_ms > longest)
        member->rest_ms = longest;
    /* A failed probe prolongs the quarantine, it does not begin another. */
    if (is_probe)
        member->state = SEQB_PARTITION_QUARANTINED;
    else
        member_enter(member, SEQB_PARTITION_QUARANTINED, now_ms);
    member->next_probe_ms = now_ms + member->rest_ms;
    (void)text_copy(member->reason, sizeof member->reason, reason);
    return is_probe ? POOL_NOTHING : POOL_QUARANTINED;
}

static void member_average(struct pool_member *member, int64_t elapsed_us)
{
    if (elapsed_us < 1)
        elapsed_us = 1;
    member->latency_us = member->latency_us == 0
                             ? elapsed_us
                             : (member->latency_us * 7 + elapsed_us) / 8;
}

/* Counts a slow call; true when it was one too many within the span. */
static bool member_is_too_slow(struct pool *pool, int32_t i, int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];

    member->slow++;
    if (member->slow_in_span == 0 ||
        now_ms - member->slow_since_ms > pool->options->slow_window_ms) {
        member->slow_since_ms = now_ms;
        member->slow_in_span = 0;
    }
    member->slow_in_span++;
    return member->slow_in_span >= pool->options->slow_count;
}

static bool is_slow(const struct pool *pool, int64_t elapsed_us)
{
    return elapsed_us >= (int64_t)pool->options->timeout_ms * 1000;
}

/* Slowness never takes out the last usable partition, nor the authority: slow
 * numbers are better than none. */
static bool is_last_usable(const struct pool *pool, int32_t i)
{
    return i >= pool->partitions || !pool_has_usable(pool, (uint64_t)1 << i);
}

static enum pool_event member_slowed(struct pool *pool, int32_t i,
                                     int64_t elapsed_us, int64_t now_ms)
{
    char reason[128];

    if (!member_is_too_slow(pool, i, now_ms) || is_last_usable(pool, i))
        return POOL_NOTHING;
    pool->member[i].slow_in_span = 0;
    (void)text_format(reason, sizeof reason,
                      "slow: %d calls past %d ms, the last took %lld ms",
                      (int)pool->options->slow_count,
                      (int)pool->options->timeout_ms,
                      (long long)(elapsed_us / 1000));
    return member_quarantine(pool, i, reason, now_ms);
}

enum pool_event pool_succeeded(struct pool *pool, int32_t i, int64_t elapsed_us,
                               int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];

    assert(i < pool->members);
    if (member->state == SEQB_PARTITION_REFUSED)
        return POOL_NOTHING;
    member_average(member, elapsed_us);
    if (member->state != SEQB_PARTITION_UP) {
        member_enter(member, SEQB_PARTITION_UP, now_ms);
        member->reason[0] = '\0';
        return POOL_WENT_UP;
    }
    if (is_slow(pool, elapsed_us))
        return member_slowed(pool, i, elapsed_us, now_ms);
    return POOL_NOTHING;
}

static enum pool_event member_refuse(struct pool_member *member,
                                     const char *reason, int64_t now_ms)
{
    member_enter(member, SEQB_PARTITION_REFUSED, now_ms);
    (void)text_copy(member->reason, sizeof member->reason, reason);
    return POOL_REFUSED;
}

enum pool_event pool_failed(struct pool *pool, int32_t i,
                            const struct seqb_error *why, int64_t elapsed_us,
                            int64_t now_ms)
{
    struct pool_member *member = &pool->member[i];
    const enum blame blame = status_blame(why->status);

    assert(i < pool->members);
    if (member->state == SEQB_PARTITION_REFUSED)
        return POOL_NOTHING;
    /* A probe that failed for whatever reason has rescued nothing. */
    if (member->state == SEQB_PARTITION_UP &&
        (blame == BLAME_CALLER || blame == BLAME_NOBODY))
        return POOL_NOTHING;
    member->errors++;
    /* It rests already: only a probe may prolong that. */
    if (member->state == SEQB_PARTITION_QUARANTINED && blame != BLAME_LAYOUT)
        return POOL_NOTHING;
    if (blame == BLAME_LAYOUT)
        return member_refuse(member, why->text, now_ms);
    if (why->status == SEQB_UNCERTAIN && is_slow(pool, elapsed_us) &&
        member->state == SEQB_PARTITION_UP)
        return member_slowed(pool, i, elapsed_us, now_ms);
    return member_quarantine(pool, i, why->text, now_ms);
}

int64_t pool_probe_at(const struct pool *pool, int32_t i)
{
    const struct pool_member *member = &pool->member[i];

    return member->state == SEQB_PARTITION_QUARANTINED ? member->next_probe_ms
                                                       : INT64_MAX;
}

void pool_probe_begins(struct pool *pool, int32_t i, int64_t now_ms)
{
    pool->member[i].state = SEQB_PARTITION_PROBING;
    pool->member[i].last_probe_ms = now_ms;
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
    if (oldest >= 0)
        pool->member[oldest].next_probe_ms = now_ms;
    return oldest;
}
