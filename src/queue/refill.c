/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: hold what the recent rate uses up in the runway and two usual
 * delays. A rate that rises is believed at once, one that falls slowly. While
 * the ring runs dry the rate says only what was supplied, so that the target
 * doubles instead.
 */
#include "queue/refill.h"

#define RATE_SPAN_MS 200.0 /* time constant of a falling rate */

void refill_init(struct refill *refill, int64_t now_ms)
{
    *refill = (struct refill){.last_ms = now_ms};
}

static double rate_now(const struct refill *refill, int64_t now_ms,
                       uint64_t consumed)
{
    const double span_ms = (double)(now_ms - refill->last_ms);
    double now;

    if (span_ms < 1)
        return refill->rate;
    now = (double)(consumed - refill->last_consumed) / span_ms;
    if (now >= refill->rate)
        return now;
    return refill->rate +
           (now - refill->rate) * span_ms / (span_ms + RATE_SPAN_MS);
}

int64_t refill_rate(const struct refill *refill, int64_t now_ms,
                    uint64_t consumed)
{
    return (int64_t)(rate_now(refill, now_ms, consumed) * 1000);
}

static void rate_update(struct refill *refill, const struct refill_view *view)
{
    if (view->now_ms - refill->last_ms < 1)
        return;
    refill->rate = rate_now(refill, view->now_ms, view->consumed);
    refill->last_ms = view->now_ms;
    refill->last_consumed = view->consumed;
}

static int64_t at_least(int64_t value, int64_t low)
{
    return value > low ? value : low;
}

static int64_t at_most(int64_t value, int64_t high)
{
    return value < high ? value : high;
}

/* Once for each supply that was used up: while none comes, as when every
 * partition is down, nothing is learnt from the ring's being dry. */
static void boost_update(struct refill *refill, int64_t target,
                         const struct refill_view *view, int64_t max)
{
    if (!view->is_starved) {
        refill->boost -= refill->boost / 8;
        return;
    }
    if (refill->boost > 0 && refill->boosted_at == view->consumed)
        return;
    refill->boost = at_most(2 * at_least(refill->boost, target), max);
    refill->boosted_at = view->consumed;
}

static int64_t target_of(struct refill *refill,
                         const struct refill_rules *rules,
                         const struct refill_view *view)
{
    const double horizon_ms = rules->runway_ms + 2.0 * (double)view->delay_ms;
    const double wanted = refill->rate * horizon_ms;
    const int64_t max = rules->max_unused;
    int64_t target = wanted < (double)max ? (int64_t)wanted : max;

    target = at_most(at_least(target, at_least(REFILL_MIN, rules->run)), max);
    boost_update(refill, target, view, max);
    return at_least(refill->boost, target);
}

struct refill_plan refill_decide(struct refill *refill,
                                 const struct refill_rules *rules,
                                 const struct refill_view *view)
{
    const int64_t room = at_least(view->room, 0);
    struct refill_plan plan = {.spread = HA_ASK_ONE};
    int64_t missing;

    rate_update(refill, view);
    plan.target = target_of(refill, rules, view);
    plan.low = plan.target / 2;
    if (view->is_starved)
        plan.spread = HA_ASK_ALL;
    if (!rules->prefetch && !view->is_starved)
        return plan;
    if (view->stock + view->fresh > plan.low && !view->is_starved)
        return plan;
    missing = at_least(plan.target - view->stock - view->fresh, 0);
    plan.runs =
        at_most((missing + rules->run - 1) / rules->run, room / rules->run);
    return plan;
}
