/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the next values of a snowflake. */
#include "period/flake_time.h"

#include <stdbool.h>

#include "platform/minmax.h"

/* The first free time: that of the last ms if some of its values are left. */
static int64_t first_free(const struct flake_rules *rules,
                          const struct flake_lease *lease,
                          const struct flake_last *last)
{
    const int64_t time_ms =
        last->values < rules->ms_values ? last->time_ms : last->time_ms + 1;

    return max_of(max_of(time_ms, lease->above + 1), rules->first_ms);
}

/* Whether a time that is ahead of the wall clock may be used. */
static enum flake_verdict evaluate_ahead(const struct flake_lease *lease,
                                         struct flake_now now, int64_t time_ms,
                                         const struct flake_last *last)
{
    const bool is_new = time_ms != last->time_ms;

    /* The clock did not go back: only this ms is used up. */
    if (is_new && time_ms == now.wall_ms + 1)
        return FLAKE_AGAIN;
    if (time_ms > lease->upto)
        return FLAKE_BEHIND;
    return !is_new || now.boot_ms > last->boot_ms ? FLAKE_GIVE : FLAKE_AGAIN;
}

static enum flake_verdict evaluate(const struct flake_rules *rules,
                                   const struct flake_lease *lease,
                                   struct flake_now now, int64_t time_ms,
                                   const struct flake_last *last)
{
    if (now.boot_ms >= lease->until_ms)
        return FLAKE_FENCED;
    if (time_ms >= rules->end_ms)
        return FLAKE_OVER;
    if (time_ms > now.wall_ms)
        return evaluate_ahead(lease, now, time_ms, last);
    /* The clock jumped ahead: the lease's next renewal allows that time. */
    return time_ms > lease->upto ? FLAKE_AGAIN : FLAKE_GIVE;
}

enum flake_verdict flake_next(const struct flake_rules *rules,
                              const struct flake_lease *lease,
                              struct flake_now now, int64_t want,
                              struct flake_last *last,
                              struct flake_block *block)
{
    const int64_t time_ms = max_of(first_free(rules, lease, last), now.wall_ms);
    const enum flake_verdict verdict =
        evaluate(rules, lease, now, time_ms, last);

    block->time_ms = time_ms;
    if (verdict != FLAKE_GIVE)
        return verdict;
    if (time_ms != last->time_ms)
        *last = (struct flake_last){.time_ms = time_ms, .boot_ms = now.boot_ms};
    block->counter = last->values;
    block->count = rules->ms_values - last->values;
    if (block->count > want)
        block->count = want;
    last->values += block->count;
    return FLAKE_GIVE;
}
