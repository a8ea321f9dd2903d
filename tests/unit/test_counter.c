/* SPDX-License-Identifier: Apache-2.0 */
/* What a counter asks of its partitions, and what it says of that. */
#include <stdlib.h>
#include <unistd.h>

#include "ha/counter/counter.h"
#include "ha/counter/window.h"
#include "ha/startup.h"
#include "platform/clock.h"
#include "platform/minmax.h"
#include "support/test.h"
#include "unit/taker.h"

static int64_t patience_of(struct rig_broker *broker, int32_t i)
{
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);
    int64_t patience_ms;

    pthread_mutex_lock(pool->lock);
    patience_ms = pool_patience_ms(&pool->pool, i);
    pthread_mutex_unlock(pool->lock);
    return patience_ms;
}

static void expect_view(struct taker *taker, int64_t now_ms, int64_t fresh,
                        int64_t late_ms)
{
    struct ha_view view;

    ha_counter_view(taker->counter, now_ms, &view);
    assert_int_equal(view.all, 5);
    assert_int_equal(view.fresh, fresh);
    assert_int_equal(view.late_ms, late_ms);
}

/* Of 5 values partition 0 or 1 is asked for 3; each is late by itself. */
TEST_WITH(TAKER_OF_DIRECT, what_was_asked_is_late_after_the_patience)
{
    struct rig *rig = taker->rig;
    int64_t late_ms[2];
    int64_t want[2];
    int64_t first_ms;
    int64_t last_ms;
    int64_t asked_ms;

    for (int32_t i = 0; i < 2; i++)
        fake_hang(rig->stores[i]);
    asked_ms = clock_now_ms();
    assert_int_equal(ha_counter_ask(taker->counter, 5, HA_ASK_ALL, asked_ms),
                     5);
    for (int32_t i = 0; i < 2; i++) {
        late_ms[i] = asked_ms + patience_of(taker->broker, i) + 1;
        want[i] = taker->counter->slots[i].want;
    }
    assert_int_equal(want[0] + want[1], 5);
    assert_int_equal(max_of(want[0], want[1]), 3);
    first_ms = min_of(late_ms[0], late_ms[1]);
    last_ms = max_of(late_ms[0], late_ms[1]);
    assert_true(first_ms > asked_ms + 1);
    expect_view(taker, asked_ms, 5, first_ms);
    expect_view(taker, first_ms - 1, 5, first_ms);
    if (first_ms < last_ms)
        expect_view(taker, last_ms - 1, want[late_ms[1] == last_ms], last_ms);
    expect_view(taker, last_ms, 0, INT64_MAX);
    for (int32_t i = 0; i < 2; i++)
        fake_release(rig->stores[i]);
    RIG_AWAIT(atomic_load(&taker->granted) == 5);
}

static void set_latency(struct rig_broker *broker, int32_t i, int64_t us)
{
    struct ha_pool *pool = ha_pool_at(broker->ha, 0);

    pthread_mutex_lock(pool->lock);
    pool->pool.member[i].latency_us = us;
    pthread_mutex_unlock(pool->lock);
}

static void expect_delay(struct taker *taker, int64_t delay_ms)
{
    struct ha_view view;

    ha_counter_view(taker->counter, clock_now_ms(), &view);
    assert_int_equal(view.delay_ms, delay_ms);
}

/* In whole ms. */
TEST_WITH(TAKER_OF_DIRECT, delay_is_that_of_those_who_may_be_asked)
{
    set_latency(taker->broker, 0, 3000);
    set_latency(taker->broker, 1, 8500);
    expect_delay(taker, 5);
    assert_ok(ha_command(taker->broker->ha, "main", 1, SEQB_ORDER_DRAIN, NULL));
    expect_delay(taker, 3);
    assert_ok(ha_command(taker->broker->ha, "main", 0, SEQB_ORDER_DRAIN, NULL));
    expect_delay(taker, 0);
}

static bool is_found_hanging(void *context)
{
    struct ha_pool *pool =
        ha_pool_at(((const struct rig_broker *)context)->ha, 0);
    bool is_found;

    pthread_mutex_lock(pool->lock);
    is_found = pool_hanging(pool, clock_now_ms()) == 1;
    pthread_mutex_unlock(pool->lock);
    return is_found;
}

/* Until it is released, what is asked of partition 0 waits. */
static void hang_first(struct rig *rig, struct rig_broker *broker)
{
    const struct ha_entry entry = {0, "clock/x", 1};
    int64_t standing;

    fake_hang(rig->stores[0]);
    assert_int_equal(
        ha_note(broker->ha, &entry, clock_now_ms() + 10, &standing, NULL),
        SEQB_UNAVAILABLE);
}

/* It is the last one to be asked then, and no other is asked twice. */
TEST_WITH(TAKER_OF_DIRECT, each_partition_is_asked_once_though_one_hangs)
{
    struct rig *rig = taker->rig;

    hang_first(rig, taker->broker);
    rig_await(is_found_hanging, taker->broker);
    assert_int_equal(
        ha_counter_ask(taker->counter, 5, HA_ASK_ALL, clock_now_ms()), 5);
    assert_int_equal(taker->counter->slots[1].want, 3);
    assert_int_equal(taker->counter->slots[0].want, 2);
    fake_release(rig->stores[0]);
    RIG_AWAIT(atomic_load(&taker->granted) == 5);
}

static bool is_asked(struct taker *taker)
{
    return ha_counter_ask(taker->counter, 5, HA_ASK_ALL, clock_now_ms()) == 5;
}

/* The claims of the first one and the last one were compared before. */
TEST_WITH(ONE_DIRECT, all_of_a_batch_are_answered_though_a_claim_is_cut_off)
{
    static const char *const keys[] = {"bill.0", "bill.1", "bill.2"};
    struct taker takers[COUNT_OF(keys)];
    struct rig_broker *broker;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        taker_make(&takers[i], broker, keys[i]);
    for (size_t i = 0; i < COUNT_OF(keys); i += 2) {
        assert_true(is_asked(&takers[i]));
        RIG_AWAIT(atomic_load(&takers[i].granted) == 5);
    }
    hang_first(rig, broker);
    fake_refuse(rig->stores[0], FAKE_CLAIM, "sequence/main/bill.1",
                SEQB_UNREACHABLE);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        RIG_AWAIT(is_asked(&takers[i]));
    fake_release(rig->stores[0]);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        RIG_AWAIT(atomic_load(&takers[i].answers) > (i != 1));
    queue_stop(broker->queue);
    ha_close(broker->ha);
    queue_free(broker->queue);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        ha_counter_free(takers[i].counter);
    rig_forget(broker);
}

/* --- of a stamp --- */

/* A taker of a stamp, and for how long its cell is kept, as of now: what passed
 * since it was made is added. */
static int64_t kept_ms(struct rig *rig, int64_t begins_ms, int64_t ends_ms)
{
    const struct ha_stamp stamp = {7, begins_ms, ends_ms};
    int64_t before_ms;
    int64_t until_ms;
    struct taker taker;

    taker_begin(&taker, rig);
    before_ms = clock_now_ms();
    assert_true(ha_counter_restamp(taker.counter, &stamp));
    take(&taker);
    assert_int_equal(atomic_load(&taker.granted), 4);
    until_ms = fake_until_ms(rig->stores[0], "main/0/bill@7");
    taker_end(&taker);
    return until_ms == 0 ? 0 : until_ms - before_ms;
}

/* By keep_ms, in whole seconds, and one more. */
TEST_WITH(WINDOWED, cell_is_kept_longer_than_its_stamp)
{
    const int64_t begin_ms = clock_now_ms();
    const int64_t wall_ms = clock_wall_ms();
    int64_t late_ms;
    int64_t kept;

    kept = kept_ms(rig, 0, HOUR);
    late_ms = clock_now_ms() - begin_ms;
    assert_in_range(kept, HOUR + SECOND, HOUR + SECOND + late_ms);
    fake_flush(rig->stores[0]);
    kept = kept_ms(rig, wall_ms, wall_ms + 2 * HOUR);
    late_ms = clock_now_ms() - begin_ms;
    assert_in_range(kept, 3 * HOUR - late_ms, 3 * HOUR + SECOND + late_ms);
}

/* It may be over before. The first use is that of a whole window. */
TEST_WITH(TAKER_OF_WINDOWS, short_stamp_leases_no_window_ahead_of_its_first_use)
{
    struct rig *rig = taker->rig;
    struct ha_pool *pool = ha_pool_at(taker->broker->ha, 0);
    const struct ha_stamp stamp = {1, 0, SECOND};
    bool is_asked = false;

    assert_true(ha_counter_restamp(taker->counter, &stamp));
    take(taker);
    assert_int_equal(atomic_load(&taker->granted), 4);
    pthread_mutex_lock(pool->lock);
    for (int32_t i = 0; i < 2; i++)
        is_asked |= window_is_asked(&taker->counter->slots[i]);
    pthread_mutex_unlock(pool->lock);
    assert_false(is_asked);
    assert_int_equal(fake_value(rig->authority, "window/main/0/bill@1"), 1);
    assert_int_equal(fake_value(rig->authority, "window/main/1/bill@1"), 1);
    while (fake_value(rig->authority, "window/main/0/bill@1") < 3) {
        (void)ha_counter_ask(taker->counter, 64, HA_ASK_ALL, clock_now_ms());
        usleep(1000); /* without locks that the worker needs */
    }
}
