/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processor's time-stamp counter, which is read without a call: it says
 * whether a moment that a clock gave is still near. It is not fit for dates or
 * leases by itself.
 */
#pragma once

#include <stdint.h>

/* The counter's rate. Zeroed: not known yet. */
struct ticks {
    uint64_t anchor; /* ticks, at anchor_us */
    int64_t anchor_us;
    uint64_t width;  /* in ticks: the time that a reading of both clocks took */
    uint64_t per_ms; /* 0: not known, or there is no such counter */
};

/* Increases at a steady rate; always 0 if there is no such counter. */
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

/* Compares the counter with CLOCK_BOOTTIME. Call it from time to time. */
void ticks_measure(struct ticks *ticks);
