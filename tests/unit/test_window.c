/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windowed counters over scripted stores that forget, and an authority that
 * fails: a window is leased once, installed once, and never used again.
 */
#include <stdlib.h>
#include <string.h>

#include "store/layout.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"

#define COUNTER_0    "main/0/order"
#define LEASES_0     "window/main/0/order"
#define WINDOW_RUNS  ((size_t)256) /* 2^window_bits of the rig */
#define RUN          4             /* 2^memory_bits */
#define WINDOW_STOCK (WINDOW_RUNS * RUN)

/* Empties the ring, so that the next number comes from the store. */
static void drain(struct rig_broker *broker)
{
    rig_await_rest(broker);
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
}

/* Waits until the authority leased so many windows to partition 0. */
static void await_leases(struct rig *rig, int64_t count)
{
    RIG_AWAIT(fake_value(rig->authority, LEASES_0) >= count);
}

struct refusal {
    struct rig_broker *broker;
    struct seqb_error err;
};

/* Not while the store is asked once more. */
static bool is_refused(void *context)
{
    struct refusal *refusal = context;
    size_t taken;
    const enum seqb_status status =
        queue_try_many(rig_sequence(refusal->broker, "order"), 1, &(int64_t){0},
                       &taken, &refusal->err);

    assert_int_not_equal(status, SEQB_OK);
    return status == SEQB_UNAVAILABLE;
}

static void expect_unavailable(struct rig_broker *broker, const char *words)
{
    struct refusal refusal = {.broker = broker};

    rig_await(is_refused, &refusal);
    rig_expect_words(refusal.err.text, words);
}

TEST_WITH(ONE_WINDOWED, absent_cell_gets_a_leased_window)
{
    struct rig_broker *broker = rig_open(rig);

    assert_int_equal(fake_window(rig->stores[0], COUNTER_0), SEQB_NO_WINDOW);
    assert_int_equal(fake_value(rig->authority, LEASES_0), -1);
    rig_take(broker, 1);
    assert_int_equal(fake_window(rig->stores[0], COUNTER_0), 1);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_INSTALL), 1);
    await_leases(rig, 2); /* and one spare */
    assert_int_equal(fake_calls(rig->authority, FAKE_RESERVE), 2);
    /* v = window << window_bits | offset, from offset 0 on */
    assert_int_equal(rig->taken.values[0], (1 << 8) * RUN);
}

TEST_WITH(ONE_WINDOWED, used_up_window_is_followed_by_the_next)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, (size_t)10 * WINDOW_STOCK);
    rig_await_rest(broker);
    assert_in_range(fake_window(rig->stores[0], COUNTER_0), 10, 12);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_INSTALL),
                     fake_window(rig->stores[0], COUNTER_0));
}

struct loss {
    const char *name;
    void (*happen)(struct fake_store *store);
};

static const struct loss losses[] = {
    {"flush", fake_flush},
    {"another origin", fake_change_origin},
    {"restart", fake_restart},
    {"an older copy restored", fake_restore},
};

TEST_WITH(ONE_WINDOWED, store_that_forgot_gets_a_fresh_window)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 10);
    fake_save(rig->stores[0]);
    for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++) {
        int64_t window;

        print_message("  %s\n", losses[i].name);
        drain(broker);
        window = fake_window(rig->stores[0], COUNTER_0);
        losses[i].happen(rig->stores[0]);
        rig_take(broker, 10);
        assert_true(fake_window(rig->stores[0], COUNTER_0) > window);
    }
}

/* What one broker leased ahead dies with it: the next leases its own. */
TEST_WITH(ONE_WINDOWED, later_broker_counts_on_in_the_window_that_stands)
{
    for (int i = 0; i < 5; i++) {
        struct rig_broker *broker = rig_open(rig);

        rig_take(broker, 100);
        rig_close(broker);
    }
    assert_in_range(fake_window(rig->stores[0], COUNTER_0), 1, 10);
}

/* Other brokers went on meanwhile: what was leased ahead is behind, and is not
 * even offered to the store. */
TEST_WITH(ONE_WINDOWED, spare_that_fell_behind_is_dropped)
{
    struct rig_broker *first;
    struct rig_broker *second;
    int64_t leased;
    int64_t installs;

    first = rig_open(rig);
    rig_take(first, 1);
    await_leases(rig, 2);
    second = rig_open(rig);
    rig_take(second, 5 * WINDOW_STOCK);
    rig_close(second);
    leased = fake_value(rig->authority, LEASES_0);
    installs = fake_calls(rig->stores[0], FAKE_INSTALL);
    rig_take(first, 3 * WINDOW_STOCK);
    rig_await_rest(first);
    /* Each of them found its place at the first attempt. */
    assert_int_equal(fake_calls(rig->stores[0], FAKE_INSTALL) - installs,
                     fake_window(rig->stores[0], COUNTER_0) - leased);
}

TEST_WITH(ONE_WINDOWED, spare_window_bridges_an_authority_that_is_down)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 1);
    await_leases(rig, 2);
    fake_set_down(rig->authority, true);
    drain(broker);
    fake_flush(rig->stores[0]);
    rig_take(broker, 1);
    assert_int_equal(fake_window(rig->stores[0], COUNTER_0), 2);
    drain(broker);
    fake_flush(rig->stores[0]);
    expect_unavailable(broker, "no window: authority auth");
    expect_unavailable(broker, "fake authority: is down");
    assert_int_equal(fake_window(rig->stores[0], COUNTER_0), SEQB_NO_WINDOW);
    fake_set_down(rig->authority, false);
    rig_await_state(broker, -1, SEQB_PARTITION_UP);
    rig_take(broker, 3 * WINDOW_STOCK);
}

TEST_WITH(ONE_WINDOWED, hung_authority_is_waited_for_only_so_long)
{
    struct rig_broker *broker;

    rig->backends[0].options.timeout_ms = 50; /* bounds the wait for a lease */
    broker = rig_open(rig);
    fake_hang(rig->authority);
    expect_unavailable(broker, "authority auth: no answer in time");
    fake_release(rig->authority);
    rig_take(broker, 10);
}

/* The authority's windows are at or below the one in use, and this broker
 * holds nothing that tells. */
TEST_WITH(ONE_WINDOWED, authority_that_went_back_is_raised)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t window;

    events_start();
    rig_take(broker, 5 * WINDOW_STOCK);
    rig_close(broker);
    window = fake_window(rig->stores[0], COUNTER_0);
    assert_true(window >= 5);
    fake_go_back(rig->authority, 4);
    broker = rig_open(rig);
    rig_take(broker, 5 * WINDOW_STOCK);
    assert_true(fake_window(rig->stores[0], COUNTER_0) >= window + 5);
    events_await("event=raised", LEASES_0);
}

/* As a machine is that is resumed from a snapshot with its memory: the cell is
 * in a window that was used up since. */
TEST_WITH(ONE_WINDOWED, window_before_the_last_one_is_dropped)
{
    struct rig_broker *broker;

    rig->sequences[0].max_unused = WINDOW_STOCK / 8;
    broker = rig_open(rig);
    rig_take(broker, WINDOW_STOCK / 4);
    fake_save(rig->stores[0]);
    for (int i = 1; i < 8; i++) {
        rig_take(broker, WINDOW_STOCK + WINDOW_STOCK * i / 8);
        fake_put_back(rig->stores[0]);
    }
    rig_take(broker, WINDOW_STOCK);
}

/* The broker's own memory is enough, even if the store forgot its cell. */
TEST_WITH(ONE_WINDOWED, broker_remembers_its_window_over_a_flush)
{
    struct rig_broker *broker;

    rig->sequences[0].deadline_ms = 1000;
    broker = rig_open(rig);
    rig_take(broker, 5 * WINDOW_STOCK);
    drain(broker);
    fake_put(rig->authority, LEASES_0, 0);
    while (rig_partition(broker, -1).state != SEQB_PARTITION_POISONED) {
        struct seqb_error err;
        int64_t number;

        fake_flush(rig->stores[0]);
        if (rig_take_one(broker, &number, &err) == SEQB_OK)
            numbers_add(&rig->taken, &number, 1);
        drain(broker);
    }
    rig_expect_words(rig_partition(broker, -1).reason, "went back");
}

TEST_WITH(ONE_WINDOWED, restored_authority_is_raised_far)
{
    struct rig_broker *broker = rig_open(rig);

    events_start();
    rig_take(broker, 2 * WINDOW_STOCK);
    fake_save(rig->authority);
    rig_take(broker, 5 * WINDOW_STOCK);
    fake_restore(rig->authority);
    rig_take(broker, 5 * WINDOW_STOCK);
    assert_true(fake_value(rig->authority, LEASES_0) >= 65536);
    assert_in_range(fake_first_raise(rig->authority, LEASES_0).base_floor,
                    1000 + 5, 2000);
    events_expect("event=raised", LEASES_0, 1);
}

/* 2^16 windows in all. */
TEST_WITH(ONE_WINDOWED, restored_authority_leaves_most_of_few_windows)
{
    struct rig_broker *broker;

    rig->sequences[0].value_bits =
        16 + rig->pool.layout.window_bits + rig->sequences[0].memory_bits;
    rig->pool.layout.failover_gap = 40000;
    broker = rig_open(rig);
    rig_take(broker, 2 * WINDOW_STOCK);
    fake_save(rig->authority);
    for (int i = 1; i <= 10; i++) {
        rig_take(broker, 5 * WINDOW_STOCK);
        fake_restore(rig->authority);
        rig_take(broker, 5 * WINDOW_STOCK);
        assert_in_range(fake_value(rig->authority, LEASES_0), 4096,
                        i * (4096 + 200));
    }
    assert_int_equal(fake_first_raise(rig->authority, LEASES_0).base_floor,
                     ((1 << 16) - 1) / 2);
}

TEST_WITH(ONE_WINDOWED, lost_lease_is_never_used)
{
    struct rig_broker *broker = rig_open(rig);

    fake_lose_answers(rig->authority, FAKE_RESERVE, 1);
    rig_take(broker, 1);
    assert_true(fake_window(rig->stores[0], COUNTER_0) >= 2);
}

/* Nothing was done, but the broker cannot know: it takes another window. */
TEST_WITH(ONE_WINDOWED, window_whose_install_is_in_doubt_is_dropped)
{
    struct rig_broker *broker = rig_open(rig);

    fake_fail(rig->stores[0], FAKE_INSTALL, 2, SEQB_UNCERTAIN);
    rig_take(broker, 1);
    assert_true(fake_window(rig->stores[0], COUNTER_0) >= 3);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_INSTALL), 3);
}

/* It was done after all, and the cell is as good as any: numbers go on in it,
 * the window is not installed a second time. */
TEST_WITH(ONE_WINDOWED, install_whose_answer_is_lost_is_not_sent_again)
{
    struct rig_broker *broker = rig_open(rig);

    fake_lose_answers(rig->stores[0], FAKE_INSTALL, 1);
    rig_take(broker, 1);
    assert_int_equal(fake_window(rig->stores[0], COUNTER_0), 1);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_INSTALL), 1);
    drain(broker);
    fake_flush(rig->stores[0]);
    rig_take(broker, 100);
    assert_int_equal(fake_window(rig->stores[0], COUNTER_0), 2);
}

TEST_WITH(WINDOWED, window_that_went_back_poisons_its_partition)
{
    struct rig_broker *broker;

    rig->pool.layout.window_bits = 16;
    broker = rig_open(rig);
    rig_take_from(broker, 0, 2000);
    fake_go_back(rig->stores[0], 100);
    rig_take_until(broker, 0, SEQB_PARTITION_POISONED);
    rig_expect_words(rig_partition(broker, 0).reason, "went back");
    rig_take(broker, 5000);
}

TEST_WITH(ONE_WINDOWED, windows_run_out_for_one_counter_alone)
{
    struct rig_broker *broker;

    events_start();
    fake_put(rig->authority, LEASES_0, layout_window_max(0, 2, 8) - 2);
    rig->sequences[0].deadline_ms = RIG_FOREVER_MS;
    broker = rig_open(rig);
    rig_take(broker, 2 * WINDOW_STOCK);
    assert_fails(rig_take_one(broker, &(int64_t){0}, &failure), SEQB_EXHAUSTED,
                 "partition 0 (b0)");
    events_expect("event=exhausted", "partition=0", 1);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_UP);
    assert_int_equal(rig_partition(broker, -1).state, SEQB_PARTITION_UP);
    assert_int_equal(numbers_highest(&rig->taken), INT64_MAX);
}
