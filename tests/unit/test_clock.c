/* SPDX-License-Identifier: Apache-2.0 */
/* The clock that everything else is given as `now_ms`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "platform/clock.h"

static int64_t monotonic_us(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void both_units_are_of_the_monotonic_clock(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const int64_t before = monotonic_us();
        const int64_t us = clock_now_us();
        const int64_t ms = clock_now_ms();
        const int64_t after = monotonic_us();

        assert_true(before <= us && us <= after);
        assert_true(us / 1000 <= ms && ms <= after / 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_units_are_of_the_monotonic_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
