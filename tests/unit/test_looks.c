/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers that look at stores which nobody asks, over scripted stores: what
 * they call, what they find out, and what they leave alone. When a look is due
 * is in test_look.c, and what one look asks in test_serve.c.
 */
#include <stdlib.h>
#include <string.h>

#include "platform/clock.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

#define LOOKS      5 /* so many show that they go on */
#define TIMEOUT_MS 50
#define SECOND_MS  INT64_C(1000)
#define HOUR_MS    (3600 * SECOND_MS)

static struct rig_broker *open_looking(struct rig *rig)
{
    rig->pool.check_interval_ms = 10;
    return rig_open(rig);
}

static int64_t claims(struct fake_store *store)
{
    return fake_calls(store, FAKE_CLAIM);
}

static void await_looks(struct fake_store *store)
{
    assert_true(fake_wait_for_calls(store, FAKE_CLAIM, claims(store) + LOOKS,
                                    RIG_PATIENCE_MS));
}

/* What is waited for: a health, with words in the reason. */
static bool health_is(const struct rig_broker *broker, enum seqb_health health,
                      const char *words)
{
    char reason[SEQB_ERROR_TEXT_SIZE];

    return ha_health(broker->ha, reason, sizeof reason) == health &&
           strstr(reason, words) != NULL;
}

static void await_health(const struct rig_broker *broker,
                         enum seqb_health health, const char *words)
{
    RIG_AWAIT(health_is(broker, health, words));
}

/* --- what they call --- */

TEST_WITH(WINDOWED, idle_stores_are_looked_at_and_spend_nothing)
{
    struct rig_broker *broker = open_looking(rig);
    int64_t reserves;

    rig_await_rest(broker);
    reserves = fake_calls(rig->stores[0], FAKE_RESERVE) +
               fake_calls(rig->authority, FAKE_RESERVE);
    await_looks(rig->stores[0]);
    await_looks(rig->stores[1]);
    await_looks(rig->authority);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_RESERVE) +
                         fake_calls(rig->authority, FAKE_RESERVE),
                     reserves);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_OPEN), 1);
    assert_true(rig_partition(broker, 0).last_ok_ms >= 0);
    assert_true(rig_partition(broker, -1).last_ok_ms >= 0);
}

TEST_WITH(DIRECT, a_drained_store_is_looked_at_no_more)
{
    struct rig_broker *broker = open_looking(rig);
    int64_t before;

    await_looks(rig->stores[0]);
    assert_ok(ha_command(broker->ha, "main", 0, SEQB_ORDER_DRAIN, NULL));
    before = claims(rig->stores[0]);
    await_looks(rig->stores[1]);
    await_looks(rig->stores[1]);
    /* One may have begun. */
    assert_true(claims(rig->stores[0]) <= before + 1);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_DRAINED);
}

/* --- what they find out --- */

TEST_WITH(DIRECT, health_knows_of_stores_that_died_while_nobody_asked)
{
    struct rig_broker *broker = open_looking(rig);

    await_health(broker, SEQB_HEALTH_SERVING, "");
    rig_set_down(rig, true);
    await_health(broker, SEQB_HEALTH_NOT_SERVING, "is down");
    rig_set_down(rig, false);
    await_health(broker, SEQB_HEALTH_SERVING, "");
    assert_true(rig_partition(broker, 0).errors > 0);
}

TEST_WITH(WINDOWED, an_idle_authority_that_died_is_found_out)
{
    struct rig_broker *broker = open_looking(rig);

    fake_set_down(rig->authority, true);
    await_health(broker, SEQB_HEALTH_NOT_SERVING, "authority auth is");
    fake_set_down(rig->authority, false);
    await_health(broker, SEQB_HEALTH_SERVING, "");
}

TEST_WITH(DIRECT, a_store_that_never_answered_has_no_last_answer)
{
    struct rig_broker *broker;

    rig_use(rig, 0);
    fake_set_down(rig->stores[0], true);
    broker = open_looking(rig);
    assert_int_equal(rig_partition(broker, 0).last_ok_ms, -1);
    assert_true(rig_partition(broker, 1).last_ok_ms >= 0);
    fake_set_down(rig->stores[0], false);
    rig_await_use(broker, 0);
    assert_true(rig_partition(broker, 0).last_ok_ms >= 0);
}

TEST_WITH(DIRECT, a_store_that_hangs_is_found_out_and_keeps_no_caller)
{
    struct rig_broker *broker;

    rig_set_timeout(rig, TIMEOUT_MS);
    rig->pool.slow_count = 1;
    broker = open_looking(rig);
    fake_hang(rig->stores[0]);
    rig_await_state(broker, 0, SEQB_PARTITION_QUARANTINED);
    rig_take(broker, 1000);
    fake_release(rig->stores[0]);
    rig_await_use(broker, 0);
}

/* Slowness alone does not take it out, but no connection can be made. */
TEST_WITH(ONE_DIRECT, the_last_store_that_hangs_is_found_out)
{
    struct rig_broker *broker;

    rig_set_timeout(rig, TIMEOUT_MS);
    broker = open_looking(rig);
    fake_hang(rig->stores[0]);
    await_health(broker, SEQB_HEALTH_NOT_SERVING, "");
    fake_release(rig->stores[0]);
    await_health(broker, SEQB_HEALTH_SERVING, "");
}

/* An engine that keeps no time itself: the watchdog ends a look as any call. */
TEST_WITH(DIRECT, a_look_that_hangs_is_ended)
{
    struct rig_broker *broker;

    events_start();
    fake_use_sockets(rig->stores[0]);
    rig_set_timeout(rig, TIMEOUT_MS);
    rig->pool.slow_count = 1;
    broker = open_looking(rig);
    fake_block(rig->stores[0], FAKE_CLAIM);
    /* A stall may have quarantined it before. */
    RIG_AWAIT(fake_ended(rig->stores[0]) == 1);
    events_await("event=quarantined", "slow: 1 time-outs of 50 ms");
    rig_await_use(broker, 0);
}

/* Takes what is at hand, until a caller waits in vain. */
static void take_all(struct rig_broker *broker)
{
    struct seqb_sequence *sequence = rig_sequence(broker, "order");
    struct seqb_error err;
    int64_t number;

    rig_set_deadline(broker, "order", TIMEOUT_MS);
    while (queue_next(sequence, &number, &err) == SEQB_OK)
        numbers_add(&broker->rig->taken, &number, 1);
}

/* Reservations hang, everything else is answered. Nobody calls after the first
 * one, so only the broker can find out that it is over. */
static void expect_found_out(struct rig_broker *broker, const char *words)
{
    struct rig *rig = broker->rig;
    struct fake_store *last = rig->stores[(1 << rig->pool.layout.bits) - 1];
    int64_t reserves;

    rig_take(broker, 1);
    rig_await_rest(broker);
    for (int i = 0; i < 1 << rig->pool.layout.bits; i++)
        fake_hang_call(rig->stores[i], FAKE_RESERVE);
    take_all(broker);
    await_health(broker, SEQB_HEALTH_NOT_SERVING, "does not answer: slow");
    assert_true(health_is(broker, SEQB_HEALTH_NOT_SERVING, words));
    for (int i = 0; i < 3; i++) { /* it does not flap */
        reserves = fake_calls(last, FAKE_RESERVE);
        assert_true(fake_wait_for_calls(last, FAKE_RESERVE, reserves + 1,
                                        RIG_PATIENCE_MS));
        assert_true(health_is(broker, SEQB_HEALTH_NOT_SERVING, words));
    }
    for (int i = 0; i < 1 << rig->pool.layout.bits; i++)
        fake_release(rig->stores[i]);
    await_health(broker, SEQB_HEALTH_SERVING, "");
}

/* A call that its engine ends has passed one time-out. */
static void end_calls_late(struct rig *rig)
{
    rig_set_timeout(rig, TIMEOUT_MS);
    rig->pool.timeout_ms = TIMEOUT_MS - 10;
}

TEST_WITH(ONE_DIRECT, the_last_store_that_answers_only_looks_is_not_serving)
{
    end_calls_late(rig);
    expect_found_out(open_looking(rig), "pool main cannot serve: partition 0 "
                                        "(b0) does not answer: slow: ");
}

TEST_WITH(DIRECT, stores_that_answer_only_looks_are_not_serving)
{
    end_calls_late(rig);
    expect_found_out(open_looking(rig), "pool main cannot serve: ");
}

/* --- what they leave alone --- */

TEST_WITH(DIRECT, the_middle_one_of_the_stores_clocks_counts)
{
    struct rig_broker *broker;
    int64_t store_ms = 0;

    rig_shape(rig, RIG_DIRECT, 2);
    fake_set_clock(rig->stores[0], -100 * HOUR_MS);
    fake_set_clock(rig->stores[1], 50 * HOUR_MS);
    fake_set_clock(rig->stores[2], HOUR_MS);
    broker = rig_open(rig);
    assert_int_equal(ha_clocks(broker->ha, &store_ms), 3);
    store_ms += clock_boot_ms() - clock_wall_ms();
    assert_in_range(store_ms, HOUR_MS - SECOND_MS, HOUR_MS + SECOND_MS);
    assert_in_range(-rig_partition(broker, 0).clock_ms,
                    100 * HOUR_MS - SECOND_MS, 100 * HOUR_MS + SECOND_MS);
    assert_true(rig_partition(broker, 3).clock_ms == INT64_MIN);
}
