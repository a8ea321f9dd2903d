/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from a histogram of latencies. */

#include "support/latency.h"
#include "support/test.h"

static struct latency latency;

static int setup(void **state)
{
    (void)state;
    latency_init(&latency);
    return 0;
}

#define LATENCY FIXTURE(void *unused, setup, NULL)

TEST_WITH(LATENCY, nothing_counted_reads_as_zero)
{
    assert_int_equal(latency_at(&latency, 0.5), 0);
    assert_int_equal(latency.max_ns, 0);
}

TEST_WITH(LATENCY, small_values_are_exact)
{
    for (int64_t ns = 0; ns < 64; ns++) {
        latency_init(&latency);
        latency_add(&latency, ns);
        latency_add(&latency, 1000);
        assert_int_equal(latency_at(&latency, 0.5), ns);
    }
}

TEST_WITH(LATENCY, any_value_reads_at_most_a_32nd_too_high)
{
    for (int64_t ns = 1; ns < INT64_MAX / 3; ns += ns / 7 + 1) {
        latency_init(&latency);
        latency_add(&latency, ns);
        latency_add(&latency, INT64_MAX); /* or the maximum would be read */
        assert_true(latency_at(&latency, 0.5) >= ns);
        assert_true(latency_at(&latency, 0.5) <= ns + ns / 32);
    }
}

TEST_WITH(LATENCY, shares_are_found_in_their_order)
{
    for (int64_t i = 1; i <= 10000; i++)
        latency_add(&latency, i);
    assert_in_range(latency_at(&latency, 0.5), 5000, 5160);
    assert_in_range(latency_at(&latency, 0.99), 9900, 10000);
    assert_in_range(latency_at(&latency, 0.9999), 9999, 10000);
    assert_int_equal(latency_at(&latency, 1), 10000);
}

TEST_WITH(LATENCY, one_slow_call_in_ten_thousand_is_seen)
{
    for (int i = 0; i < 9998; i++)
        latency_add(&latency, 100);
    latency_add(&latency, 5000000);
    latency_add(&latency, 5000000);
    assert_in_range(latency_at(&latency, 0.999), 100, 103);
    assert_int_equal(latency_at(&latency, 0.9999), 5000000);
}

TEST_WITH(LATENCY, highest_is_exact_and_negative_is_zero)
{
    latency_add(&latency, -5);
    latency_add(&latency, 1234567);
    assert_int_equal(latency_at(&latency, 0.5), 0);
    assert_int_equal(latency.max_ns, 1234567);
    assert_int_equal(latency_at(&latency, 1), 1234567);
}

TEST_WITH(LATENCY, calls_that_a_slow_one_held_up_are_counted)
{
    latency_add_paced(&latency, 99, 100);
    assert_int_equal(latency.count, 1);
    latency_add_paced(&latency, 1000, 100);
    assert_int_equal(latency.count, 1 + 10);
    assert_int_equal(latency.max_ns, 1000);
    assert_in_range(latency_at(&latency, 0.5), 500, 515);
    latency_add_paced(&latency, 1000000, 0);
    assert_int_equal(latency.count, 1 + 10 + 1);
}

TEST_WITH(LATENCY, merged_counts_add_up)
{
    static struct latency other;

    latency_init(&other);
    for (int i = 0; i < 3; i++)
        latency_add(&latency, 10);
    latency_add(&other, 20);
    latency_merge(&latency, &other);
    assert_int_equal(latency.count, 4);
    assert_int_equal(latency.max_ns, 20);
    assert_int_equal(latency_at(&latency, 0.75), 10);
    assert_int_equal(latency_at(&latency, 0.76), 20);
}
