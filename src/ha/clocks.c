/* SPDX-License-Identifier: Apache-2.0 */
/* The stores' wall clocks, with which ours is compared; and how far periods
 * were begun. */
#include <stdlib.h>

#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/clock.h"
#include "store/store.h"

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

void ha_begun(struct ha *ha, int64_t begins_ms)
{
    int64_t begun_ms =
        atomic_load_explicit(&ha->begun_ms, memory_order_relaxed);

    while (begun_ms < begins_ms &&
           !atomic_compare_exchange_weak_explicit(
               &ha->begun_ms, &begun_ms, begins_ms, memory_order_relaxed,
               memory_order_relaxed))
        continue;
}

int64_t worker_base_ms(const struct worker *worker)
{
    return connection_base_ms(
        &worker->connection,
        atomic_load_explicit(worker->begun_ms, memory_order_relaxed));
}
