/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: hold what the recent rate uses up in the runway, two usual delays
 * and the interval. The rate is the larger of a long average, which falls
 * slowly in a lull, and a short one, which rises soon in a burst. While the
 * ring is dry, both only show what was supplied, so the rate is doubled
 * instead.
 */
#include "queue/refill.h"

#include "platform/minmax.h"
#include "platform/text.h"

/* Time constants of the averages. The short one is about the usual runway, so
 * that a burst has about as much fetched as it used, however short it was. The
 * rate that was assumed for a dry ring decays like the long average. */
#define LONG_MS  1000.0
#define SHORT_MS 50.0

/* A short average that exceeds the long one by less is noise. */
#define BURST_FACTOR 1.25

void refill_init(struct refill *refill, int64_t now_ms)
{
    *refill = (struct refill){.last_ms = now_ms};
}

void refill_carry(struct refill *refill, const struct refill *from,
                  int64_t now_ms)
{
    refill->rate = from->rate;
    refill->burst = from->burst;
    refill->last_ms = now_ms;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* 0 if `consumed` is less than before. */
static int64_t used_since(uint64_t before, uint64_t consumed)
{
    return max_of((int64_t)(consumed - before), 0);
}

/* The weight that an average keeps after a span: nearly e^(-span/constant), so
 * that one update or many in the same span have nearly the same result. */
static double weight_kept(double span_ms, double constant_ms)
{
    const double quarter = 1 / (1 + span_ms / (4 * constant_ms));

    return quarter * quarter * quarter * quarter;
}

static double average_after(double average, double constant_ms, double span_ms,
                            int64_t used)
{
    const double kept = weight_kept(span_ms, constant_ms);

    return kept * average + (1 - kept) * (double)used / span_ms;
}

int64_t refill_rate(const struct refill *refill, int64_t now_ms,
                    uint64_t consumed)
{
    const double span_ms = (double)(now_ms - refill->last_ms);
    double rate = refill->rate;

    if (span_ms >= 1 && (rate > 0 || consumed != refill->last_consumed))
        rate = average_after(rate, LONG_MS, span_ms,
                             used_since(refill->last_consumed, consumed));
    return rate * 1000 < 0x1p62 ? (int64_t)(rate * 1000 + 0.5) : INT64_MAX;
}

int64_t refill_runway_ms(int64_t rate, int64_t stock)
{
    if (rate <= 0)
        return INT64_MAX;
    if (stock <= INT64_MAX / 1000)
        return max_of(stock, 0) * 1000 / rate;
    return min_of(stock / rate, INT64_MAX / 1000) * 1000;
}

/* Updates within one ms are merged: an empty span has no rate. */
static void averages_update(struct refill *refill,
                            const struct refill_view *view)
{
    const int64_t used = used_since(refill->last_consumed, view->consumed);
    const double span_ms = (double)(view->now_ms - refill->last_ms);

    if (span_ms < 1)
        return;
    refill->rate = average_after(refill->rate, LONG_MS, span_ms, used);
    refill->burst = average_after(refill->burst, SHORT_MS, span_ms, used);
    refill->supposed *= weight_kept(span_ms, LONG_MS);
    refill->last_ms = view->now_ms;
    refill->last_consumed = view->consumed;
}

static double span_of(const struct refill_rules *rules,
                      const struct refill_view *view)
{
    return larger(rules->runway_ms + 2.0 * (double)view->delay_ms +
                      rules->interval_ms,
                  1);
}

static void plan_rate(const struct refill *refill, struct refill_plan *plan)
{
    plan->rate = refill->rate;
    plan->reason = REFILL_RATE;
    if (refill->burst > BURST_FACTOR * plan->rate) {
        plan->rate = refill->burst;
        plan->reason = REFILL_BURST;
    }
    if (refill->supposed > plan->rate) {
        plan->rate = refill->supposed;
        plan->reason = REFILL_STARVED;
    }
}

static void plan_target(const struct refill *refill,
                        const struct refill_rules *rules, double span_ms,
                        struct refill_plan *plan)
{
    const int64_t least =
        max_of(max_of(REFILL_MIN, rules->run), 2 * rules->wanted);
    double wanted;

    plan_rate(refill, plan);
    wanted = plan->rate * span_ms + 0.5;
    plan->target = rules->max_unused;
    if (wanted < (double)rules->max_unused)
        plan->target = (int64_t)wanted;
    else
        plan->reason = REFILL_MAX_UNUSED;
    if (plan->target < least) {
        plan->target = min_of(least, rules->max_unused);
        plan->reason =
            least > rules->max_unused ? REFILL_MAX_UNUSED : REFILL_MINIMUM;
    }
    plan->low = plan->target / 2;
}

/*
 * Whether the ring ran dry too soon: the whole target was used up in less than
 * half of the time that it was to last. The real rate is then at least twice as
 * high, so doubling does not overshoot. While no supply comes, for example
 * because every partition is down, a dry ring says nothing about the rate. The
 * time to compare with is at least two delays, since the supply itself takes
 * one or two.
 */
static bool is_outrun(struct refill *refill, const struct refill_view *view,
                      double span_ms, int64_t target)
{
    const double since_ms = (double)(view->now_ms - refill->since_ms);
    const bool is_over =
        since_ms >= larger(span_ms / 2, 2.0 * (double)view->delay_ms);
    const bool is_used =
        used_since(refill->since_consumed, view->consumed) >= target;

    if (!is_over && !(view->is_starved && is_used))
        return false;
    refill->since_ms = view->now_ms;
    refill->since_consumed = view->consumed;
    return !is_over;
}

/* Whether the sequence is starved, or will be before one partition usually
 * answers. */
static bool is_hungry(const struct refill_view *view,
                      const struct refill_plan *plan)
{
    return view->is_starved ||
           (double)view->stock < plan->rate * ((double)view->delay_ms + 1);
}

/* The numbers that are held or will arrive soon. */
static int64_t coming(const struct refill_view *view)
{
    const int64_t stock = max_of(view->stock, 0);

    return stock + min_of(max_of(view->fresh, 0), INT64_MAX - stock);
}

static bool is_to_ask(const struct refill_rules *rules,
                      const struct refill_view *view,
                      const struct refill_plan *plan)
{
    if (view->is_starved)
        return true;
    return rules->prefetch && coming(view) <= plan->low;
}

static void plan_runs(const struct refill_rules *rules,
                      const struct refill_view *view, struct refill_plan *plan)
{
    const int64_t missing = max_of(plan->target - coming(view), 0);
    const int64_t runs = missing / rules->run + (missing % rules->run > 0);
    const int64_t fit = max_of(view->room, 0) / rules->run;

    plan->runs = min_of(runs, fit);
    if (plan->runs < runs)
        plan->reason = REFILL_ROOM;
}

struct refill_plan refill_decide(struct refill *refill,
                                 const struct refill_rules *rules,
                                 const struct refill_view *view)
{
    const double span_ms = span_of(rules, view);
    struct refill_plan plan = {.spread = HA_ASK_ONE};

    averages_update(refill, view);
    plan_target(refill, rules, span_ms, &plan);
    if (is_outrun(refill, view, span_ms, plan.target)) {
        refill->supposed = 2 * (double)plan.target / span_ms;
        plan_target(refill, rules, span_ms, &plan);
    }
    plan.span_ms = span_ms < 0x1p62 ? (int64_t)span_ms : INT64_MAX;
    if (is_hungry(view, &plan))
        plan.spread = HA_ASK_ALL;
    if (is_to_ask(rules, view, &plan))
        plan_runs(rules, view, &plan);
    return plan;
}

const char *refill_reason_text(enum refill_reason reason)
{
    static const char *const texts[] = {
        [REFILL_MINIMUM] = "minimum",       [REFILL_RATE] = "rate",
        [REFILL_BURST] = "burst",           [REFILL_STARVED] = "starved",
        [REFILL_MAX_UNUSED] = "max_unused", [REFILL_ROOM] = "room",
    };

    return texts[reason];
}

/* Formats a rate below 10 itself, because the host's locale might write
 * "3,40". */
static bool append_rate(char *out, size_t size, const struct refill_plan *plan)
{
    const double rate = plan->rate < 0x1p62 ? plan->rate : 0x1p62;
    const int hundredths = rate < 10 ? (int)(rate * 100 + 0.5) : 0;

    if (rate < 10)
        (void)text_append(out, size, "%d.%02d", hundredths / 100,
                          hundredths % 100);
    else
        (void)text_append_count(out, size, (int64_t)(rate + 0.5));
    (void)text_append(out, size, " numbers/ms x ");
    (void)text_append_count(out, size, plan->span_ms);
    return text_append(out, size, " ms");
}

bool refill_explain(const struct refill_plan *plan, char *out, size_t size)
{
    (void)text_format(out, size, "%s: ", refill_reason_text(plan->reason));
    switch (plan->reason) {
    case REFILL_MINIMUM:
        (void)text_append_count(out, size, plan->target);
        return text_append(out, size, " numbers");
    case REFILL_MAX_UNUSED:
        (void)text_append_count(out, size, plan->target);
        (void)text_append(out, size, " numbers, for ");
        return append_rate(out, size, plan);
    case REFILL_ROOM:
        (void)text_append(out, size, "too little for ");
        (void)text_append_count(out, size, plan->target);
        return text_append(out, size, " numbers");
    default:
        return append_rate(out, size, plan);
    }
}
