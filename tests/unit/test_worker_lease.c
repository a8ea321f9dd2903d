/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker ids leased from a scripted authority: taken, renewed, given back,
 * lost. Schedules of many brokers are test_lease_schedules.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "flake_fixture.h"
#include "platform/clock.h"
#include "support/events.h"
#include "support/test.h"

#define MANY          2000
#define SLOW_LEASE_MS 1500 /* a sixth of it is more than a pause */

/* --- taking and giving back --- */

TEST_WITH(SNOWFLAKES, first_broker_waits_until_no_id_can_be_held)
{
    const int64_t start_ms = clock_now_ms();
    struct rig_broker *broker;

    events_start();
    broker = rig_open(rig);
    events_expect("event=worker_lease_failed", "backend auth is new", 1);
    rig_take(broker, 1);
    assert_true(clock_now_ms() - start_ms >=
                FLAKE_LEASE_MS + FLAKE_LEASE_MS / 4);
    assert_int_equal(flake_worker(rig->taken.values[0]), 0);
}

/* It has just claimed it in two stores: there is no lease to be waited for. A
 * lease of this length would be, for longer than a test may take. */
TEST_WITH(SNOWFLAKES, first_broker_of_a_new_pool_need_not_wait)
{
    struct rig_broker *brokers[2];

    rig_shape(rig, RIG_DIRECT, 1);
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    for (int i = 0; i < 2; i++) {
        brokers[i] = rig_open(rig);
        assert_int_equal(flake_take_worker(brokers[i]), i);
    }
    rig_take(brokers[0], rig_scaled(MANY));
}

/* The stores know the pool, and no snowflake in it. */
static void pool_use_without_snowflakes(struct rig *rig)
{
    rig->queue.snowflake_count = 0;
    rig->sequences[0].snowflake = NULL;
    rig_close(rig_open(rig));
    rig->queue.snowflake_count = 1;
    rig->sequences[0].snowflake = flake_options();
}

/* The store that leases knows of none, but another one says that there were:
 * somebody may hold them still. */
TEST_WITH(SNOWFLAKES, store_that_lost_all_leases_is_no_new_pool)
{
    struct rig_broker *broker;
    int64_t start_ms;

    rig_shape(rig, RIG_DIRECT, 1);
    pool_use_without_snowflakes(rig);
    broker = rig_open(rig); /* snowflakes are new in it */
    assert_int_equal(flake_take_worker(broker), 0);
    fake_forget(rig->stores[0], "snowflake/");
    fake_forget(rig->stores[0], "worker");
    start_ms = clock_now_ms();
    broker = rig_open(rig);
    rig_take(broker, rig_scaled(MANY));
    assert_true(clock_now_ms() - start_ms >=
                FLAKE_LEASE_MS + FLAKE_LEASE_MS / 4);
}

/* Else two brokers that see one store each might lease the same id. */
TEST_WITH(SNOWFLAKES, first_snowflake_of_a_pool_needs_all_direct_stores)
{
    struct rig_broker *broker;

    rig_shape(rig, RIG_DIRECT, 1);
    pool_use_without_snowflakes(rig);
    fake_set_down(rig->stores[1], true);
    broker = rig_open(rig);
    rig_expect_words(flake_why(broker), "needs all of its direct stores");
    rig_expect_words(flake_why(broker), "backend b1");
    fake_set_down(rig->stores[1], false);
    rig_take(broker, 1);
    rig_close(broker);
    fake_set_down(rig->stores[1], true); /* a later start needs but one */
    broker = rig_open(rig);
    rig_take(broker, 1);
}

static int64_t time_of(int64_t id)
{
    return (id >> 22) + FLAKE_EPOCH;
}

TEST_WITH(SNOWFLAKES_IN_USE, id_that_was_given_back_is_had_at_once)
{
    struct lease_row row;

    row = row_read(rig, 0);
    assert_false(row.is_held);
    assert_true(row.upto_ms <= clock_wall_ms()); /* no later one was given */
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    for (int i = 0; i < 3; i++) { /* none waits for a lease to end */
        struct rig_broker *broker = rig_open(rig);

        assert_int_equal(flake_take_worker(broker), 0);
        rig_take(broker, rig_scaled(MANY));
        row = row_read(rig, 0);
        assert_true(row.is_held);
        assert_int_equal(row.lease_ms, FLAKE_LONG_LEASE_MS);
        assert_int_equal(row.tenure, i + 2);
        rig_close(broker);
        row = row_read(rig, 0);
        assert_false(row.is_held);
        assert_true(row.upto_ms >= time_of(numbers_highest(&rig->taken)));
    }
}

TEST_WITH(SNOWFLAKES_IN_USE, brokers_have_different_ids)
{
    struct rig_broker *brokers[3];

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    for (int i = 0; i < 3; i++) {
        brokers[i] = rig_open(rig);
        assert_int_equal(flake_take_worker(brokers[i]), i & 1);
        assert_true(row_read(rig, i).is_held);
    }
    for (int i = 0; i < 3; i++)
        rig_take(brokers[i], rig_scaled(MANY));
}

TEST_STATE(WINDOWED, broker_without_an_id_says_who_has_them)
{
    struct rig *rig = flake_rig_open(state, 1);
    struct rig_broker *first;
    struct rig_broker *third;
    char reason[SEQB_ERROR_TEXT_SIZE];

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    first = rig_open(rig);
    (void)rig_open(rig);
    third = rig_open(rig);
    assert_int_equal(queue_health(third->queue, reason, sizeof reason),
                     SEQB_HEALTH_NOT_SERVING);
    rig_expect_words(reason,
                     "no free worker id: 2 of 2 are held: 0 by orders@");
    rig_expect_words(reason, ", 1 by orders@");
    rig_expect_words(reason, "see seqctl workers");
    flake_await_refusal(third, "no free worker id");
    rig_close(first); /* its id is free, and the third one finds that */
    assert_int_equal(flake_take_worker(third), 0);
    assert_int_equal(queue_health(third->queue, reason, sizeof reason),
                     SEQB_HEALTH_SERVING);
}

/* An id does not help if the time does not fit. */
TEST_WITH(SNOWFLAKES, broker_whose_time_bits_are_over_is_not_serving)
{
    struct rig_broker *broker;
    char reason[SEQB_ERROR_TEXT_SIZE];

    broker = rig_open(rig);
    rig_take(broker, 1);
    assert_int_equal(queue_health(broker->queue, reason, sizeof reason),
                     SEQB_HEALTH_SERVING);
    rig_close(broker);
    flake_options()->layout.time = 30; /* ms: 12 days */
    broker = rig_open(rig);
    rig_expect_words(flake_why(broker), "does not fit their bits any more");
    assert_int_equal(queue_health(broker->queue, reason, sizeof reason),
                     SEQB_HEALTH_NOT_SERVING);
    rig_expect_words(reason, "pool main: the time of its snowflakes does not "
                             "fit their bits any more");
}

TEST_STATE(WINDOWED, dead_holder_keeps_his_id_for_a_lease_and_a_quarter)
{
    struct rig *rig = flake_rig_open(state, 1);
    struct rig_broker *broker;
    int64_t start_ms;

    row_put_other(rig, 0, 3 * (int64_t)FLAKE_LEASE_MS);
    row_put_other(rig, 1, FLAKE_LONG_LEASE_MS);
    start_ms = clock_now_ms();
    broker = rig_open(rig);
    assert_int_equal(flake_take_worker(broker), 0);
    assert_true(clock_now_ms() - start_ms >= FLAKE_LEASE_MS * 3 * 5 / 4);
    assert_int_equal(row_read(rig, 0).tenure, 2);
}

TEST_STATE(WINDOWED, successor_gives_no_time_that_the_holder_may_have_given)
{
    struct rig *rig = flake_rig_open(state, 0);
    struct lease_row row = row_read(rig, 0);
    struct rig_broker *broker;
    char text[LEASE_TEXT_SIZE];

    flake_set_lease(rig, 1000);
    row.upto_ms = clock_wall_ms() + 900; /* his clock was ahead */
    row.count++;
    lease_write(&row, text, sizeof text);
    row_put(rig, 0, text);
    broker = rig_open(rig);
    rig_take(broker, 1);
    assert_true((rig->taken.values[0] >> 12) + FLAKE_EPOCH > row.upto_ms);
}

/* It may be that of another history, or of a clock that was ahead. */
TEST_STATE(WINDOWED, unused_id_is_given_back_with_what_its_last_holder_used)
{
    struct rig *rig = flake_rig_open(state, 0);
    struct lease_row row = row_read(rig, 0);
    const int64_t upto_ms = clock_wall_ms() + 1;
    struct rig_broker *broker;
    char text[LEASE_TEXT_SIZE];

    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    row.upto_ms = upto_ms;
    row.count++;
    lease_write(&row, text, sizeof text);
    row_put(rig, 0, text);
    broker = rig_open(rig);
    rig_await_use(broker, 0);
    assert_true(row_read(rig, 0).is_held);
    assert_int_equal(rig_partition(broker, 0).granted, 0);
    rig_close(broker);
    row = row_read(rig, 0);
    assert_false(row.is_held);
    assert_true(row.upto_ms >= upto_ms);
}

/* --- holding and losing --- */

TEST_WITH(SNOWFLAKES_IN_USE, lease_is_renewed_whether_it_is_used_or_not)
{
    struct rig_broker *broker = rig_open(rig);

    RIG_AWAIT(row_read(rig, 0).count >= 5);
    assert_int_equal(flake_take_worker(broker), 0);
    assert_true(row_read(rig, 0).is_held);
}

/* Others reckon from when it was done at the earliest. With answers this slow
 * the next one comes too late for a lease from before the call, and early
 * enough, by a sixth of it, for one from after it. */
TEST_WITH(SNOWFLAKES_IN_USE, lease_is_reckoned_from_before_it_was_asked_for)
{
    struct rig_broker *broker;

    events_start();
    flake_set_lease(rig, SLOW_LEASE_MS);
    broker = rig_open(rig);
    rig_take(broker, 1);
    fake_set_delay(rig->authority, SLOW_LEASE_MS / 2);
    flake_await_refusal(broker, "has ended");
    fake_set_delay(rig->authority, 0);
}

TEST_WITH(SNOWFLAKES_IN_USE, id_that_another_took_is_given_up)
{
    struct rig_broker *broker = rig_open(rig);

    assert_int_equal(flake_take_worker(broker), 0);
    row_put_other(rig, 0, FLAKE_LONG_LEASE_MS);
    flake_await_worker(broker, 1);
    rig_take(broker, rig_scaled(MANY));
    assert_int_equal(flake_worker(numbers_highest(&rig->taken)), 1);
    assert_int_equal(row_read(rig, 0).key, 4711);
}

struct holding {
    struct worker_lease *lease;
    struct worker_id id;
};

static bool is_held(void *context)
{
    struct holding *holding = context;

    return worker_lease_get(holding->lease, &holding->id, NULL) == SEQB_OK;
}

/* What is used is noted before it is given: never past what the row says, and
 * never of an id that is another one by now. */
TEST_WITH(SNOWFLAKES_IN_USE, times_are_used_within_the_lease_only)
{
    struct rig_broker *broker = rig_open(rig);
    struct worker_lease *lease = flake_lease_of(broker);
    struct holding holding = {.lease = lease};
    const struct worker_id *id = &holding.id;

    assert_int_equal(flake_take_worker(broker), 0);
    rig_await(is_held, &holding); /* a stall may outlast the lease */
    assert_true(worker_lease_use(lease, id, id->upto_ms));
    assert_false(
        worker_lease_use(lease, id, id->upto_ms + FLAKE_LONG_LEASE_MS));
    row_put_other(rig, 0, FLAKE_LONG_LEASE_MS);
    flake_await_worker(broker, 1);
    assert_false(worker_lease_use(lease, id, id->upto_ms));
}

TEST_WITH(SNOWFLAKES_IN_USE, lease_ends_while_the_authority_is_away)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 10);
    fake_set_down(rig->authority, true);
    flake_await_refusal(broker, "backend auth");
    fake_set_down(rig->authority, false);
    rig_take(broker, 10); /* it is back by itself */
    assert_int_equal(flake_worker(numbers_highest(&rig->taken)), 0);
}

TEST_WITH(SNOWFLAKES_IN_USE, hung_authority_does_not_keep_a_lease_alive)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 10);
    fake_hang(rig->authority);
    flake_await_refusal(broker, "has ended");
    fake_release(rig->authority);
    rig_take(broker, 10);
}

struct answer {
    const char *name;
    int64_t lost;  /* swaps in a row whose answer is lost */
    bool is_first; /* from the taking of the id on */
};

static const struct answer answers[] = {
    {"of the taking", 1, true},
    {"of the taking and of the next", 2, true},
    {"of a renewal", 1, false},
    {"of three renewals", 3, false},
};

/* It finds its own row by the key in it. */
TEST_WITH(SNOWFLAKES_IN_USE, lost_answers_cost_no_id)
{
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        struct rig_broker *broker;
        int64_t swaps;

        if (answers[i].is_first)
            fake_lose_answers(rig->authority, FAKE_SWAP, answers[i].lost);
        broker = rig_open(rig);
        if (flake_take_worker(broker) != 0)
            fail_msg("%s: another id", answers[i].name);
        if (!answers[i].is_first)
            fake_lose_answers(rig->authority, FAKE_SWAP, answers[i].lost);
        swaps = fake_calls(rig->authority, FAKE_SWAP);
        if (!fake_wait_for_calls(rig->authority, FAKE_SWAP, swaps + 6,
                                 RIG_PATIENCE_MS))
            fail_msg("%s: it is not renewed", answers[i].name);
        rig_take(broker, rig_scaled(MANY));
        assert_int_equal(flake_worker(numbers_highest(&rig->taken)), 0);
        rig_close(broker);
    }
}

/* --- authorities with another history --- */

TEST_WITH(SNOWFLAKES_IN_USE, restored_authority_gives_no_id_for_a_while)
{
    struct rig_broker *broker;
    char before[LEASE_TEXT_SIZE];
    int64_t start_ms;

    row_get(rig, 0, before); /* free */
    events_start();
    broker = rig_open(rig);
    rig_take(broker, 10);
    start_ms = clock_now_ms();
    fake_restart(rig->authority);
    fake_change_origin(rig->authority);
    row_put(rig, 0, before);
    RIG_AWAIT(events_count("event=worker_lease_failed", "not what it was") > 0);
    rig_take(broker, 1);
    assert_true(clock_now_ms() - start_ms >=
                FLAKE_LEASE_MS + FLAKE_LEASE_MS / 4);
    rig_take(broker, rig_scaled(MANY));
    assert_true(row_read(rig, 0).is_held);
}

/* In the history that was lost, another broker took the id, and made ids of it
 * by a clock that may be ahead of ours. */
TEST_WITH(SNOWFLAKES_IN_USE,
          own_row_of_another_history_begins_after_the_present)
{
    struct rig_broker *broker = rig_open(rig);
    struct holding holding = {.lease = flake_lease_of(broker)};
    char before[LEASE_TEXT_SIZE];
    int64_t restored_ms;

    assert_int_equal(flake_take_worker(broker), 0);
    row_get(rig, 0, before); /* ours */
    row_put_other(rig, 0, FLAKE_LONG_LEASE_MS);
    flake_await_worker(broker, 1);
    restored_ms = clock_wall_ms();
    fake_restart(rig->authority);
    fake_change_origin(rig->authority);
    row_put(rig, 0, before);
    flake_await_worker(broker, 0);
    rig_await(is_held, &holding);
    assert_int_equal(holding.id.worker, 0);
    assert_true(holding.id.above_ms >=
                restored_ms + FLAKE_LEASE_MS + FLAKE_LEASE_MS / 4);
}

/* The row of id 0 is `row`, of another history. The store's clock, which ours
 * is behind, shows until when ids may have been made in that one. */
static void expect_row_with_present(struct rig *rig, struct rig_broker *broker,
                                    const char *row)
{
    int64_t present_ms;

    fake_set_clock(rig->authority, FLAKE_LONG_LEASE_MS);
    fake_restart(rig->authority);
    fake_change_origin(rig->authority);
    row_put(rig, 0, row);
    present_ms = clock_wall_ms() + FLAKE_LONG_LEASE_MS;
    flake_await_refusal(broker, "behind the last time of its worker id");
    assert_true(row_read(rig, 0).upto_ms >= present_ms);
}

/* Who takes the id after a kill of this broker knows nothing but the row. */
TEST_WITH(SNOWFLAKES_IN_USE, row_of_another_history_gets_the_present)
{
    char before[LEASE_TEXT_SIZE];

    row_get(rig, 0, before);             /* free */
    flake_set_lease(rig, SLOW_LEASE_MS); /* is not renewed at once */
    expect_row_with_present(rig, rig_open(rig), before);
}

TEST_WITH(SNOWFLAKES_IN_USE, own_row_of_another_history_gets_the_present)
{
    struct rig_broker *broker = rig_open(rig);
    char before[LEASE_TEXT_SIZE];

    assert_int_equal(flake_take_worker(broker), 0);
    row_get(rig, 0, before);
    expect_row_with_present(rig, broker, before);
}

/* Another broker may have a short lease, and waits no longer than that. */
TEST_WITH(SNOWFLAKES_IN_USE, holder_of_a_long_lease_notices_it_soon)
{
    struct rig_broker *broker;

    flake_set_lease(rig, RIG_FOREVER_MS);
    events_start();
    broker = rig_open(rig);
    rig_take(broker, 1);
    fake_restart(rig->authority);
    fake_change_origin(rig->authority);
    RIG_AWAIT(events_count("event=worker_lease_failed", "not what it was") > 0);
}

/* Who comes later does not know when it was noticed, and waits as well. */
TEST_WITH(SNOWFLAKES_IN_USE, later_broker_waits_for_a_restored_authority_too)
{
    struct rig_broker *broker;

    fake_change_origin(rig->authority);
    flake_set_lease(rig, FLAKE_LONG_LEASE_MS);
    broker = rig_open(rig); /* it notices, and is gone */
    rig_expect_words(flake_why(broker), "not what it was");
    rig_close(broker);
    broker = rig_open(rig);
    flake_await_refusal(broker, "not what it was");
    assert_int_equal(numbers_count(&rig->taken), 0);
}
