/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the bench programs, and a pause. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double now_s(void)
{
    return (double)now_ns() / 1e9;
}

static inline void pause_s(double seconds)
{
    const int64_t ns = (int64_t)(seconds * 1e9);

    nanosleep(&(struct timespec){.tv_sec = ns / 1000000000,
                                 .tv_nsec = ns % 1000000000},
              NULL);
}
