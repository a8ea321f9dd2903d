/* SPDX-License-Identifier: Apache-2.0 */
/* The delay of a source after failed logins; see patience.h. */
#include "daemon/access/patience.h"

#include <stdio.h>
#include <string.h>

static int source_find(const struct patience *patience, const char *name)
{
    for (int i = 0; i < PATIENCE_SOURCES; i++)
        if (strcmp(patience->sources[i].name, name) == 0)
            return i;
    return -1;
}

/* The slot that is free, or whose last failure is the oldest. */
static int source_spare(const struct patience *patience)
{
    int oldest = 0;

    for (int i = 0; i < PATIENCE_SOURCES; i++) {
        if (patience->sources[i].name[0] == '\0')
            return i;
        if (patience->sources[i].failed_ms <
            patience->sources[oldest].failed_ms)
            oldest = i;
    }
    return oldest;
}

int64_t patience_left(const struct patience *patience, const char *source,
                      int64_t now_ms)
{
    const int i = source_find(patience, source);
    const int64_t until_ms = i < 0 ? 0 : patience->sources[i].until_ms;

    return until_ms > now_ms ? until_ms - now_ms : 0;
}

static int64_t penalty_ms(int failures)
{
    const int doublings = failures - PATIENCE_FREE - 1;

    if (doublings < 0)
        return 0;
    if (doublings > 5)
        return PATIENCE_MOST_MS;
    return (int64_t)PATIENCE_FIRST_MS << doublings < PATIENCE_MOST_MS
               ? (int64_t)PATIENCE_FIRST_MS << doublings
               : PATIENCE_MOST_MS;
}

void patience_fail(struct patience *patience, const char *name, int64_t now_ms)
{
    int i = source_find(patience, name);
    struct patience_source *source =
        &patience->sources[i < 0 ? source_spare(patience) : i];

    if (i < 0 || now_ms - source->failed_ms > PATIENCE_FORGET_MS) {
        *source = (struct patience_source){.failures = 0};
        snprintf(source->name, sizeof source->name, "%s", name);
    }
    if (source->failures <= PATIENCE_FREE + 6)
        source->failures++;
    source->failed_ms = now_ms;
    source->until_ms = now_ms + penalty_ms(source->failures);
}
