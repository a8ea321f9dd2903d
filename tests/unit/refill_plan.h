/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that every plan of a refill must keep, whatever happened before.
 */
#pragma once

#include "queue/refill.h"
#include "support/test.h"

static const struct refill_rules usual = {.runway_ms = 50,
                                          .max_unused = 1000000,
                                          .run = 8,
                                          .prefetch = true,
                                          .interval_ms = 20};

static inline int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* A random number (xorshift64) that is the same in every run. */
static inline int64_t chance(uint64_t *seed, int64_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (int64_t)(*seed % (uint64_t)below);
}

static inline void expect_kept(const struct refill_rules *rules,
                               const struct refill_view *view,
                               const struct refill_plan *plan)
{
    const int64_t least =
        min_of(rules->max_unused, max_of(REFILL_MIN, rules->run));
    const int64_t coming = view->stock + view->fresh;
    const int64_t asked = plan->runs * rules->run;
    const double soon = plan->rate * ((double)view->delay_ms + 1);
    const bool is_hungry = view->is_starved || (double)view->stock < soon;

    assert_in_range(plan->target, least, rules->max_unused);
    assert_int_equal(plan->low, plan->target / 2);
    if (plan->reason == REFILL_RATE || plan->reason == REFILL_BURST ||
        plan->reason == REFILL_STARVED)
        assert_int_equal(plan->target,
                         (int64_t)(plan->rate * (double)plan->span_ms + 0.5));
    assert_int_equal(plan->spread, is_hungry ? HA_ASK_ALL : HA_ASK_ONE);
    assert_true(asked >= 0 && asked <= max_of(view->room, 0));
    /* Whole runs are asked for, so one may exceed the target. */
    assert_true(asked == 0 || coming + asked < plan->target + rules->run);
    if (!view->is_starved && (!rules->prefetch || coming > plan->low))
        assert_int_equal(plan->runs, 0);
    else if (coming < plan->target && view->room >= rules->run)
        assert_true(plan->runs >= 1);
}

static inline struct refill_plan decide(struct refill *refill,
                                        const struct refill_rules *rules,
                                        const struct refill_view *view)
{
    const struct refill_plan plan = refill_decide(refill, rules, view);

    expect_kept(rules, view, &plan);
    return plan;
}
