/* SPDX-License-Identifier: Apache-2.0 */
/* Each reading is a range, since the clocks are read one after the other. */
#include "period/resume.h"

static struct resume apart_of(const struct clock_pair *now)
{
    return (struct resume){now->wall_ms - now->after_ms,
                           now->wall_ms - now->before_ms};
}

void resume_init(struct resume *resume, const struct clock_pair *now)
{
    *resume = apart_of(now);
}

/* 0 if the ranges overlap. */
static int64_t distance(const struct resume *from, const struct resume *to)
{
    if (to->least_ms > from->most_ms)
        return to->least_ms - from->most_ms;
    return to->most_ms < from->least_ms ? to->most_ms - from->least_ms : 0;
}

bool resume_read(struct resume *resume, const struct clock_pair *now,
                 int64_t *apart_ms)
{
    const struct resume is = apart_of(now);

    *apart_ms = distance(resume, &is);
    if (*apart_ms <= RESUME_APART_MS && *apart_ms >= -RESUME_APART_MS)
        return false;
    *resume = is;
    return true;
}
