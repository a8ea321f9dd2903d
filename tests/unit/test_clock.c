/* SPDX-License-Identifier: Apache-2.0 */
/* The clock that everything else is given as `now_ms`. */
#include <stdbool.h>

#include <time.h>

#include "platform/clock.h"
#include "support/test.h"
#include "support/wrap.h"

/* The machine's clocks if they stand at different times, as after a suspend. */
static bool is_scripted;
static int64_t coarse_s; /* the clock of ticks, behind the precise one */

WRAPPED(int, clock_gettime, clockid_t clock, struct timespec *out)
{
    if (!is_scripted)
        return __real_clock_gettime(clock, out);
    *out = (struct timespec){clock == CLOCK_REALTIME          ? 3000
                             : clock == CLOCK_REALTIME_COARSE ? coarse_s
                             : clock == CLOCK_BOOTTIME        ? 200
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

TEST(both_units_are_of_the_monotonic_clock)
{
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
TEST(boot_clock_counts_a_suspend)
{
    is_scripted = true;
    assert_int_equal(clock_now_ms(), 100005);
    assert_int_equal(clock_boot_ms(), 200005);
    assert_int_equal(clock_boot_us() / 1000, 200005);
    assert_int_equal(clock_wall_ms(), 3000005);
    is_scripted = false;
}

/* A tick may be late: near the end the precise clock says whether it is over,
 * farther from it the other one does. */
TEST(end_of_a_span_is_seen_by_the_precise_clock)
{
    const int64_t now_ms = 3000005;

    is_scripted = true;
    coarse_s = 3000;
    assert_true(clock_wall_is_within(now_ms, now_ms + 1));
    assert_true(clock_wall_is_within(now_ms, now_ms + 1000));
    assert_false(clock_wall_is_within(now_ms + 1, now_ms + 1000));
    assert_false(clock_wall_is_within(now_ms - 1000, now_ms));
    coarse_s = 2999;
    assert_true(clock_wall_is_within(0, now_ms - 1000 + 51));
    assert_false(clock_wall_is_within(0, now_ms - 1000 + 50));
    is_scripted = false;
}

/* A file's time says that it was not written since only once that would show.
 */
TEST(time_of_a_file_counts_when_the_clock_has_ticked)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    now.tv_sec += 1;
    assert_false(clock_has_ticked_since(now)); /* nor if clocks were set */
    now.tv_sec -= 2;
    assert_true(clock_has_ticked_since(now));
}
