/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences whose windows have another size than the pool's, over scripted
 * stores: what is counted, leased, claimed and skipped goes by their own.
 */
#include <stdlib.h>
#include <string.h>

#include "support/rig.h"
#include "support/test.h"

#define CELL         "cell:main/0/order"
#define CLAIM        "sequence/main/order"
#define POOL_BITS    8     /* of the rig */
#define RUN          4     /* 2^memory_bits */
#define GRANTED_MOST 10000 /* far more than is under way */

/* Three windows of one partition, whose numbers are all that there are. */
static void expect_three_windows(struct rig *rig, int32_t window_bits)
{
    const size_t size = ((size_t)1 << window_bits) * RUN;
    struct rig_broker *broker;

    rig_shape(rig, RIG_WINDOWED, 0);
    rig->sequences[0].window_bits = window_bits;
    broker = rig_open(rig);
    rig_take(broker, 3 * size);
    assert_int_equal(rig_status(broker, "order").window_bits, window_bits);
    assert_int_equal(rig->taken.values[0], size);
    assert_int_equal(numbers_highest(&rig->taken), 4 * size - 1);
}

TEST_WITH(WINDOWED, windows_may_be_smaller_than_those_of_the_pool)
{
    expect_three_windows(rig, POOL_BITS - 3);
}

TEST_WITH(WINDOWED, windows_may_be_larger_than_those_of_the_pool)
{
    expect_three_windows(rig, POOL_BITS + 3);
}

/* Lags, levels and runs of leases are of its size, too. */
static void expect_brokers_to_share(struct rig *rig, int32_t window_bits)
{
    struct rig_broker *brokers[2];

    rig->sequences[0].window_bits = window_bits;
    for (size_t i = 0; i < 2; i++)
        brokers[i] = rig_open(rig);
    for (int i = 0; i < 20; i++)
        rig_take(brokers[i % 2], 1000);
    fake_restart(rig->stores[0]);
    for (int i = 0; i < 20; i++)
        rig_take(brokers[i % 2], 1000);
}

TEST_WITH(NEIGHBOURS, brokers_share_what_neighbours_lease)
{
    expect_brokers_to_share(rig, POOL_BITS + 3);
}

TEST_WITH(CELLS, brokers_share_what_an_authority_leases)
{
    expect_brokers_to_share(rig, POOL_BITS - 3);
}

TEST_WITH(WINDOWED, status_tells_the_size_of_the_pools_windows)
{
    assert_int_equal(rig_status(rig_open(rig), "order").window_bits, POOL_BITS);
}

TEST_WITH(DIRECT, status_tells_that_nothing_counts_in_windows)
{
    assert_int_equal(rig_status(rig_open(rig), "order").window_bits, 0);
}

/* --- claims --- */

/* A broker of an earlier version, or without the setting, claims the same. */
TEST_WITH(WINDOWED, same_size_as_the_pools_is_no_other_layout)
{
    rig_use(rig, 500);
    rig->sequences[0].window_bits = POOL_BITS;
    rig_use(rig, 500);
    rig->sequences[0].window_bits = 0;
    rig_use(rig, 500);
}

TEST_WITH(NEIGHBOURS, another_size_is_refused)
{
    static const struct {
        int32_t window_bits;
        const char *words;
    } others[] = {
        {0, "memory_bits=2 window_bits=10 and is configured with "
            "memory_bits=2;"},
        {9, "memory_bits=2 window_bits=10 and is configured with "
            "memory_bits=2 window_bits=9;"},
    };

    rig->sequences[0].window_bits = 10;
    rig_use(rig, 500);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        rig->sequences[0].window_bits = others[i].window_bits;
        rig_expect_open_fails(rig, SEQB_LAYOUT, others[i].words);
    }
    rig->sequences[0].window_bits = 10;
    rig_use(rig, 500);
}

/* The other store gives no more of it either. */
TEST_WITH(CELLS, store_that_knows_another_size_closes_the_sequence)
{
    struct rig_broker *broker;
    struct seqb_error err;
    enum seqb_status status = SEQB_OK;
    int64_t granted;

    rig->sequences[0].window_bits = 10;
    broker = rig_open(rig);
    rig_take(broker, 100);
    rig_put_claim(rig, 1, CLAIM, "memory_bits=2 window_bits=10",
                  "memory_bits=2");
    fake_restart(rig->stores[1]);
    granted = rig_partition(broker, 1).granted;
    while (status == SEQB_OK &&
           rig_partition(broker, 1).granted < granted + GRANTED_MOST)
        status = rig_take_one(broker, &(int64_t){0}, &err);
    assert_int_equal(status, SEQB_LAYOUT);
    rig_expect_words(err.text, "in backend b1 was used with memory_bits=2 and "
                               "is configured with memory_bits=2 "
                               "window_bits=10");
}

/* --- an operator's order --- */

static void expect_to_advance(struct rig *rig, int32_t window_bits)
{
    const int64_t size = (int64_t)1 << window_bits;
    const int64_t to = 100 * size * RUN + 7; /* one partition */
    struct rig_broker *broker;

    rig_shape(rig, RIG_CELLS, 0);
    rig->sequences[0].window_bits = window_bits;
    broker = rig_open(rig);
    rig_take(broker, 100);
    assert_ok(queue_advance(broker->queue, "order", to, NULL));
    /* A spare window may have been leased meanwhile, and is passed. */
    assert_in_range(fake_window(rig->stores[0], CELL), 101, 103);
    rig->taken.count = 0;
    rig_take(broker, 1);
    assert_true(rig->taken.values[0] > to);
}

TEST_WITH(CELLS, windows_are_skipped_by_their_own_size)
{
    expect_to_advance(rig, POOL_BITS - 3);
}

TEST_WITH(CELLS, larger_windows_are_skipped_by_their_own_size)
{
    expect_to_advance(rig, POOL_BITS + 3);
}
