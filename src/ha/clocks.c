/* SPDX-License-Identifier: Apache-2.0 */
/* The stores' wall clocks, with which ours is compared. */
#include <stdlib.h>

#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/clock.h"

#define CLOCKS_MOST 64 /* stores that are asked for the time */

static int compare(const void *a, const void *b)
{
    const int64_t *x = a;
    const int64_t *y = b;

    return (*x > *y) - (*x < *y);
}

int32_t ha_clocks(struct ha *ha, int64_t *wall_ms)
{
    int64_t clocks[CLOCKS_MOST];
    size_t count = 0;

    for (size_t i = 0; i < ha->options->backend_count && count < CLOCKS_MOST;
         i++) {
        clocks[count] = atomic_load_explicit(
            &ha->workers[i].connection.clock_ms, memory_order_relaxed);
        count += clocks[count] != CONNECTION_NO_CLOCK;
    }
    if (count == 0)
        return 0;
    qsort(clocks, count, sizeof clocks[0], compare);
    *wall_ms = clocks[(count - 1) / 2];
    return (int32_t)count;
}
