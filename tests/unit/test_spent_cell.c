/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cell that has nothing of what is wanted, or next to nothing, gets a window
 * without being asked first, unless others count in it.
 */
#include "ha/counter/source.h"
#include "support/test.h"
#include "unit/taker.h"

/* Of which the window in the cell is next to nothing. */
#define WANT_LARGE (64 * WINDOW)

/* To ask it first would be a round trip for a grant that is far too small. */
TEST_WITH(TAKER, large_want_passes_over_a_window)
{
    int64_t window = taker_leave_window(taker);
    struct ha_grant grant = taker_ask(taker, WANT_LARGE);

    assert_true(grant.count >= WINDOW);
    assert_int_equal(grant.count % WINDOW, 0);
    assert_true(taker_window(&grant) > window);
    assert_int_equal(taker_installs(taker), 2);
}

TEST_WITH(TAKER, smaller_want_takes_the_window_first)
{
    int64_t window = taker_leave_window(taker);
    struct ha_grant grant = taker_ask(taker, WANT_LARGE - 1);

    assert_int_equal(grant.count, WINDOW);
    assert_int_equal(taker_window(&grant), window);
    assert_int_equal(taker_installs(taker), 1);
}

/* Nothing else tells how fast the store is then. */
TEST_WITH(TAKER, install_alone_is_a_call_that_is_evaluated)
{
    const int64_t slow_us = 1000000000;
    struct ha_pool *pool;
    int64_t latency_us;

    (void)taker_leave_window(taker);
    pool = taker->counter->pool;
    pthread_mutex_lock(pool->lock);
    pool->pool.member[0].latency_us = slow_us;
    pthread_mutex_unlock(pool->lock);
    (void)taker_ask(taker, WANT_LARGE);
    pthread_mutex_lock(pool->lock);
    latency_us = pool->pool.member[0].latency_us;
    pthread_mutex_unlock(pool->lock);
    assert_true(latency_us < slow_us);
}

/* What is left of it is more than nothing while no other window is there. */
TEST_WITH(TAKER, large_want_takes_the_window_if_there_is_no_other)
{
    struct ha_grant grant;
    int64_t window = taker_leave_window(taker);
    struct window_source *source = taker->counter->slots[0].windows;

    pthread_mutex_lock(source->lock);
    source_drop(source, source_last(source) - STEP);
    pthread_mutex_unlock(source->lock);
    grant = taker_ask(taker, WANT_LARGE);
    assert_int_equal(grant.count, WINDOW);
    assert_int_equal(taker_window(&grant), window);
}

/* Each of them would put an end to the other one's window. */
TEST_WITH(TAKER, window_that_another_broker_counts_in_is_taken_first)
{
    struct taker other;
    struct ha_grant grant;
    int64_t window;

    taker_begin(&other, taker->rig);
    window = taker_leave_window(taker);
    assert_int_equal(taker_ask_again(&other, 10).count, 10);
    grant = taker_ask(taker, 20);
    assert_int_equal(grant.count, 20);
    assert_int_equal(taker_window(&grant), window);
    grant = taker_ask(taker, WANT_LARGE);
    assert_int_equal(grant.count, WINDOW - 30);
    assert_int_equal(taker_window(&grant), window);
    taker_end(&other);
}

/* The broker was wrong: the store refuses its window, and is asked. */
TEST_WITH(TAKER, window_that_was_put_above_is_taken_after_all)
{
    struct taker other;
    struct ha_grant grant;

    taker_begin(&other, taker->rig);
    (void)taker_leave_window(taker);
    do /* its windows are leased above all */
        grant = taker_ask_again(&other, WANT_MANY);
    while (taker_cell_window(&other) <
           source_last(taker->counter->slots[0].windows));
    grant = taker_ask(taker, WANT_LARGE);
    assert_int_equal(grant.count, WINDOW);
    assert_int_equal(taker_window(&grant), taker_cell_window(&other));
    taker_end(&other);
}

static int64_t reserves(const struct taker *taker)
{
    return fake_calls(taker->rig->stores[0], FAKE_RESERVE);
}

/* The broker was granted all of it, one part after another. */
TEST_WITH(TAKER_OF_WINDOWS, window_that_is_used_up_is_followed_without_asking)
{
    int64_t before;

    for (int i = 0; i < 4; i++)
        assert_int_equal(taker_ask_again(taker, WINDOW / 4).count, WINDOW / 4);
    before = reserves(taker);
    assert_int_equal(taker_ask(taker, WINDOW).count, WINDOW);
    assert_int_equal(reserves(taker), before + 1);
}
