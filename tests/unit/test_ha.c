/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitions that fail, hang, and go back, over scripted stores: quarantine,
 * rescue, refusal, exhaustion. Starts are in test_startup.c, windows in
 * test_window.c, callers in test_queue.c.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/minmax.h"
#include "store/layout.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"

#define COUNTER_0 "main/0/order"
#define VALUES    (INT64_C(1) << 60) /* of a partition */
#define COUNTER_1 "main/1/order"

/* Every number that was taken after the first `before` is from partition `i`.
 */
static void expect_only(const struct rig *rig, size_t before, int32_t i)
{
    struct seqb_decoded decoded;

    for (size_t j = before; j < rig->taken.count; j++) {
        layout_decode(rig->taken.values[j], rig->pool.layout.bits,
                      rig->sequences[0].memory_bits, &decoded);
        assert_int_equal(decoded.partition, i);
    }
}

TEST_WITH(DIRECT, failed_partition_rests_until_its_rescue)
{
    struct rig_broker *broker;
    int64_t opens;

    events_start();
    broker = rig_open(rig);
    rig_take(broker, 100);
    fake_set_down(rig->stores[0], true);
    rig_take_until(broker, 0, SEQB_PARTITION_QUARANTINED);
    rig_expect_words(rig_partition(broker, 0).reason, "fake store-0: is down");
    rig_take(broker, 1000);
    opens = fake_calls(rig->stores[0], FAKE_OPEN);
    assert_true(fake_wait_for_calls(rig->stores[0], FAKE_OPEN, opens + 3,
                                    RIG_PATIENCE_MS));
    fake_set_down(rig->stores[0], false);
    rig_await_state(broker, 0, SEQB_PARTITION_UP);
    rig_take(broker, 1000);
    events_expect("event=quarantined", "backend=b0", 1);
    events_expect("event=ramping was=probing", "backend=b0", 1);
    events_expect("event=up was=ramping", "backend=b0", 1);
    events_expect("event=", "backend=b1", 1);
    assert_int_equal(rig_partition(broker, 0).reason[0], '\0');
}

static bool is_unavailable(void *context)
{
    size_t taken;

    return queue_try_many(rig_sequence(context, "order"), 1, &(int64_t){0},
                          &taken, NULL) == SEQB_UNAVAILABLE;
}

TEST_WITH(ONE_DIRECT, probe_reserves_numbers_that_are_used)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 1);
    rig_await_rest(broker);
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
    rig_set_down(rig, true);
    rig_await(is_unavailable, broker);
    rig_await_rest(broker);
    rig_set_down(rig, false);
    rig_await_use(broker, 0);
    /* Numbers are in the ring though nobody asked for any. */
    RIG_AWAIT(rig_status(broker, "order").stock > 0);
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
}

TEST_WITH(DIRECT, hung_store_delays_nobody)
{
    struct rig_broker *broker = rig_open(rig);
    size_t before;

    rig_take(broker, 10);
    rig_await_rest(broker);
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
    before = rig->taken.count;
    fake_hang(rig->stores[0]);
    rig_take(broker, 5000);
    /* The call still hangs: all of those came past it. */
    assert_true(fake_wait_for_hanging(rig->stores[0], 1, RIG_PATIENCE_MS));
    expect_only(rig, before, 1);
    fake_release(rig->stores[0]);
    rig_await_rest(broker);
    rig_take(broker, 5000);
}

TEST_WITH(DIRECT, hung_store_is_quarantined_by_its_time_out)
{
    struct rig_broker *broker;

    events_start();
    rig_set_timeout(rig, 20);
    broker = rig_open(rig);
    rig_take(broker, 100);
    fake_hang(rig->stores[0]);
    rig_take_until(broker, 0, SEQB_PARTITION_QUARANTINED);
    /* One that gives up in time is out at once, one that is ended counts. */
    RIG_AWAIT(events_count("event=quarantined", "no answer") > 0 ||
              events_count("event=quarantined", "2 time-outs of 20 ms") > 0);
    fake_release(rig->stores[0]);
    rig_await_use(broker, 0);
    rig_take(broker, 1000);
}

TEST_WITH(DIRECT, store_that_is_slow_too_often_is_quarantined)
{
    struct rig_broker *broker;

    events_start();
    rig->pool.timeout_ms = 100;
    broker = rig_open(rig);
    fake_set_delay(rig->stores[0], 110);
    while (rig_partition(broker, 0).slow < 2)
        rig_take(broker, 16);
    RIG_AWAIT(events_count("event=quarantined", "slow: 2 time-outs of 100 ms") >
              0);
    fake_set_delay(rig->stores[0], 0);
    rig_await_use(broker, 0);
    rig_take(broker, 1000);
}

TEST_WITH(ONE_DIRECT, last_usable_partition_is_kept_though_it_is_slow)
{
    struct rig_broker *broker;

    events_start();
    rig->pool.timeout_ms = 1;
    broker = rig_open(rig);
    fake_set_delay(rig->stores[0], 3);
    while (rig_partition(broker, 0).slow < 5)
        rig_take(broker, 100);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_SUSPECT);
    events_expect("event=suspect", "", 1);
    assert_int_equal(events_count("event=quarantined", ""), 0);
}

TEST_WITH(DIRECT, demoted_store_is_quarantined_with_its_words)
{
    struct rig_broker *broker = rig_open(rig);

    fake_set_primary(rig->stores[1], false);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    rig_expect_words(rig_partition(broker, 1).reason, "is a replica");
    fake_set_primary(rig->stores[1], true);
    rig_await_use(broker, 1);
}

/* A connection is lost for a reason that is not the store's. The next one
 * cannot be made, because a file that the options name is gone. */
TEST_WITH(DIRECT, store_whose_options_no_longer_open_it_is_quarantined)
{
    struct rig_broker *broker;

    events_start();
    broker = rig_open(rig);
    rig_take(broker, 100);
    fake_fail(rig->stores[0], FAKE_OPEN, INT64_MAX, SEQB_INVALID);
    fake_fail(rig->stores[0], FAKE_RESERVE, 1, SEQB_NO_MEMORY);
    rig_take_until(broker, 0, SEQB_PARTITION_QUARANTINED);
    events_expect("event=quarantined was=up", "backend=b0", 1);
    fake_fail(rig->stores[0], FAKE_OPEN, 0, SEQB_OK);
    rig_await_use(broker, 0);
    rig_take(broker, 1000);
}

TEST_WITH(DIRECT, other_store_in_the_place_of_one_is_refused)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 100);
    rig_close(broker);
    fake_store_free(rig->stores[0]);
    rig->stores[0] = NULL;
    broker = rig_open(rig);
    events_start();
    rig->stores[0] = fake_store_new("store-0");
    rig_take_until(broker, 0, SEQB_PARTITION_REFUSED);
    rig_expect_words(rig_partition(broker, 0).reason, "is new and empty");
    rig_take(broker, 2000);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 0);
    assert_int_equal(rig_partition(broker, 0).next_probe_ms, -1);
    events_expect("event=refused", "backend=b0", 1);
}

/* It is left by the gap above what was granted, or at the end of its values. */
static void expect_poisoned(struct rig *rig, int64_t gap)
{
    struct rig_broker *broker;
    int64_t granted;
    int64_t calls;

    events_start();
    rig->pool.layout.failover_gap = gap;
    broker = rig_open(rig);
    rig_take_from(broker, 0, 2000);
    granted = fake_value(rig->stores[0], COUNTER_0);
    fake_go_back(rig->stores[0], 100);
    rig_take_until(broker, 0, SEQB_PARTITION_POISONED);
    rig_expect_words(rig_partition(broker, 0).reason, "went back");
    assert_true(fake_value(rig->stores[0], COUNTER_0) >=
                min_of(granted + gap, VALUES - 1));
    calls = fake_calls(rig->stores[0], FAKE_RESERVE);
    rig_take(broker, 5000);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), calls);
    assert_int_equal(rig_partition(broker, 0).next_probe_ms, -1);
    events_expect("event=poisoned", "went back", 1);
    rig_use(rig, 5000); /* another broker, which knows nothing */
}

TEST_WITH(DIRECT, counter_that_went_back_poisons_its_partition)
{
    expect_poisoned(rig, 1000);
}

TEST_WITH(DIRECT, poisoned_counter_without_room_for_the_gap_is_used_up)
{
    expect_poisoned(rig, VALUES - 1000);
}

/* Others may count on from where it is. */
TEST_WITH(DIRECT, poisoned_counter_that_is_not_raised_says_so)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take_from(broker, 0, 2000);
    fake_go_back(rig->stores[0], 100);
    fake_fail(rig->stores[0], FAKE_RAISE, 1, SEQB_REFUSED);
    rig_take_until(broker, 0, SEQB_PARTITION_POISONED);
    assert_null(strstr(rig_partition(broker, 0).reason, "was raised"));
}

TEST_WITH(DIRECT, poisoned_partition_grants_again_once_rescued)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take_from(broker, 0, 2000);
    fake_go_back(rig->stores[0], 100);
    rig_take_until(broker, 0, SEQB_PARTITION_POISONED);
    assert_ok(ha_command(broker->ha, "main", 0, SEQB_ORDER_RESCUE, NULL));
    rig_take_from(broker, 0, rig_partition(broker, 0).granted + 1000);
}

TEST_WITH(DIRECT, lost_answer_spends_its_block)
{
    struct rig_broker *broker = rig_open(rig);

    for (int i = 0; i < 3; i++) {
        fake_lose_answers(rig->stores[0], FAKE_RESERVE, 1);
        rig_take_until_failed(broker, 0, i);
        rig_await_use(broker, 0);
        rig_take(broker, 500);
    }
    rig_await_rest(broker);
    assert_true(fake_value(rig->stores[0], COUNTER_0) >
                rig_partition(broker, 0).granted);
    assert_int_equal(fake_value(rig->stores[1], COUNTER_1),
                     rig_partition(broker, 1).granted);
}

TEST_WITH(DIRECT, grants_smaller_than_wanted_are_used)
{
    struct rig_broker *broker;

    fake_set_grant_max(rig->stores[0], 1);
    fake_set_grant_max(rig->stores[1], 3);
    broker = rig_open(rig);
    rig_take(broker, 2000);
    assert_int_equal(numbers_count(&rig->taken), 2000);
}

TEST_WITH(ONE_DIRECT, store_with_another_history_is_raised_once)
{
    struct rig_broker *broker;
    int64_t value;

    events_start();
    broker = rig_open(rig);
    fake_save(rig->stores[0]);
    rig_take(broker, 1000);
    rig_await_rest(broker);
    value = fake_value(rig->stores[0], COUNTER_0);
    assert_true(value < rig->pool.layout.failover_gap);
    fake_restore(rig->stores[0]); /* all of those values are lost */
    rig_take(broker, 5000);
    assert_true(fake_value(rig->stores[0], COUNTER_0) > 1000);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RAISE), 1);
    events_expect("warn event=raised", COUNTER_0, 1);
}

/* The store has values left for `runs` more runs of "order". */
static void nearly_exhaust(struct rig *rig, int32_t i, int64_t runs)
{
    const char *const counters[] = {COUNTER_0, COUNTER_1};

    fake_put(rig->stores[i], counters[i],
             layout_counter_max(rig->pool.layout.bits,
                                rig->sequences[0].memory_bits) -
                 runs);
}

TEST_WITH(DIRECT, exhausted_partition_is_skipped)
{
    struct rig_broker *broker;

    events_start();
    nearly_exhaust(rig, 0, 10);
    broker = rig_open(rig);
    while (events_count("event=exhausted", "partition=0") == 0)
        rig_take(broker, 100);
    rig_take(broker, 5000);
    assert_int_equal(fake_value(rig->stores[0], COUNTER_0),
                     layout_counter_max(1, 2));
    events_expect("event=exhausted", "partition=0", 1);
    /* The other one has nearly all values left. */
    assert_int_equal(rig_status(broker, "order").runs_out_ms, INT64_MAX);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_UP);
    for (size_t i = 0; i < rig->taken.count; i++)
        assert_true(rig->taken.values[i] > 0);
}

TEST_WITH(DIRECT, exhausted_counter_says_so_at_once)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t number;
    size_t taken;

    nearly_exhaust(rig, 0, 10);
    nearly_exhaust(rig, 1, 20);
    rig->sequences[0].deadline_ms = RIG_FOREVER_MS;
    broker = rig_open(rig);
    rig_take(broker, (size_t)30 * 4);
    assert_fails(rig_take_one(broker, &number, &failure), SEQB_EXHAUSTED,
                 "partition 0 (b0)");
    rig_expect_words(failure.text, "partition 1 (b1)");
    assert_int_equal(
        queue_try_many(rig_sequence(broker, "order"), 1, &number, &taken, &err),
        SEQB_EXHAUSTED);
}

/* Another sequence goes on where one is exhausted. */
TEST_WITH(DIRECT, exhaustion_is_one_sequences_alone)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t bills[1000];

    rig->queue.sequence_count = 2;
    nearly_exhaust(rig, 0, 0);
    nearly_exhaust(rig, 1, 0);
    broker = rig_open(rig);
    assert_int_equal(rig_take_one(broker, bills, &err), SEQB_EXHAUSTED);
    assert_ok(queue_next_many(rig_sequence(broker, "bill"), 1000, bills, &err));
    numbers_add(&rig->taken, bills, 1000);
}
