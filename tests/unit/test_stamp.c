/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that become those of other stamps, over scripted stores. */
#include <stdlib.h>

#include "ha/counter/counter.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/events.h"
#include "unit/taker.h"

TEST_WITH(TAKER_OF_DIRECT, each_stamp_has_a_counter_of_its_own)
{
    struct rig *rig = taker->rig;

    for (int64_t digits = 1; digits <= 5; digits++) {
        assert_true(is_restamped(taker, digits));
        take(taker);
    }
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@1"), 2);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@5"), 2);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@3"), 2);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill"), -1);
}

TEST_WITH(TAKER_OF_DIRECT, a_counter_that_is_asked_keeps_its_stamp)
{
    struct rig *rig = taker->rig;

    assert_true(is_restamped(taker, 1));
    take(taker);
    fake_hang(rig->stores[0]);
    assert_true(ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms()) >
                0);
    assert_false(is_restamped(taker, 2));
    fake_release(rig->stores[0]);
    await_rest(taker);
    while (!is_restamped(taker, 2))
        continue;
    take(taker);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@2"), 2);
}

static bool restamp_for_an_hour(struct taker *taker, int64_t digits)
{
    const struct ha_stamp stamp = {digits, digits * HOUR, (digits + 1) * HOUR};

    return ha_counter_restamp(taker->counter, &stamp);
}

/* Asks until the spare window is in use: then the next one is leased, while no
 * partition has anything to answer. */
static void use_up_a_window(struct taker *taker)
{
    for (int64_t used = 0; used <= 2 << 8; used += 64) {
        (void)ha_counter_ask(taker->counter, 64, HA_ASK_ALL, clock_now_ms());
        await_rest(taker);
    }
}

/* Each lessor's counter of the new stamp begins below that of the old one,
 * which is no step back. */
TEST_WITH(TAKER, lessors_count_each_stamp_for_itself)
{
    struct rig *rig = taker->rig;

    for (int64_t digits = 1; digits <= 5; digits++) {
        char name[64];

        RIG_AWAIT(is_restamped(taker, digits)); /* a spare may be leased */
        for (int64_t i = digits; i <= 5; i++)
            use_up_a_window(taker);
        (void)text_format(name, sizeof name, "window/main/0/bill@%d",
                          (int)digits);
        assert_true(fake_value(rig->stores[0], name) > 0 ||
                    fake_value(rig->stores[1], name) > 0);
    }
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(rig_partition(taker->broker, i).state,
                         SEQB_PARTITION_UP);
        assert_int_equal(rig_partition(taker->broker, i).errors, 0);
    }
}

/* Else that window, of the old stamp, would be one of the new stamp. */
TEST_WITH(TAKER_OF_WINDOWS, a_counter_that_leases_a_window_keeps_its_stamp)
{
    struct rig *rig = taker->rig;

    assert_true(restamp_for_an_hour(taker, 1));
    take(taker);
    /* The spare windows have come. */
    RIG_AWAIT(fake_value(rig->authority, "window/main/0/bill@1") == 2 &&
              fake_value(rig->authority, "window/main/1/bill@1") == 2);
    fake_hang(rig->authority);
    use_up_a_window(taker);
    assert_true(fake_wait_for_hanging(rig->authority, 1, RIG_PATIENCE_MS));
    assert_false(restamp_for_an_hour(taker, 2));
    fake_release(rig->authority);
    while (!restamp_for_an_hour(taker, 2))
        continue;
    take(taker);
    assert_int_equal(fake_window(rig->stores[0], "main/0/bill@2"), 1);
}

/* What it had learned is of the old stamp. */
TEST_WITH(TAKER_OF_DIRECT, a_new_stamp_is_not_exhausted)
{
    struct rig *rig = taker->rig;
    static const struct ha_counter_attributes few = {
        .claim = "", .value_bits = 5, .keep_ms = HOUR};

    ha_counter_set_attributes(taker->counter, &few);
    for (int64_t digits = 1; digits <= 3; digits++) {
        assert_true(is_restamped(taker, digits));
        while (ha_counter_availability(taker->counter, NULL) == SEQB_OK) {
            (void)ha_counter_ask(taker->counter, 8, HA_ASK_ALL, clock_now_ms());
            await_rest(taker);
        }
        assert_int_equal(ha_counter_availability(taker->counter, NULL),
                         SEQB_EXHAUSTED);
        /* 5 bits less 1 of the partition and 2 of memory. */
        assert_int_equal(fake_value(rig->stores[0], "main/0/bill@1"), 3);
    }
}

/* For a stamp whose time does not end. */
static bool is_restamped_for_long(struct taker *taker, int64_t digits)
{
    const struct ha_stamp stamp = {digits, digits * SECOND, INT64_MAX};

    return ha_counter_restamp(taker->counter, &stamp);
}

/* Moves it far, in its stamp, and takes from there. */
static void advance_far(struct taker *taker)
{
    assert_ok(ha_counter_advance(taker->counter, 1 << 20, NULL));
    take(taker);
    assert_true(atomic_load(&taker->first) > 1 << 20);
}

TEST_WITH(TAKER_OF_DIRECT,
          a_new_stamp_begins_at_1_though_the_old_one_was_advanced)
{
    struct rig *rig = taker->rig;

    assert_true(is_restamped_for_long(taker, 1));
    advance_far(taker);
    assert_true(is_restamped_for_long(taker, 2));
    take(taker);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@2"), 2);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@2"), 2);
}

TEST_WITH(TAKER_OF_WINDOWS,
          windows_of_a_new_stamp_begin_at_1_though_it_was_advanced)
{
    struct rig *rig = taker->rig;

    assert_true(is_restamped_for_long(taker, 1));
    advance_far(taker);
    RIG_AWAIT(is_restamped_for_long(taker, 2)); /* a spare may be leased */
    take(taker);
    assert_int_equal(fake_window(rig->stores[0], "main/0/bill@2"), 1);
    assert_int_equal(fake_window(rig->stores[1], "main/1/bill@2"), 1);
}

#define LEVEL INT64_C(1000000000000)

static bool is_idle(struct taker *taker, int32_t i)
{
    struct ha_pool *pool = taker->counter->pool;
    bool is_busy;

    pthread_mutex_lock(pool->lock);
    is_busy = taker->counter->slots[i].is_busy;
    pthread_mutex_unlock(pool->lock);
    return !is_busy;
}

/* Partition i is asked while the other one hangs, and its store changed; then
 * the other one answers. */
static void change_one(struct rig *rig, struct taker *taker, int32_t i)
{
    fake_change_origin(rig->stores[i]);
    fake_hang(rig->stores[1 - i]);
    assert_int_equal(
        ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms()), 4);
    RIG_AWAIT(is_idle(taker, i));
    fake_release(rig->stores[1 - i]);
    await_rest(taker);
}

/* That a partition waited in the old stamp says nothing of the new one. */
TEST_WITH(TAKER_OF_DIRECT,
          a_store_that_changed_waits_in_a_new_stamp_for_the_others)
{
    struct rig *rig = taker->rig;

    fake_put(rig->stores[0], "main/0/bill@1", 5);
    fake_put(rig->stores[1], "main/1/bill@2", 5);
    assert_true(is_restamped_for_long(taker, 1));
    change_one(rig, taker, 0);
    assert_true(is_restamped_for_long(taker, 2));
    fake_put(rig->stores[0], "main/0/bill@2", LEVEL);
    change_one(rig, taker, 1);
    while (fake_first_raise(rig->stores[1], "main/1/bill@2").limit == 0)
        take(taker);
    assert_true(fake_first_raise(rig->stores[1], "main/1/bill@2").floor >
                LEVEL);
}

/* --- what a stamp is refused --- */

static void restamp_for_long(struct taker *taker, int64_t digits)
{
    await_rest(taker);
    assert_true(is_restamped_for_long(taker, digits));
}

static void ask_in_vain(struct taker *taker)
{
    (void)ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms());
    await_rest(taker);
}

TEST_WITH(TAKER_OF_DIRECT, a_new_stamp_is_refused_nothing_that_was_used_up)
{
    struct rig *rig = taker->rig;

    restamp_for_long(taker, 1);
    fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/bill@1", SEQB_EXHAUSTED);
    ask_in_vain(taker);
    assert_int_equal(rig_partition(taker->broker, 1).refused, 1);
    restamp_for_long(taker, 2);
    assert_int_equal(rig_partition(taker->broker, 1).refused, 0);
    take(taker);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@2"), 2);
}

TEST_WITH(TAKER_OF_DIRECT, what_every_stamp_is_refused_is_told_once)
{
    struct rig *rig = taker->rig;

    events_start();
    for (int64_t digits = 1; digits <= 5; digits++) {
        char counter[SEQB_COUNTER_SIZE];

        (void)text_format(counter, sizeof counter, "main/1/bill@%d",
                          (int)digits);
        fake_refuse(rig->stores[1], FAKE_RESERVE, counter, SEQB_INVALID);
        restamp_for_long(taker, digits);
        ask_in_vain(taker);
        assert_int_equal(rig_partition(taker->broker, 1).refused, 1);
    }
    events_expect("event=counter_refused", "key=bill", 1);
    restamp_for_long(taker, 6);
    take(taker);
    assert_int_equal(rig_partition(taker->broker, 1).refused, 0);
    events_expect("event=counter_recovered", "key=bill", 1);
}

TEST_WITH(TAKER_OF_DIRECT, a_stamp_that_is_over_is_no_trouble)
{
    struct rig *rig = taker->rig;
    static const enum seqb_status statuses[] = {SEQB_EXHAUSTED, SEQB_REFUSED};

    for (size_t i = 0; i < 2; i++) {
        fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/bill@1", statuses[i]);
        assert_true(is_restamped(taker, 1));
        ask_in_vain(taker);
        RIG_AWAIT(rig_partition(taker->broker, 1).refused == 0);
        assert_int_equal(ha_health(taker->broker->ha, NULL, 0),
                         SEQB_HEALTH_SERVING);
    }
}

/* Whether a stamp that ended so many minutes ago is raised, as its store became
 * another one. */
static bool is_raised(struct rig *rig, struct taker *taker, int64_t minutes)
{
    const int64_t now_ms = clock_wall_ms();
    const struct ha_stamp stamp = {minutes, now_ms - 4 * HOUR,
                                   now_ms - minutes * 60 * SECOND};
    char name[32];

    (void)text_format(name, sizeof name, "main/0/bill@%d", (int)minutes);
    assert_true(ha_counter_restamp(taker->counter, &stamp));
    take(taker);
    fake_change_origin(rig->stores[0]);
    (void)ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms());
    await_rest(taker);
    return fake_first_raise(rig->stores[0], name).limit != 0;
}

/* It may have waited for the other partition before. */
static bool is_told_over(struct taker *taker)
{
    ask_in_vain(taker);
    return events_count("event=exhausted", "bill@35: the period is over") == 1;
}

/* Others may have purged it after keep_ms, by clocks that differ by half of
 * that: a raise would make it again. */
TEST_WITH(TAKER_OF_DIRECT, a_stamp_that_may_be_purged_is_not_raised)
{
    struct rig *rig = taker->rig;

    events_start();
    assert_true(is_raised(rig, taker, 25));
    assert_false(is_raised(rig, taker, 35));
    RIG_AWAIT(is_told_over(taker));
    assert_int_equal(fake_first_raise(rig->stores[0], "main/0/bill@35").limit,
                     0);
    assert_int_equal(rig_partition(taker->broker, 0).state, SEQB_PARTITION_UP);
}
