/* SPDX-License-Identifier: Apache-2.0 */
/* Which member is asked, probed or looked at next, and what an operator may
 * order. */
#include "ha/policy/round_robin.h"

#include "platform/error.h"
#include "platform/minmax.h"
#include "platform/text.h"

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

/* --- orders --- */

/* Why a partition that is not drained cannot be resumed, NULL if a resume has
 * nothing to do. */
static const char *resume_objection(const struct pool_member *member,
                                    int64_t now_ms)
{
    if (member->state == SEQB_PARTITION_REFUSED ||
        member->state == SEQB_PARTITION_POISONED)
        return "it is not drained: rescue it instead";
    return member->state == SEQB_PARTITION_QUARANTINED && member->is_ordered &&
                   member->next_probe_ms > now_ms
               ? "an operator quarantined it: rescue it instead"
               : NULL;
}

/* Whether the order was carried out before. */
static bool order_is_done(enum seqb_order order,
                          enum seqb_partition_state state)
{
    return (order == SEQB_ORDER_DRAIN && state == SEQB_PARTITION_DRAINED) ||
           (order == SEQB_ORDER_RESUME && state != SEQB_PARTITION_DRAINED);
}

/* Why the order makes no sense in the member's state, NULL if it does. */
static const char *objection(enum seqb_order order,
                             const struct pool_member *member, int64_t now_ms)
{
    const enum seqb_partition_state state = member->state;

    switch (order) {
    case SEQB_ORDER_QUARANTINE:
        if (state == SEQB_PARTITION_UP || state == SEQB_PARTITION_SUSPECT ||
            state == SEQB_PARTITION_RAMPING)
            return NULL;
        return "only one that is up can be quarantined";
    case SEQB_ORDER_RESCUE:
        if (state == SEQB_PARTITION_QUARANTINED ||
            state == SEQB_PARTITION_REFUSED || state == SEQB_PARTITION_POISONED)
            return NULL;
        return state == SEQB_PARTITION_DRAINED ? "resume it instead"
                                               : "it needs no rescue";
    case SEQB_ORDER_DRAIN:
        /* A resume would lose the reason why it is not asked any more. */
        if (state == SEQB_PARTITION_REFUSED || state == SEQB_PARTITION_POISONED)
            return "it is asked no more as it is";
        return NULL;
    default:
        return resume_objection(member, now_ms);
    }
}

static void member_leave(struct pool_member *member,
                         enum seqb_partition_state state, const char *reason,
                         int64_t now_ms)
{
    member->state = state;
    member->since_ms = now_ms;
    member->successes = 0;
    member->is_ordered = state == SEQB_PARTITION_QUARANTINED;
    (void)text_copy(member->reason, sizeof member->reason, reason);
}

static const char *order_reason(enum seqb_order order)
{
    if (order == SEQB_ORDER_QUARANTINE)
        return "quarantined by an operator";
    return order == SEQB_ORDER_RESUME ? "resumed by an operator, and probed now"
                                      : "probed now by an operator's order";
}

/* A quarantine by order rests as long as the longest rest of a failed store:
 * the store is most often well, and the first probe would end what was
 * ordered. */
enum seqb_status pool_command(struct pool *pool, int32_t i,
                              enum seqb_order order, int64_t now_ms,
                              struct pool_change *change,
                              struct seqb_error *err)
{
    struct pool_member *member = &pool->member[i];
    const char *why = objection(order, member, now_ms);

    *change = (struct pool_change){.from = member->state, .to = member->state};
    if (why != NULL)
        return error_set(err, SEQB_INVALID,
                         "partition %d of pool %s is %s: %s; nothing was "
                         "changed",
                         (int)i, pool->options->layout.name,
                         seqb_partition_state_name(member->state), why);
    if (order_is_done(order, member->state))
        return SEQB_OK;
    if (order == SEQB_ORDER_DRAIN) {
        member_leave(member, SEQB_PARTITION_DRAINED, "drained by an operator",
                     now_ms);
    } else {
        member->rest_ms = POOL_FIRST_PROBE_MS;
        if (pool->options->rescue == HA_RESCUE_FIXED)
            member->rest_ms = pool->options->rescue_after_ms;
        member->next_probe_ms = now_ms;
        if (order == SEQB_ORDER_QUARANTINE)
            member->next_probe_ms += pool->options->rescue_after_ms;
        if (order != SEQB_ORDER_RESCUE ||
            member->state != SEQB_PARTITION_QUARANTINED)
            member_leave(member, SEQB_PARTITION_QUARANTINED,
                         order_reason(order), now_ms);
    }
    change->to = member->state;
    return SEQB_OK;
}
