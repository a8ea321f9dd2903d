/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window is put into a cell and what is wanted of it is taken in one call, by
 * an engine that does so; if it fails, or nobody knows, none of it is used.
 */
#include "support/test.h"
#include "unit/taker.h"

#define PART 10

static int taking_setup(void **state)
{
    const int failed = taker_setup_neighbours(state);

    if (failed == 0)
        fake_set_takes(((struct taker *)*state)->rig->stores[0]);
    return failed;
}

#define TAKING FIXTURE(struct taker *taker, taking_setup, taker_teardown)

static int64_t reserves(const struct taker *taker)
{
    return fake_calls(taker->rig->stores[0], FAKE_RESERVE);
}

static void expect_next(const struct ha_grant *grant,
                        const struct ha_grant *before)
{
    assert_int_equal(grant->first, before->first + before->count * 2 * RUN);
}

TEST_WITH(TAKING, window_is_taken_from_as_it_is_put_there)
{
    struct ha_grant grant;
    struct ha_grant next;
    int64_t before;

    assert_int_equal(taker_ask_again(taker, WINDOW - 1).count, WINDOW - 1);
    assert_int_equal(taker_ask(taker, 1).count, 1); /* it is used up */
    before = reserves(taker);
    grant = taker_ask(taker, PART);
    assert_int_equal(grant.count, PART);
    assert_int_equal(reserves(taker), before);
    assert_int_equal(fake_value(taker->rig->stores[0], CELL), PART);
    next = taker_ask(taker, PART);
    assert_int_equal(next.count, PART);
    expect_next(&next, &grant);
    assert_int_equal(reserves(taker), before + 1);
}

TEST_WITH(TAKING, whole_windows_and_a_part_are_one_grant)
{
    struct ha_grant grant;
    struct ha_grant next;

    grant = taker_ask_again(taker, WANT_MANY);
    assert_int_equal(grant.count, WANT_MANY);
    assert_int_equal(fake_value(taker->rig->stores[0], CELL),
                     WANT_MANY % WINDOW);
    next = taker_ask(taker, PART);
    assert_int_equal(next.count, PART);
    assert_int_equal(taker_window(&next),
                     taker_window(&grant) + (MANY - 1) * STEP);
    assert_int_equal(next.first / RUN / 2 % WINDOW, WANT_MANY % WINDOW);
}

TEST_WITH(TAKING, others_count_on_behind_what_was_taken)
{
    struct taker other;
    struct ha_grant grant;
    struct ha_grant next;

    taker_begin(&other, taker->rig);
    grant = taker_ask_again(taker, PART);
    next = taker_ask_again(&other, PART);
    expect_next(&next, &grant);
    assert_int_equal(taker_installs(taker), 1);
    taker_end(&other);
}

/* It was done: what was taken is nobody's. */
TEST_WITH(TAKING, what_was_taken_is_dropped_if_the_answer_is_lost)
{
    struct ha_grant grant;

    fake_lose_answers(taker->rig->stores[0], FAKE_INSTALL, 1);
    do
        assert_int_equal(taker_ask(taker, PART).count, 0);
    while (taker_installs(taker) == 0);
    grant = taker_ask_again(taker, PART);
    assert_int_equal(grant.first / RUN / 2 % WINDOW, PART);
}

/* An engine need not know of it: its cell is asked. */
TEST_WITH(TAKER, engine_that_takes_nothing_is_asked)
{
    struct ha_grant next;
    struct ha_grant grant = taker_ask_again(taker, PART);

    assert_int_equal(grant.count, PART);
    assert_int_equal(fake_value(taker->rig->stores[0], CELL), PART);
    next = taker_ask(taker, PART);
    expect_next(&next, &grant);
}
