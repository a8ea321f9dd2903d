/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's counter of time, which is read without a call: whether a
 * moment that a clock told is still near. Not for dates or leases by itself.
 */
#pragma once

#include <stdint.h>

/* How fast it counts. Zeroed is not known yet. */
struct ticks {
    uint64_t anchor; /* ticks, at anchor_us */
    int64_t anchor_us;
    uint64_t width;  /* of a reading of both, in ticks */
    uint64_t per_ms; /* 0: not known, or there is no such counter */
};

/* Counts up at a steady rate; always 0 where there is no such counter. */
static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t now;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    return 0;
#endif
}

/* Compares the counter with CLOCK_BOOTTIME. To be called now and then. */
void ticks_measure(struct ticks *ticks);
