/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle itself: it finds what came twice, and nothing else. */

#include "oracle.h"
#include "support/test.h"

#define MANY  100000
#define APART 4097 /* more than a page: each number is in one of its own */

static int oracle_setup(void **state)
{
    static struct oracle oracle;

    oracle_init(&oracle);
    *state = &oracle;
    return 0;
}

static int oracle_teardown(void **state)
{
    oracle_fini(*state);
    return 0;
}

#define ORACLE FIXTURE(struct oracle *oracle, oracle_setup, oracle_teardown)

static void hear_span(struct oracle *oracle, int64_t first, int64_t step)
{
    for (int64_t i = 0; i < MANY; i++) {
        const int64_t number = first + i * step;

        oracle_add(oracle, &number, 1);
    }
}

TEST_WITH(ORACLE, numbers_that_differ_are_no_repeats)
{
    hear_span(oracle, 1, 1);
    hear_span(oracle, INT64_MAX - MANY, 1);
    hear_span(oracle, (int64_t)1 << 40, APART);
    assert_int_equal(oracle->count, 3 * MANY);
    assert_int_equal(oracle->repeats, 0);
}

TEST_WITH(ORACLE, each_repeat_is_counted_and_the_first_is_named)
{
    static const int64_t again[] = {7000, 7001, 1, 9, 9, 10};

    hear_span(oracle, 5, APART);
    oracle_add(oracle, again, 6);
    assert_int_equal(oracle->repeats, 1);
    assert_int_equal(oracle->repeated, 9);
    hear_span(oracle, 5, APART);
    assert_int_equal(oracle->repeats, 1 + MANY);
    assert_int_equal(oracle->count, 2 * MANY + 6);
    assert_int_equal(oracle->repeated, 9);
}
