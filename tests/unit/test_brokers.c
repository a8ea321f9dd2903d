/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several brokers over the same scripted stores at once, while these fail and
 * forget in every way they can: no number comes twice. The seed is printed;
 * SEQB_TEST_SEED repeats it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/clock.h"
#include "support/rig.h"
#include "support/test.h"

#define BROKERS    3
#define TAKERS     6 /* threads, two a broker */
#define AT_ONCE    50
#define GOAL       1000000
#define FAULTS     200
#define REST_NS    200000
#define PAUSE_NS   4000000
#define CALM_MS    20 /* between two faults, at most */
#define STORES_MAX 3

static const char *const counters[] = {"main/0/order", "main/1/order",
                                       "window/main/0/order"};

struct storm {
    struct rig *rig;
    struct rig_broker *brokers[BROKERS];
    struct fake_store *stores[STORES_MAX]; /* the authority last */
    size_t store_count;
    struct numbers numbers;
    atomic_bool is_over;
    uint64_t random;
    int64_t faults;
};

struct taker {
    struct storm *storm;
    struct seqb_sequence *sequence;
};

/* xorshift64 (Marsaglia, 2003) */
static uint64_t storm_random(struct storm *storm, uint64_t below)
{
    storm->random ^= storm->random << 13;
    storm->random ^= storm->random >> 7;
    storm->random ^= storm->random << 17;
    return storm->random % below;
}

static void *take_on(void *argument)
{
    const struct taker *taker = argument;
    int64_t numbers[AT_ONCE];

    while (!atomic_load(&taker->storm->is_over)) {
        if (queue_next_many(taker->sequence, AT_ONCE, numbers, NULL) == SEQB_OK)
            numbers_add(&taker->storm->numbers, numbers, AT_ONCE);
        /* So that there are many faults in what is counted. */
        nanosleep(&(struct timespec){0, REST_NS}, NULL);
    }
    return NULL;
}

/* --- what may happen to a store --- */

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
}

static void fail_once(struct storm *storm, size_t i)
{
    fake_fail(storm->stores[i], FAKE_RESERVE, 1, SEQB_UNREACHABLE);
}

static void lose_grant(struct storm *storm, size_t i)
{
    fake_lose_answers(storm->stores[i], FAKE_RESERVE, 1);
}

static void break_connections(struct storm *storm, size_t i)
{
    fake_restart(storm->stores[i]);
}

static void go_down(struct storm *storm, size_t i)
{
    fake_set_down(storm->stores[i], true);
    pause_shortly();
    fake_set_down(storm->stores[i], false);
}

static void hang_shortly(struct storm *storm, size_t i)
{
    fake_hang(storm->stores[i]);
    pause_shortly();
    fake_release(storm->stores[i]);
}

static void grant_little(struct storm *storm, size_t i)
{
    fake_set_grant_max(storm->stores[i], 7);
    pause_shortly();
    fake_set_grant_max(storm->stores[i], INT64_MAX);
}

static bool are_level(void *context)
{
    const struct storm *storm = context;
    const int64_t apart = fake_value(storm->stores[0], counters[0]) -
                          fake_value(storm->stores[1], counters[1]);

    return llabs(apart) < storm->rig->pool.layout.failover_gap / 2;
}

/* A direct counter is bound again before it may lose anything more, and the
 * other one has followed it: what is lost together with a raise, be it for a
 * new origin or for the level, is more than failover_gap. */
static void settle(struct storm *storm, size_t i, int64_t value)
{
    value += storm->rig->pool.layout.failover_gap;
    if (storm->rig->kind != RIG_DIRECT)
        return;
    RIG_AWAIT(fake_value(storm->stores[i], counters[i]) >= value);
    rig_await(are_level, storm);
}

static void change_history(struct storm *storm, size_t i)
{
    const int64_t value = fake_value(storm->stores[i], counters[i]);

    fake_change_origin(storm->stores[i]);
    settle(storm, i, value);
}

static void lose_raise(struct storm *storm, size_t i)
{
    fake_lose_answers(storm->stores[i], FAKE_RAISE, 1);
    change_history(storm, i);
}

/* A failover to a copy that lacks the last commits. */
static void lose_commits(struct storm *storm, size_t i)
{
    const int64_t value = fake_value(storm->stores[i], counters[i]);

    fake_save(storm->stores[i]);
    pause_shortly();
    fake_restore(storm->stores[i]);
    settle(storm, i, value);
}

static void flush(struct storm *storm, size_t i)
{
    fake_flush(storm->stores[i]);
}

static void lose_install(struct storm *storm, size_t i)
{
    fake_flush(storm->stores[i]);
    fake_lose_answers(storm->stores[i], FAKE_INSTALL, 1);
}

static void doubt_install(struct storm *storm, size_t i)
{
    fake_flush(storm->stores[i]);
    fake_fail(storm->stores[i], FAKE_INSTALL, 1, SEQB_UNCERTAIN);
}

/* The first are for every store, then those for partitions, then those for
 * what may forget. */
static void (*const faults[])(struct storm *storm, size_t i) = {
    fail_once,    lose_grant,   break_connections, go_down,
    hang_shortly, grant_little, lose_raise,        change_history,
    lose_commits, flush,        lose_install,      doubt_install};

#define FAULTS_EVERY     8
#define FAULTS_PARTITION 9
#define FAULTS_FORGETS   12

static size_t fault_kinds(const struct storm *storm, size_t i)
{
    if (i >= 2)
        return FAULTS_EVERY;
    return storm->rig->kind == RIG_WINDOWED ? FAULTS_FORGETS : FAULTS_PARTITION;
}

static void fault_make(struct storm *storm)
{
    const size_t i = storm_random(storm, storm->store_count);
    const size_t kind = storm_random(storm, fault_kinds(storm, i));

    faults[kind](storm, i);
    storm->faults++;
}

/* --- the storm --- */

static void storm_begin(struct storm *storm, struct rig *rig)
{
    const char *seed = getenv("SEQB_TEST_SEED");

    *storm = (struct storm){.rig = rig, .store_count = 2};
    numbers_init(&storm->numbers);
    storm->random =
        seed != NULL ? strtoull(seed, NULL, 10) : (uint64_t)clock_now_us() | 1;
    print_message("  SEQB_TEST_SEED=%llu\n", (unsigned long long)storm->random);
    storm->stores[0] = rig->stores[0];
    storm->stores[1] = rig->stores[1];
    if (rig->kind == RIG_WINDOWED)
        storm->stores[storm->store_count++] = rig->authority;
    rig_set_timeout(rig, 500);
    rig->pool.layout.failover_gap = 1000000; /* more than is ever lost */
    rig->pool.rescue_after_ms = 100;
    rig->pool.layout.window_bits = 10;
    rig->sequences[0].deadline_ms = 200;
    for (size_t i = 0; i < BROKERS; i++)
        storm->brokers[i] = rig_open(rig);
}

static void storm_run(struct storm *storm, size_t goal)
{
    pthread_t threads[TAKERS];
    struct taker takers[TAKERS];

    for (size_t i = 0; i < TAKERS; i++) {
        takers[i] = (struct taker){
            storm, rig_sequence(storm->brokers[i % BROKERS], "order")};
        assert_int_equal(pthread_create(&threads[i], NULL, take_on, &takers[i]),
                         0);
    }
    while (numbers_count(&storm->numbers) < goal ||
           storm->faults < (int64_t)rig_scaled(FAULTS)) {
        fault_make(storm);
        nanosleep(
            &(struct timespec){0, (long)storm_random(storm, CALM_MS) * 1000000},
            NULL);
    }
    atomic_store(&storm->is_over, true);
    for (size_t i = 0; i < TAKERS; i++)
        pthread_join(threads[i], NULL);
}

static void expect_trusted(const struct rig_broker *broker, int32_t i)
{
    const enum seqb_partition_state state = rig_partition(broker, i).state;

    assert_int_not_equal(state, SEQB_PARTITION_REFUSED);
    assert_int_not_equal(state, SEQB_PARTITION_POISONED);
}

static void no_number_comes_twice(void **state)
{
    struct storm storm;

    storm_begin(&storm, *state);
    storm_run(&storm, rig_scaled(GOAL));
    print_message("  %zu numbers, %lld faults\n", numbers_count(&storm.numbers),
                  (long long)storm.faults);
    assert_int_equal(numbers_repeats(&storm.numbers), 0);
    /* None of it was a store that went back with its origin. */
    for (size_t i = 0; i < BROKERS; i++) {
        for (int32_t j = 0; j < 2; j++)
            expect_trusted(storm.brokers[i], j);
    }
    numbers_fini(&storm.numbers);
}

TEST_STATE(DIRECT, direct_stores_that_fail_repeat_nothing)
{
    no_number_comes_twice(state);
}

TEST_STATE(WINDOWED, windowed_stores_that_forget_repeat_nothing)
{
    no_number_comes_twice(state);
}
