/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/ticks.h"

#include "platform/clock.h"

/* Over a shorter time, the error of a reading would matter. */
#define MEASURE_LEAST_US 10000
#define MEASURE_MOST_US  1000000

/* If a thread is preempted between its two readings, they do not belong
 * together. The width of such a pair is at least this many times that of
 * others. */
#define WIDE 4

static void anchor(struct ticks *ticks, uint64_t now, int64_t boot_us)
{
    ticks->anchor = now;
    ticks->anchor_us = boot_us;
}

void ticks_measure(struct ticks *ticks)
{
    const uint64_t now = ticks_now();
    const int64_t boot_us = clock_boot_us();
    const uint64_t width = ticks_now() - now;
    const int64_t passed_us = boot_us - ticks->anchor_us;

    if (ticks->width == 0 || WIDE * width < ticks->width) {
        ticks->width = width;
        ticks->per_ms = 0;
        anchor(ticks, now, boot_us);
        return;
    }
    if (width > WIDE * ticks->width || passed_us < MEASURE_LEAST_US)
        return;
    ticks->per_ms = now < ticks->anchor
                        ? 0
                        : (uint64_t)((double)(now - ticks->anchor) * 1000 /
                                     (double)passed_us);
    if (passed_us >= MEASURE_MOST_US)
        anchor(ticks, now, boot_us);
}
