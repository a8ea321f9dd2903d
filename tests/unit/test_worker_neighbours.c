/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker ids leased from neighbours over scripted stores: each ms of an id is
 * leased and noted as a window is, whatever the rows of a store that went back
 * say.
 */
#include <stdlib.h>
#include <string.h>

#include "flake_fixture.h"
#include "support/events.h"
#include "support/test.h"

#define MANY     2000
#define TIMES(i) "ticket/main/0/worker-" #i

static struct rig *neighbours_rig(void **state, int32_t bits)
{
    struct rig *rig = flake_rig(state, 10);

    rig_shape(rig, RIG_NEIGHBOURS, bits);
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    return rig;
}

static int setup(void **state)
{
    assert_int_equal(rig_setup_neighbours(state), 0);
    (void)neighbours_rig(state, 1);
    return 0;
}

#define SNOWFLAKES_OF_TWO FIXTURE(struct rig *rig, setup, rig_teardown)

static int64_t worker_of(struct rig_broker *broker)
{
    rig_take(broker, 1);
    return broker->rig->taken.values[broker->rig->taken.count - 1] >> 12 & 1023;
}

/* Both make ids of the same ms. */
static void take_by_turns(struct rig_broker *a, struct rig_broker *b)
{
    for (size_t i = 0; i < rig_scaled(MANY); i++) {
        rig_take(a, 1);
        rig_take(b, 1);
    }
}

/* Nobody waits for a lease to end, which is longer than a test may take. */
TEST_WITH(SNOWFLAKES_OF_TWO, times_are_noted_before_they_are_used)
{
    struct rig_broker *brokers[2];

    for (int i = 0; i < 2; i++) {
        brokers[i] = rig_open(rig);
        assert_int_equal(worker_of(brokers[i]), 2 * i);
    }
    assert_true(fake_value(rig->stores[0], TIMES(0)) > FLAKE_EPOCH);
    assert_int_equal(fake_value(rig->stores[0], TIMES(0)),
                     fake_value(rig->stores[1], TIMES(0)));
    assert_int_equal(fake_value(rig->stores[0], TIMES(2)),
                     fake_value(rig->stores[1], TIMES(2)));
    take_by_turns(brokers[0], brokers[1]);
}

/* Its rows say that an id is free which a broker has. */
TEST_WITH(SNOWFLAKES_OF_TWO, lessor_that_went_back_leases_no_time_twice)
{
    struct rig_broker *first;

    rig_close(rig_open(rig));
    fake_forget(rig->stores[0], "worker/"); /* as if none had been held yet */
    fake_save(rig->stores[0]);
    first = rig_open(rig);
    for (int i = 0; i < 2; i++) {
        struct rig_broker *second;

        fake_put_back(rig->stores[0]);
        second = rig_open(rig);
        assert_int_not_equal(worker_of(first), worker_of(second));
        take_by_turns(first, second);
        rig_close(second);
    }
}

/* Of lessor 0, in a term that another one of the same incarnation went before.
 */
static bool is_level_again(void *context)
{
    const struct rig *rig = context;
    char synced[256];

    fake_claim_text(rig->stores[0], "synced/main", synced, sizeof synced);
    return synced[0] != '-' && strchr(synced, '~') != NULL;
}

/* A copy took its place and leased; then it is there again. */
TEST_WITH(SNOWFLAKES_OF_TWO, lessor_that_came_back_leases_times)
{
    struct rig_broker *first;
    struct rig_broker *second;

    rig_close(rig_open(rig));
    fake_save(rig->stores[0]);
    first = rig_open(rig);
    for (int i = 0; i < 2; i++) {
        fake_exchange(rig->stores[0]);
        second = rig_open(rig);
        take_by_turns(first, second);
        rig_close(second);
    }
    rig_await(is_level_again, rig);
    second = rig_open(rig);
    assert_int_equal(worker_of(second) % 2, 0);
    take_by_turns(first, second);
}

static struct worker_id id_of(const struct rig_broker *broker)
{
    struct worker_id id;
    struct seqb_error err;

    if (worker_lease_get(flake_lease_of(broker), &id, &err) != SEQB_OK)
        fail_msg("%s", err.text);
    return id;
}

static bool was_renewed(void *context)
{
    struct worker_id id;
    struct seqb_error err;

    return worker_lease_get(flake_lease_of(context), &id, &err) == SEQB_OK &&
           id.serial >= 5;
}

/* The next times follow those that it has. */
TEST_WITH(SNOWFLAKES_OF_TWO, renewed_lease_goes_on_with_its_times)
{
    struct rig_broker *broker;
    struct worker_id before;

    flake_set_lease(rig, 3000);
    broker = rig_open(rig);
    rig_take(broker, 1);
    before = id_of(broker);
    rig_await(was_renewed, broker);
    assert_int_equal(id_of(broker).worker, before.worker);
    assert_int_equal(id_of(broker).above_ms, before.above_ms);
    assert_true(id_of(broker).upto_ms > before.upto_ms);
    rig_take(broker, rig_scaled(MANY));
}

/* Times that are leased cannot be given back, so that those of the next lease
 * would be ahead of the clock: another id is taken, and this one left alone. */
TEST_WITH(SNOWFLAKES_OF_TWO, id_with_times_ahead_is_left_alone)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t upto;

    assert_int_equal(worker_of(broker), 0);
    upto = fake_value(rig->stores[0], TIMES(0));
    rig_close(broker);
    broker = rig_open(rig);
    assert_int_equal(worker_of(broker), 2);
    assert_int_equal(fake_value(rig->stores[0], TIMES(0)), upto);
}

/* The ids of another one do, as long as two of the others can be asked. */
TEST_STATE(NEIGHBOURS, lessor_that_is_away_costs_no_more_than_its_ids)
{
    struct rig *rig = neighbours_rig(state, 2);
    struct rig_broker *broker;

    flake_set_lease(rig, FLAKE_LEASE_MS);
    broker = rig_open(rig);
    rig_take(broker, 1);
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    fake_set_down(rig->stores[0], true);
    flake_await_worker(broker, 1);
    assert_int_equal(worker_of(rig_open(rig)) % 4, 1);
}

/* Without a note nobody knows of the times but their lessor. */
TEST_WITH(SNOWFLAKES_OF_TWO, no_time_is_leased_without_a_witness)
{
    struct rig_broker *broker;

    rig_close(rig_open(rig));
    fake_set_down(rig->stores[1], true);
    broker = rig_open(rig);
    rig_expect_words(flake_why(broker), "no worker id");
    fake_set_down(rig->stores[1], false);
    rig_take(broker, rig_scaled(MANY));
}

TEST_WITH(SNOWFLAKES_OF_TWO, ids_of_all_lessors_are_listed)
{
    struct rig_broker *brokers[2] = {rig_open(rig), rig_open(rig)};
    struct seqb_worker workers[4];
    struct seqb_error err;
    size_t count = 0;

    for (int i = 0; i < 2; i++)
        rig_take(brokers[i], 1);
    assert_int_equal(
        worker_lease_list(flake_lease_of(brokers[0]), workers, 4, &count, &err),
        SEQB_OK);
    assert_int_equal(count, 2);
    assert_int_equal(workers[0].worker, 0);
    assert_true(workers[0].is_ours);
    assert_int_equal(workers[1].worker, 2);
}
