/* SPDX-License-Identifier: Apache-2.0 */
/* The processor's counter of time beside a clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/clock.h"
#include "platform/thread.h"
#include "platform/ticks.h"

static void nothing_is_known_at_once(void **state)
{
    struct ticks ticks = {0};

    (void)state;
    ticks_measure(&ticks);
    ticks_measure(&ticks);
    assert_int_equal(ticks.per_ms, 0);
}

/* However often this thread is preempted between two readings. */
static void a_rate_agrees_with_the_clock(void **state)
{
    struct ticks ticks = {0};
    const int64_t begin_us = clock_boot_us();
    const uint64_t begin = ticks_now();
    int64_t passed_us;
    uint64_t passed;

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_at_once),
        cmocka_unit_test(a_rate_agrees_with_the_clock),
    };

    return cmocka_run_group_tests_name("ticks", tests, NULL, NULL);
}
