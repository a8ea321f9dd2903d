/* SPDX-License-Identifier: Apache-2.0 */
/* The processor's counter of time beside a clock. */

#include "platform/clock.h"
#include "platform/thread.h"
#include "platform/ticks.h"
#include "support/test.h"

TEST(nothing_is_known_at_once)
{
    struct ticks ticks = {0};

    ticks_measure(&ticks);
    ticks_measure(&ticks);
    assert_int_equal(ticks.per_ms, 0);
}

/* However often this thread is preempted between two readings. */
TEST(a_rate_agrees_with_the_clock)
{
    struct ticks ticks = {0};
    const int64_t begin_us = clock_boot_us();
    const uint64_t begin = ticks_now();
    int64_t passed_us;
    uint64_t passed;

    if (begin == 0)
        skip(); /* there is no such counter */
    while (clock_boot_us() < begin_us + 300000) {
        ticks_measure(&ticks);
        thread_rest_us(100);
    }
    passed = ticks_now() - begin;
    passed_us = clock_boot_us() - begin_us;
    assert_in_range(ticks.per_ms, passed * 900 / (uint64_t)passed_us,
                    passed * 1100 / (uint64_t)passed_us);
}
