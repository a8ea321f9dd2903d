/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every plan of a refill must keep, whatever was before it. To be
 * included after cmocka.h.
 */
#pragma once

#include "queue/refill.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

static const struct refill_rules usual = {
    .runway_ms = 50, .max_unused = 1000000, .run = 8, .prefetch = true};

static inline int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline void expect_kept(const struct refill_rules *rules,
                               const struct refill_view *view,
                               const struct refill_plan *plan)
{
    const int64_t least =
        min_of(rules->max_unused, max_of(REFILL_MIN, rules->run));
    const int64_t coming = view->stock + view->fresh;
    const int64_t asked = plan->runs * rules->run;

    assert_in_range(plan->target, least, rules->max_unused);
    assert_int_equal(plan->low, plan->target / 2);
    assert_int_equal(plan->spread, view->is_starved ? HA_ASK_ALL : HA_ASK_ONE);
    assert_true(asked >= 0 && asked <= max_of(view->room, 0));
    /* Whole runs are asked for: one may reach above the target. */
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
