/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neighbours over scripted stores: direct stores that lease windows to each
 * other, and to stores that forget, while they go back with all that they say
 * of themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/neighbours/sync.h"
#include "neighbours_fixture.h"
#include "platform/text.h"
#include "support/events.h"
#include "support/test.h"

TEST_WITH(NEIGHBOURS, new_pool_gives_numbers_at_once)
{
    struct rig_broker *broker;
    char text[256];

    rig_shape(rig, RIG_NEIGHBOURS, 2);
    broker = rig_open(rig);
    for (int32_t i = 0; i < 4; i++)
        await_lessor(broker, i, HA_LESSOR_LEVEL);
    rig_take(broker, 1);
    assert_true(rig->taken.values[0] < (int64_t)64 * 4 * RUN * 256);
    fake_claim_text(rig->stores[0], "synced/main", text, sizeof text);
    assert_string_equal(text, "run-0");
    fake_claim_text(rig->stores[3], "known/main/0", text, sizeof text);
    assert_string_equal(text, "run-0|run-0");
    rig_take(broker, 50 * WINDOW_STOCK);
    assert_true(lessor_of(broker, 1).leases_per_minute > 0);
    assert_string_equal(lessor_of(broker, 1).backend, "b1");
}

/* The window that stands in a store that forgets was noted in both lessors. */
static void expect_noted(const struct rig *rig, int32_t partition)
{
    const char *leases = partition == 2 ? LEASES(2) : LEASES(3);
    const char *cell = partition == 2 ? "main/2/order" : "main/3/order";
    const int64_t window = fake_window(rig->stores[partition], cell);

    if (window == SEQB_NO_WINDOW)
        return;
    assert_true(fake_value(rig->stores[0], leases) >= window >> 1);
    assert_true(fake_value(rig->stores[1], leases) >= window >> 1);
}

/* Store 1 cannot compare it. Its own partition has done so before. */
TEST_WITH(THREE_LESSORS, each_lessor_compares_the_claim_before_it_leases)
{
    struct rig_broker *broker = rig_open(rig);

    for (int32_t i = 0; i < 3; i++)
        await_lessor(broker, i, HA_LESSOR_LEVEL);
    fake_refuse(rig->stores[1], FAKE_CLAIM, "sequence/main/order",
                SEQB_REFUSED);
    rig_take(broker, 50 * WINDOW_STOCK);
    assert_true(lessor_of(broker, 0).leases_per_minute > 0);
    assert_true(lessor_of(broker, 1).leases_per_minute == 0);
}

static void take_noted(struct rig *rig, int windows)
{
    struct rig_broker *broker = rig_open(rig);

    for (int i = 0; i < windows; i++) {
        rig_take(broker, WINDOW_STOCK);
        expect_noted(rig, 2);
        expect_noted(rig, 3);
    }
}

/* Whoever leases, its counter is noted in another store before the window is
 * used. */
TEST_STATE(NEIGHBOURS, lease_is_noted_before_it_is_used)
{
    take_noted(mixed(state, 2), 20);
}

/* Of few leases a run is short, so that the next one is not yet leased, and
 * noted, when this one is used. */
TEST_WITH(TWO_LESSORS, run_is_noted_before_its_first_window_is_used)
{
    /* Of partition, memory, window, lessor; 64 runs of 16. */
    rig->sequences[0].value_bits = 2 + 2 + 8 + 1 + 6 + 4;
    take_noted(rig, 200);
}

/* No lessor is asked for each of some 200. */
TEST_WITH(TWO_LESSORS, windows_are_leased_in_runs)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 200 * WINDOW_STOCK);
    assert_true(lessor_of(broker, 0).leases_per_minute +
                    lessor_of(broker, 1).leases_per_minute <
                100);
}

/* Both of two lessors, again and again, to one state: a lease is raised by
 * chance, so that one time would not always show that no witness was asked. */
TEST_WITH(TWO_LESSORS, lessor_that_went_back_leases_nothing_twice)
{
    rig_use(rig, 8 * WINDOW_STOCK);
    for (int i = 0; i < 60; i++) {
        struct fake_store *store = rig->stores[i & 1];

        if (i < 2)
            fake_save(store);
        rig_use(rig, 8 * WINDOW_STOCK);
        fake_put_back(store);
        forget(rig, 2);
        rig_use(rig, 8 * WINDOW_STOCK);
    }
}

/* There is nothing to do then, so it is no warning; and its level is known, so
 * that no gap is left. */
TEST_WITH(TWO_LESSORS, lessor_that_was_put_back_is_raised_without_a_warning)
{
    struct seqb_raise raise;

    bar_lessor(rig, 1);
    rig_use(rig, 8 * WINDOW_STOCK);
    fake_change_origin(rig->stores[0]);
    forget(rig, 2);
    events_start();
    rig_use(rig, 8 * WINDOW_STOCK);
    events_await("info event=raised", "not bound to the store's origin");
    assert_int_equal(events_count("warn event=raised", ""), 0);
    raise = fake_first_raise(rig->stores[0], LEASES(2));
    assert_true(raise.limit > 0);
    assert_int_equal(raise.gap + raise.base_gap + raise.base_floor, 0);
}

/* No connection ends: only the statement that leases can tell. */
TEST_WITH(TWO_LESSORS, lessor_that_goes_back_under_a_broker_is_found_out)
{
    struct rig_broker *broker;

    bar_lessor(rig, 1);
    rig_use(rig, 8 * WINDOW_STOCK);
    fake_save(rig->stores[0]);
    rig_use(rig, 16 * WINDOW_STOCK);
    forget(rig, 2);
    broker = rig_open(rig);
    fake_put_back_silently(rig->stores[0]);
    rig_take(broker, 16 * WINDOW_STOCK);
}

/* All leases are noted at the third store alone, since the second one is
 * away. */
TEST_WITH(THREE_LESSORS, all_witnesses_are_read)
{
    struct rig_broker *broker;

    bar_lessor(rig, 1);
    bar_lessor(rig, 2);
    rig_use(rig, WINDOW_STOCK);
    fake_save(rig->stores[0]);
    broker = rig_open(rig);
    fake_set_down(rig->stores[1], true);
    rig_take(broker, 32 * WINDOW_STOCK);
    rig_close(broker);
    fake_set_down(rig->stores[1], false);
    fake_put_back(rig->stores[0]);
    forget(rig, 3);
    rig_use(rig, 32 * WINDOW_STOCK);
}

/* Of three lessors one is down and one was restarted: the third goes on, noted
 * at the one that waits. */
TEST_WITH(THREE_LESSORS, restarted_lessor_waits_for_one_that_is_down)
{
    struct rig_broker *broker;

    events_start();
    broker = rig_open(rig);
    rig_take(broker, 4 * WINDOW_STOCK);
    fake_set_down(rig->stores[1], true);
    rig_take_until(broker, 1, SEQB_PARTITION_QUARANTINED);
    fake_restart(rig->stores[0]);
    rig_take(broker, 8 * WINDOW_STOCK);
    await_lessor(broker, 0, HA_LESSOR_WAITING);
    assert_string_equal(lessor_of(broker, 0).waits_for, "b1");
    events_await("event=lessor_waits pool=main partition=0 backend=b0",
                 "backend b1");
    rig_take(broker, 32 * WINDOW_STOCK);
    fake_set_down(rig->stores[1], false);
    await_lessor(broker, 0, HA_LESSOR_LEVEL);
    events_await("event=lessor_level pool=main partition=0",
                 "it knows what the others leased");
    rig_take(broker, 32 * WINDOW_STOCK);
}

static void expect_none(const struct seqb_error *err)
{
    assert_true(err->status == SEQB_UNAVAILABLE || err->status == SEQB_TIMEOUT);
}

TEST_WITH(TWO_LESSORS, two_lessors_stop_when_one_is_down)
{
    struct rig_broker *broker;
    int64_t number = 0;
    struct seqb_error err = {SEQB_OK, ""};

    rig->sequences[0].deadline_ms = 300;
    broker = rig_open(rig);
    rig_take(broker, WINDOW_STOCK);
    fake_set_down(rig->stores[1], true);
    while (rig_take_one(broker, &number, &err) == SEQB_OK)
        numbers_add(&rig->taken, &number, 1);
    expect_none(&err);
    fake_set_down(rig->stores[1], false);
    rig_await_use(broker, 1);
    while (rig_take_one(broker, &number, &err) != SEQB_OK)
        expect_none(&err);
    rig_take(broker, 8 * WINDOW_STOCK);
}

/* Four brokers find a restarted lessor at once. */
TEST_WITH(THREE_LESSORS, brokers_sync_a_lessor_at_once)
{
    struct rig_broker *brokers[RIG_BROKERS_MAX];

    for (size_t i = 0; i < RIG_BROKERS_MAX; i++)
        brokers[i] = rig_open(rig);
    for (int round = 0; round < 6; round++) {
        struct fake_store *store = rig->stores[round % 3];

        fake_save(store);
        for (size_t i = 0; i < RIG_BROKERS_MAX; i++)
            rig_take(brokers[i], 2 * WINDOW_STOCK);
        fake_put_back(store);
        forget(rig, 3);
        for (size_t i = 0; i < RIG_BROKERS_MAX; i++)
            rig_take(brokers[i], 2 * WINDOW_STOCK);
        for (size_t i = 0; i < RIG_BROKERS_MAX; i++)
            await_lessor(brokers[i], round % 3, HA_LESSOR_LEVEL);
    }
}

/* --- each guard by itself --- */

static bool has_leased(void *context)
{
    struct rig *rig = context;

    return fake_value(rig->stores[0], LEASES(2)) > 0 ||
           fake_value(rig->stores[0], LEASES(3)) > 0;
}

/* The first window that lessor 0 leases is number 1 << 1 | 0. */
static void expect_unused(const struct numbers *numbers, int64_t partition)
{
    for (size_t i = 0; i < numbers->count; i++) {
        const int64_t run = numbers->values[i] / RUN;

        if (run % RIG_PARTITIONS == partition)
            assert_int_not_equal(run / RIG_PARTITIONS / 256, 2);
    }
}

/* Another broker has made the lessor level since the lease: whoever reads the
 * witness now does not find it there, and may be leased the same. */
TEST_WITH(TWO_LESSORS, lease_that_comes_after_the_next_mark_is_thrown_away)
{
    struct rig_broker *broker = rig_open(rig);
    size_t taken;
    struct seqb_error err;
    int64_t partition;

    await_lessor(broker, 0, HA_LESSOR_LEVEL); /* it needs the other store */
    fake_hang(rig->stores[1]);
    (void)queue_try_many(rig_sequence(broker, "order"), 1, &(int64_t){0},
                         &taken, &err);
    rig_await(has_leased, rig);
    partition = fake_value(rig->stores[0], LEASES(2)) > 0 ? 2 : 3;
    fake_claim_put(rig->stores[1], "known/main/0", "run-9|run-0");
    fake_release(rig->stores[1]);
    rig_take(broker, 32 * WINDOW_STOCK);
    expect_unused(&rig->taken, partition);
}

/* Leaves lessor 0's mark in store 1, after what was seen, and expects that it
 * cannot: that text must not come to stand there. What does is another broker's
 * mark, or what this one leaves there after a look of its own. */
static void expect_no_mark(struct rig *rig, struct seen *seen, const char *mark)
{
    struct rig_broker *broker = rig_open(rig);
    const struct sync sync = sync_of(ha_pool_at(broker->ha, 0), seen, 0);
    char text[256];
    struct seqb_error err;

    fake_claim_put(rig->stores[1], "known/main/0", "run-7|run-0");
    assert_false(sync_mark_all(&sync, &err));
    fake_claim_text(rig->stores[1], "known/main/0", text, sizeof text);
    assert_string_not_equal(text, mark);
    free(seen);
}

/* It saw the mark of an earlier incarnation; a later one was left since. */
TEST_WITH(TWO_LESSORS, slow_sync_brings_no_old_mark_back)
{
    struct seen *seen = seen_level();

    (void)text_copy(seen[1].marks[0], sizeof seen[1].marks[0], "run-6|run-0");
    expect_no_mark(rig, seen, "run-0|run-0");
}

/* It saw the mark that stands there, and yet has an old incarnation to put in
 * its place: the lessor was restarted before that mark was left. */
TEST_WITH(TWO_LESSORS, incarnation_that_is_over_is_not_marked)
{
    struct seen *seen = seen_level();

    (void)text_copy(seen[0].incarnation, sizeof seen[0].incarnation, "run-5");
    (void)text_copy(seen[1].marks[0], sizeof seen[1].marks[0], "run-7|run-0");
    expect_no_mark(rig, seen, "run-5|run-0");
}

/* The witness was restarted since, and may have its old mark again. */
TEST_WITH(TWO_LESSORS, witness_that_was_restarted_is_not_marked)
{
    struct seen *seen = seen_level();

    (void)text_copy(seen[1].incarnation, sizeof seen[1].incarnation, "run-5");
    (void)text_copy(seen[1].marks[0], sizeof seen[1].marks[0], "run-7|run-0");
    expect_no_mark(rig, seen, "run-0|run-5");
}

/* What is read before the mark is left need not be all. */
TEST_WITH(TWO_LESSORS, witness_is_marked_before_it_is_read)
{
    struct rig_broker *broker;
    char text[256];

    rig_use(rig, WINDOW_STOCK);
    fake_restart(rig->stores[0]);
    fake_fail(rig->stores[1], FAKE_LIST, INT32_MAX, SEQB_UNREACHABLE);
    broker = rig_open(rig);
    fake_claim_text(rig->stores[1], "known/main/0", text, sizeof text);
    assert_string_equal(text, "run-1|run-0");
    assert_int_not_equal(lessor_of(broker, 0).state, HA_LESSOR_LEVEL);
    fake_claim_text(rig->stores[0], "synced/main", text, sizeof text);
    assert_string_not_equal(text, "run-1");
    fake_fail(rig->stores[1], FAKE_LIST, 0, SEQB_OK);
    await_lessor(broker, 0, HA_LESSOR_LEVEL);
    rig_take(broker, WINDOW_STOCK);
}

/* Neither is a pool opened whose stores cannot testify for each other. */
TEST_STATE(NEIGHBOURS, pool_without_two_lessors_is_refused)
{
    struct rig *rig = mixed(state, 1);
    static struct seqb_backend_ops mute;

    rig_expect_open_fails(rig, SEQB_CONFIG, "two direct backends");
    mute = backend_fake;
    mute.list = NULL;
    rig_shape(rig, RIG_NEIGHBOURS, 2);
    rig->backends[2].ops = &mute;
    rig_expect_open_fails(rig, SEQB_CONFIG, "backend b2: engine fake");
}
