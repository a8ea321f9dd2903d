/* SPDX-License-Identifier: Apache-2.0 */
#include "support/script_clock.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "platform/clock.h"

/* Running: the wall clock less the monotonic one; standing: the wall clock. */
static _Atomic int64_t reading;
static atomic_bool is_running;

void script_clock_set(int64_t wall_ms)
{
    atomic_store(&is_running, false);
    atomic_store(&reading, wall_ms);
}

void script_clock_run(int64_t wall_ms)
{
    atomic_store(&reading, wall_ms - clock_now_ms());
    atomic_store(&is_running, true);
}

void script_clock_step(int64_t by_ms)
{
    atomic_fetch_add(&reading, by_ms);
}

int64_t __wrap_clock_wall_ms(void)
{
    return atomic_load(&reading) +
           (atomic_load(&is_running) ? clock_now_ms() : 0);
}

bool __wrap_clock_wall_is_within(int64_t begin_ms, int64_t end_ms)
{
    const int64_t now_ms = __wrap_clock_wall_ms();

    return now_ms >= begin_ms && now_ms < end_ms;
}
