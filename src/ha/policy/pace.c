/* SPDX-License-Identifier: Apache-2.0 */
/* The rate of use since the last run came, times the time that the next run is
 * to last. */
#include "ha/policy/pace.h"

#include "platform/minmax.h"

int64_t pace_run(const struct pace *pace, int64_t least, int64_t need_ms,
                 int64_t most, int64_t now_ms)
{
    const int64_t past_ms = max_of(now_ms - pace->since_ms, 1);
    int64_t need = 1;

    if (pace->has_begun) {
        need = (pace->used * need_ms + past_ms - 1) / past_ms;
        need = min_of(need, PACE_GROWTH * pace->last);
    }
    return max_of(min_of(max_of(need, least), most), 1);
}

void pace_leased(struct pace *pace, int64_t count, int64_t now_ms)
{
    pace->since_ms = now_ms;
    pace->used = 0;
    pace->last = count;
}

void pace_taken(struct pace *pace, int64_t count, int64_t now_ms)
{
    if (!pace->has_begun)
        pace->since_ms = now_ms;
    pace->used += pace->has_begun ? count : count - 1;
    pace->has_begun = true;
}

void pace_dropped(struct pace *pace, int64_t count)
{
    pace->last = min_of(pace->last, count / PACE_GROWTH);
}

bool pace_is_low(int64_t left, int64_t run)
{
    return left <= run / 2;
}
