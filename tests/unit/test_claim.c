/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims over scripted stores: a layout that differs is refused before
 * anything is changed. Which stores a start needs is in test_startup.c.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "queue/sequence.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"

#define TAKEN_MOST 10000 /* far more than a ring holds */

static void swap_partitions(struct rig *rig)
{
    rig->pool.layout.partitions[0] = 1;
    rig->pool.layout.partitions[1] = 0;
}

static void shrink(struct rig *rig)
{
    rig_shape(rig, rig->kind, 0);
}

static void grow(struct rig *rig)
{
    rig_shape(rig, rig->kind, 2);
}

static void raise_memory_bits(struct rig *rig)
{
    rig->sequences[0].memory_bits++;
}

static void lower_memory_bits(struct rig *rig)
{
    rig->sequences[0].memory_bits--;
}

static void raise_window_bits(struct rig *rig)
{
    rig->pool.layout.window_bits++;
}

static void take_own_windows(struct rig *rig)
{
    rig->sequences[0].window_bits = 9;
}

static void copy_over_the_other(struct rig *rig)
{
    rig->backends[1].options.path = rig->backends[0].options.path;
}

static void exchange_stores(struct rig *rig)
{
    const char *path = rig->backends[0].options.path;

    rig->backends[0].options.path = rig->backends[1].options.path;
    rig->backends[1].options.path = path;
}

static void rename_pool(struct rig *rig)
{
    rig->pool.layout.name = "other";
}

/* A store that is none of the pool's, though in use elsewhere. */
static void take_another_authority(struct rig *rig)
{
    rig->backends[2].options.path = "store-3";
}

static void take_a_new_authority(struct rig *rig)
{
    rig->backends[2].options.path = "store-2";
}

struct change {
    const char *name;
    void (*make)(struct rig *rig);
    const char *words;
};

static const struct change direct_changes[] = {
    {"fewer partitions", shrink, "bits was 1 and is 0"},
    {"more partitions", grow, "bits was 1 and is 2"},
    {"partitions swapped", swap_partitions, "partition 0 was store '"},
    {"stores exchanged", exchange_stores, "partition 0 was store '"},
    {"one store in both", copy_over_the_other, "partition 1 was store '"},
    {"more memory bits", raise_memory_bits,
     "memory_bits=2 and is configured with memory_bits=3"},
    {"fewer memory bits", lower_memory_bits,
     "memory_bits=2 and is configured with memory_bits=1"},
    {"another pool's name", rename_pool, "b0: its store stands in main/0"},
};

static const struct change windowed_changes[] = {
    {"fewer partitions", shrink, "bits was 1 and is 0"},
    {"more partitions", grow, "bits was 1 and is 2"},
    {"partitions swapped", swap_partitions,
     "partition 0 was store 'b0' and is 'b1'"},
    {"stores exchanged", exchange_stores, "another store stands there"},
    {"one store in both", copy_over_the_other, "another store stands there"},
    {"another window size", raise_window_bits, "window_bits was 8 and is 9"},
    {"more memory bits", raise_memory_bits,
     "memory_bits=2 and is configured with memory_bits=3"},
    {"windows of its own", take_own_windows,
     "memory_bits=2 and is configured with memory_bits=2 window_bits=9"},
    {"another authority", take_another_authority,
     "auth: another store stands there"},
    {"a new, empty authority", take_a_new_authority, "auth is new and empty"},
    {"another pool's name", rename_pool, "b0: its store stands in main/0"},
};

struct values {
    int64_t of[RIG_PARTITIONS + 1];
};

static struct values values_now(struct rig *rig)
{
    struct values values;

    for (size_t i = 0; i < RIG_PARTITIONS; i++)
        values.of[i] = fake_value(rig->stores[i],
                                  i == 0 ? "main/0/order" : "main/1/order");
    values.of[RIG_PARTITIONS] =
        fake_value(rig->authority, "window/main/0/order");
    return values;
}

/* Makes a change to a pool in use, tries to start, takes it back. */
static void expect_refused(struct rig *rig, const struct change *change)
{
    const struct ha_pool_options pool = rig->pool;
    const struct values before = values_now(rig);
    struct values after;

    print_message("  %s\n", change->name);
    change->make(rig);
    rig_expect_open_fails(rig, SEQB_LAYOUT, change->words);
    after = values_now(rig);
    assert_memory_equal(&before, &after, sizeof before);
    rig->sequences[0].memory_bits = 2;
    rig->sequences[0].window_bits = 0;
    rig->pool = pool;
    rig_shape(rig, rig->kind, 1);
    rig_use(rig, 100);
}

static void expect_all_refused(struct rig *rig, const struct change *changes,
                               size_t n)
{
    rig_use(rig, 500);
    for (size_t i = 0; i < n; i++)
        expect_refused(rig, &changes[i]);
}

TEST_WITH(DIRECT, direct_pool_refuses_another_layout)
{
    expect_all_refused(rig, direct_changes,
                       sizeof direct_changes / sizeof direct_changes[0]);
}

/* "store-3" is first put to use as another pool's authority. */
TEST_WITH(WINDOWED, windowed_pool_refuses_another_layout)
{
    rig->pool.layout.name = "side";
    rig->backends[0].options.path = "store-1";
    rig->backends[1].options.path = "store-2";
    rig->backends[2].options.path = "store-3";
    rig_use(rig, 10);
    rig->taken.count = 0; /* theirs are another pool's */
    rig->pool.layout.name = "main";
    rig_shape(rig, RIG_WINDOWED, 1);
    fake_store_free(rig->stores[1]);
    rig->stores[1] = fake_store_new("store-1");
    fake_store_free(rig->stores[2]);
    rig->stores[2] = fake_store_new("store-2");
    expect_all_refused(rig, windowed_changes,
                       sizeof windowed_changes / sizeof windowed_changes[0]);
}

/* Takes until it is refused; what was in hand is still given. */
static enum seqb_status take_until_refused(struct rig_broker *broker,
                                           struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int i = 0; i < TAKEN_MOST && status == SEQB_OK; i++)
        status = rig_take_one(broker, &(int64_t){0}, err);
    return status;
}

/* A store may be put in the place of another while a broker runs. */
TEST_WITH(ONE_DIRECT, sequence_is_compared_again_after_a_reconnect)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 100);
    rig_put_claim(rig, 0, "sequence/main/order", "memory_bits=2",
                  "memory_bits=3");
    fake_restart(rig->stores[0]);
    assert_fails(take_until_refused(broker, &failure), SEQB_LAYOUT,
                 "was used with memory_bits=3");
}

TEST_WITH(DIRECT, one_store_in_two_places_is_refused_at_the_first_start)
{
    copy_over_the_other(rig);
    rig_expect_open_fails(rig, SEQB_LAYOUT, "b0 and b1 lead to the same store");
    rig_shape(rig, rig->kind, 1);
    rig_use(rig, 500);
}

/* It says of itself the backend's name that was first. */
TEST_WITH(WINDOWED, one_windowed_store_in_two_places_is_refused)
{
    copy_over_the_other(rig);
    rig_expect_open_fails(rig, SEQB_LAYOUT, "another store stands there");
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE), 0);
}

static void forget_all_windowed(struct rig *rig)
{
    for (size_t i = 0; i < 2; i++) {
        fake_store_free(rig->stores[i]);
        rig->stores[i] = fake_store_new(i == 0 ? "store-0" : "store-1");
    }
}

TEST_WITH(WINDOWED, windowed_store_that_forgot_its_claims_makes_them_again)
{
    rig_use(rig, 500);
    forget_all_windowed(rig);
    rig_use(rig, 500);
    swap_partitions(rig);
    rig_expect_open_fails(rig, SEQB_LAYOUT, "partition 0 was store 'b0'");
}

/* Only the authority knows then what the pool was called: by that name its
 * windows would begin again. What was refused has left no claim behind. */
TEST_WITH(WINDOWED, windowed_pool_that_was_renamed_and_emptied_is_refused)
{
    rig_use(rig, 500);
    forget_all_windowed(rig);
    rename_pool(rig);
    rig_expect_open_fails(rig, SEQB_LAYOUT,
                          "b0: the authority leased windows for its store to "
                          "pool main, and it is configured in pool other");
    rig_shape(rig, rig->kind, 1);
    rig->pool.layout.name = "main";
    rig_use(rig, 500);
}

/* Of the same backend name and pool, in use by brokers with another authority;
 * it was down when this pool was begun without it. */
TEST_WITH(WINDOWED, store_that_comes_back_with_another_layout_is_refused)
{
    struct rig_broker *broker;

    rig->backends[0].options.path = "store-2";
    rig->backends[2].options.path = "store-3";
    rig_use(rig, 10);
    rig->taken.count = 0; /* theirs are another pool's */
    rig_shape(rig, rig->kind, 1);
    fake_set_down(rig->stores[1], true);
    broker = rig_open(rig);
    rig_take(broker, 100);
    fake_set_down(rig->stores[1], false);
    rig_take_until(broker, 1, SEQB_PARTITION_REFUSED);
    rig_expect_words(rig_partition(broker, 1).reason, "authority was ");
    assert_int_equal(rig_partition(broker, 1).granted, 0);
}

#define POOL_CLAIM "pool/main"

/* The store forgets what it has, and brokers with another authority claim it
 * first. They count in cells of the same names. */
static void let_others_claim(struct fake_store *store)
{
    fake_claim_put(store, POOL_CLAIM,
                   "pool=main;bits=1;window_bits=8;authority=theirs;"
                   "partitions=b0,b1");
}

TEST_WITH(WINDOWED, store_that_forgot_and_others_claimed_gets_no_window)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take_from(broker, 1, 100);
    rig_await_rest(broker);
    let_others_claim(rig->stores[1]);
    fake_flush(rig->stores[1]);
    rig_take_until(broker, 1, SEQB_PARTITION_REFUSED);
    rig_expect_words(rig_partition(broker, 1).reason, "authority was theirs");
    assert_int_equal(fake_value(rig->stores[1], "main/1/order"), -1);
}

/* Another broker of theirs put a window there. */
TEST_WITH(WINDOWED, window_of_others_is_not_counted_in)
{
    struct rig_broker *broker = rig_open(rig);
    struct rig_broker *theirs = rig_open(rig);
    int64_t granted;

    rig_take_from(broker, 1, 100);
    rig_await_rest(broker);
    granted = rig_partition(broker, 1).granted;
    fake_flush(rig->stores[1]);
    rig_take_from(theirs, 1, rig_partition(theirs, 1).granted + 1);
    rig_close(theirs);
    let_others_claim(rig->stores[1]);
    rig_take_until(broker, 1, SEQB_PARTITION_REFUSED);
    assert_int_equal(rig_partition(broker, 1).granted, granted);
}

/* A window that is known may be theirs by its number alone. */
TEST_WITH(WINDOWED, claim_of_others_is_noticed_within_a_window)
{
    struct rig_broker *broker;

    rig->pool.layout.window_bits = 30;
    broker = rig_open(rig);
    rig_take_from(broker, 1, 100);
    let_others_claim(rig->stores[1]);
    rig_take_until(broker, 1, SEQB_PARTITION_REFUSED);
}

static bool is_claimed(void *store)
{
    char text[SEQB_CLAIM_SIZE];

    fake_claim_text(store, POOL_CLAIM, text, sizeof text);
    return text[0] != '\0';
}

/* Before brokers of another topology come. */
TEST_WITH(WINDOWED, store_that_forgot_is_claimed_again_though_nobody_asks_it)
{
    rig->pool.check_interval_ms = 10;
    (void)rig_open(rig);
    fake_forget(rig->stores[1], POOL_CLAIM);
    rig_await(is_claimed, rig->stores[1]);
}

/* Claims the memory bits of "order" in one store alone. */
static void claim_in(struct rig *rig, size_t i, int32_t memory_bits)
{
    rig->sequences[0].memory_bits = memory_bits;
    fake_set_down(rig->stores[1 - i], true);
    rig_use(rig, 0);
    fake_set_down(rig->stores[1 - i], false);
}

/* Asks as a refill does. */
static bool holds_numbers(void *context)
{
    struct rig_broker *broker = context;

    (void)ha_counter_ask(rig_sequence(broker, "order")->counter, 8, HA_ASK_ALL,
                         clock_now_ms());
    return rig_status(broker, "order").stock > 0;
}

/* Partition 1 comes back, and knows "order" by other bits. What the ring holds
 * by then is dropped: it may be what others issue. */
static void come_back(struct rig *rig, struct rig_broker *broker)
{
    fake_hang(rig->stores[1]);
    fake_set_down(rig->stores[1], false);
    assert_true(fake_wait_for_hanging(rig->stores[1], 1, RIG_PATIENCE_MS));
    rig_await(holds_numbers, broker);
    fake_release(rig->stores[1]);
    RIG_AWAIT(!holds_numbers(broker));
}

/* A partition that comes back, and knows one sequence by other bits, serves the
 * others. That one is closed in all partitions. */
TEST_WITH(DIRECT, sequence_of_other_bits_is_closed_everywhere_and_alone)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t number;

    rig->queue.sequence_count = 0;
    rig_use(rig, 0);
    rig->queue.sequence_count = 1;
    claim_in(rig, 1, 3);
    claim_in(rig, 0, 2);
    rig->queue.sequence_count = 2;
    fake_set_down(rig->stores[1], true);
    broker = rig_open(rig);
    rig_take(broker, 100);
    come_back(rig, broker);
    assert_fails(queue_next(rig_sequence(broker, "order"), &number, &failure),
                 SEQB_LAYOUT, "order in backend b1 was used with memory_bits");
    while (rig_partition(broker, 1).granted == 0)
        assert_ok(queue_next(rig_sequence(broker, "bill"), &number, &err));
}

/* Neither a store that is new nor those in use are a first start. */
TEST_WITH(DIRECT, later_generation_is_no_first_start)
{
    rig->pool.layout.generation = 2;
    rig_expect_open_fails(rig, SEQB_LAYOUT, "run seqctl migrate first");
    rig->pool.layout.generation = 1;
    rig_use(rig, 100);
    rig->pool.layout.generation = 2;
    rig_expect_open_fails(rig, SEQB_LAYOUT, "run seqctl migrate first");
}
TEST_ALSO(WINDOWED, later_generation_is_no_first_start);
