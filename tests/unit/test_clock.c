/* SPDX-License-Identifier: Apache-2.0 */
/* The clock that everything else is given as `now_ms`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <time.h>

#include "platform/clock.h"

/* The machine's clocks if they stand at different times, as after a suspend. */
static bool is_scripted;

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!is_scripted)
        return __real_clock_gettime(clock, out);
    *out = (struct timespec){clock == CLOCK_REALTIME   ? 3000
                             : clock == CLOCK_BOOTTIME ? 200
                                                       : 100,
                             5000000};
    return 0;
}

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

/* Leases and the guard count by it: they must not outlive a suspend. */
static void boot_clock_counts_a_suspend(void **state)
{
    (void)state;
    is_scripted = true;
    assert_int_equal(clock_now_ms(), 100005);
    assert_int_equal(clock_boot_ms(), 200005);
    assert_int_equal(clock_wall_ms(), 3000005);
    is_scripted = false;
}

/* A file's time says that it was not written since only once that would show.
 */
static void time_of_a_file_counts_when_the_clock_has_ticked(void **state)
{
    struct timespec now;

    (void)state;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    now.tv_sec += 1;
    assert_false(clock_has_ticked_since(now)); /* nor if clocks were set */
    now.tv_sec -= 2;
    assert_true(clock_has_ticked_since(now));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_units_are_of_the_monotonic_clock),
        cmocka_unit_test(boot_clock_counts_a_suspend),
        cmocka_unit_test(time_of_a_file_counts_when_the_clock_has_ticked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
