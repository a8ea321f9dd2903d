/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's clocks. */
#include "platform/clock.h"

#include <time.h>

/* How late a coarse clock, whose ticks are 10 ms at most, may be. */
#define COARSE_LATE_MS 50

#define BOOT_CLOCK CLOCK_BOOTTIME /* it advances during a suspend */

static int64_t read_us(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int64_t read_ms(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + (uint32_t)now.tv_nsec / 1000000;
}

int64_t clock_now_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t clock_now_ms(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

int64_t clock_wall_us(void)
{
    return read_us(CLOCK_REALTIME);
}

int64_t clock_wall_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

static bool is_within_precisely(int64_t begin_ms, int64_t end_ms)
{
    const int64_t now_ms = clock_wall_ms();

    return now_ms >= begin_ms && now_ms < end_ms;
}

bool clock_wall_is_within(int64_t begin_ms, int64_t end_ms)
{
    const int64_t now_ms = read_ms(CLOCK_REALTIME_COARSE);

    return (now_ms >= begin_ms && now_ms < end_ms - COARSE_LATE_MS) ||
           is_within_precisely(begin_ms, end_ms);
}

int64_t clock_boot_us(void)
{
    return read_us(BOOT_CLOCK);
}

int64_t clock_boot_ms(void)
{
    return read_ms(BOOT_CLOCK);
}

struct clock_pair clock_read_pair(void)
{
    struct clock_pair pair;

    pair.before_ms = clock_boot_ms();
    pair.wall_ms = clock_wall_ms();
    pair.after_ms = clock_boot_ms();
    return pair;
}

/* Two ticks, since the last one may be in progress. */
bool clock_has_ticked_since(struct timespec written)
{
    struct timespec tick;
    struct timespec now;

    if (clock_getres(CLOCK_REALTIME_COARSE, &tick) != 0 ||
        clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0)
        return false;
    return (int64_t)(now.tv_sec - written.tv_sec) * 1000000000 + now.tv_nsec -
               written.tv_nsec >
           2 * tick.tv_nsec;
}
