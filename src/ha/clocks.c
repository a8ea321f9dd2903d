/* SPDX-License-Identifier: Apache-2.0 */
/* The stores' wall clocks, by which ours is judged. */
#include <stdlib.h>

#include "ha/call.h"
#include "ha/startup.h"
#include "ha/worker.h"
#include "platform/clock.h"

#define CLOCKS_MOST 64    /* that are asked for the time */
#define LOOK_MS     30000 /* between two looks at a clock that is in use */

/* No broker has begun with a period that is farther ahead of its clock and the
 * store's: see max_ahead. */
#define BASE_SLACK_MS (10 * INT64_C(60000))

/* On the worker's thread. The answer is about half a call old. Kept as it goes
 * on by the boot clock, so that a step of our wall clock is no step of it. */
enum seqb_status worker_see_clock(struct worker *worker, struct seqb_error *err)
{
    const int64_t start_us = clock_now_us();
    int64_t store_ms = 0;
    const enum seqb_status status = call_clock(worker, &store_ms, err);
    const int64_t half_ms = (clock_now_us() - start_us) / 2000;

    if (status != SEQB_OK)
        return status;
    worker->clock_seen_ms = clock_now_ms();
    if (store_ms > 0)
        atomic_store_explicit(&worker->clock_ms,
                              store_ms + half_ms - clock_boot_ms(),
                              memory_order_relaxed);
    return SEQB_OK;
}

bool worker_clock_is_due(const struct worker *worker)
{
    return clock_now_ms() - worker->clock_seen_ms >= LOOK_MS;
}

int64_t worker_clock_ahead_ms(const struct worker *worker)
{
    const int64_t clock_ms =
        atomic_load_explicit(&worker->clock_ms, memory_order_relaxed);

    return clock_ms == NO_CLOCK ? NO_CLOCK
                                : clock_ms + clock_boot_ms() - clock_wall_ms();
}

int64_t worker_latest_ms(const struct worker *worker)
{
    const int64_t ahead_ms = worker_clock_ahead_ms(worker);

    return clock_wall_ms() + (ahead_ms > 0 ? ahead_ms : 0);
}

int64_t worker_base_ms(const struct worker *worker)
{
    return worker_latest_ms(worker) + BASE_SLACK_MS;
}

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
        clocks[count] = atomic_load_explicit(&ha->workers[i].clock_ms,
                                             memory_order_relaxed);
        count += clocks[count] != NO_CLOCK;
    }
    if (count == 0)
        return 0;
    qsort(clocks, count, sizeof clocks[0], compare);
    *wall_ms = clocks[(count - 1) / 2];
    return (int32_t)count;
}
