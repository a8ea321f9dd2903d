/* SPDX-License-Identifier: Apache-2.0 */
/* What the status says of a guarded clock that gives no time: who has no
 * numbers, and the health. The clock is scripted. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "flake_fixture.h"
#include "health_fixture.h"
#include "period_fixture.h"
#include "queue/guarded_clock/guarded_clock.h"
#include "support/events.h"
#include "support/test.h"
#include "support/wrap.h"
#include "unit/rig_shapes.h"

static void expect_effect(const struct rig_broker *broker, const char *expected)
{
    struct seqb_clock_status clock = {.effect = "of before"};

    queue_clock(broker->queue, &clock);
    assert_true(clock.is_used);
    assert_string_equal(clock.effect, expected);
    assert_int_equal(clock.reason[0] == '\0', expected[0] == '\0');
}

/* A broker that gave a number at noon. */
static struct rig_broker *broker_at_noon(const struct period_fixture *fixture)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t digits;

    (void)period_number(broker, &digits);
    return broker;
}

/* --- who has no numbers --- */

TEST_WITH(PERIOD, clock_that_refuses_names_who_has_no_numbers)
{
    struct rig_broker *broker = broker_at_noon(fixture);

    events_start();
    expect_effect(broker, "");
    script_clock_set(NOON - 2 * HOUR);
    for (int i = 0; i < 3; i++) /* it is told once */
        expect_effect(broker, "sequences with a period have no numbers");
    assert_int_equal(events_count("event=clock_back", ""), 1);
    script_clock_set(NOON);
    expect_effect(broker, "");
}

TEST_WITH(DIRECT, queue_without_a_clock_has_no_status_of_it)
{
    struct seqb_clock_status clock = {.is_used = true, .effect = "of before"};

    queue_clock(rig_open(rig)->queue, &clock);
    assert_false(clock.is_used);
    assert_string_equal(clock.effect, "");
}

/* "bill" becomes a snowflake of the pool, whose stores lease its worker id. */
static void add_snowflake(const struct period_fixture *fixture)
{
    struct rig *rig = fixture->rig;

    *flake_options() = (struct lease_options){
        .layout = {.epoch_ms = FLAKE_EPOCH,
                   .unit_ms = 1,
                   .time = 41,
                   .shard = 10,
                   .counter = 12},
        .lease_ms = FLAKE_LONG_LEASE_MS,
        .broker = "orders",
    };
    rig->queue.snowflakes = flake_options();
    rig->queue.snowflake_count = 1;
    rig->queue.sequence_count = 2;
    rig->sequences[1].memory_bits = 0;
    rig->sequences[1].snowflake = flake_options();
}

/* Their times go on within the lease, so that they may have numbers yet. */
TEST_WITH(PERIOD, snowflakes_are_named_beside_sequences_with_a_period)
{
    struct rig_broker *broker;

    add_snowflake(fixture);
    broker = broker_at_noon(fixture);
    script_clock_set(NOON - 2 * HOUR);
    expect_effect(broker, "sequences with a period have no numbers, and "
                          "snowflakes may have none");
}

TEST_WITH(PERIOD, snowflakes_alone_are_named_alone)
{
    struct rig_broker *broker;

    add_snowflake(fixture);
    fixture->rig->sequences[0].period = NULL;
    broker = rig_open(fixture->rig);
    script_clock_set(0);
    expect_effect(broker, "snowflakes may have no numbers");
}

TEST_WITH(PERIOD, snowflakes_have_the_time_that_is_believed)
{
    struct bits_parts parts;
    struct rig_broker *broker;
    int64_t id;

    add_snowflake(fixture);
    for (int i = 0; i < 2; i++)
        fake_set_clock(fixture->rig->stores[i], 0);
    broker = broker_at_noon(fixture);
    script_clock_step(10000 * DAY);
    assert_ok(queue_next(rig_sequence(broker, "bill"), &id, NULL));
    bits_take_apart(&flake_options()->layout, id, &parts);
    assert_in_range(parts.time_ms, NOON, NOON + HOUR);
}

/* The stamp that was issued goes on. */
TEST_WITH(PERIOD, time_that_cannot_be_kept_stops_only_new_stamps)
{
    struct rig_broker *broker = broker_at_noon(fixture);
    FILE *file = fopen(fixture->clock.path, "w");
    struct seqb_stamp stamp;
    struct seqb_error err;
    int64_t number;

    assert_non_null(file);
    fputs("damaged", file);
    assert_int_equal(fclose(file), 0);
    script_clock_step(DAY);
    rig_set_deadline(broker, "order", 20);
    assert_int_equal(period_take(broker, &number, &stamp, &err), SEQB_CLOCK);
    rig_set_deadline(broker, "order", RIG_PATIENCE_MS);
    script_clock_step(-DAY);
    assert_ok(period_take(broker, &number, &stamp, &err));
    expect_effect(broker, "sequences with a period get no new stamp");
}

/* The clock is right again when it is read a second time. */
static _Atomic bool is_put_right;
static pthread_t main_thread;

WRAPPED(enum seqb_status, guarded_clock_now, struct guarded_clock *clock,
        int64_t *out, struct seqb_error *err)
{
    if (is_put_right && pthread_equal(pthread_self(), main_thread))
        script_clock_set(NOON);
    return __real_guarded_clock_now(clock, out, err);
}

TEST_WITH(PERIOD, reason_and_effect_are_of_one_moment)
{
    struct rig_broker *broker = broker_at_noon(fixture);
    struct seqb_clock_status clock;

    script_clock_set(NOON - 2 * HOUR);
    main_thread = pthread_self();
    is_put_right = true;
    queue_clock(broker->queue, &clock);
    is_put_right = false;
    assert_true(clock.behind_ms > 0);
    assert_string_equal(clock.effect,
                        "sequences with a period have no numbers");
}

static void reload_with(struct rig_broker *broker,
                        const struct queue_options *options)
{
    struct queue_reload *reload = NULL;

    assert_ok(queue_prepare(broker->queue, options, NULL, &reload, NULL));
    assert_ok(queue_commit(reload, NULL));
    queue_reload_free(reload);
}

/* Not even the last sequence is there any more. */
TEST_WITH(PERIOD, clock_affects_no_sequence_that_was_taken_out)
{
    struct queue_options none = fixture->rig->queue;
    struct rig_broker *broker = broker_at_noon(fixture);

    none.sequence_count = 0;
    reload_with(broker, &none);
    script_clock_set(NOON - 2 * HOUR);
    expect_effect(broker, "no sequence is affected");
    expect_queue_health(broker, SEQB_HEALTH_SERVING, "");
    rig_close(broker); /* before `none` is gone */
}

/* --- the health --- */

TEST_WITH(PERIOD, broker_with_periods_alone_does_not_serve_without_a_clock)
{
    struct rig_broker *broker = broker_at_noon(fixture);

    expect_queue_health(broker, SEQB_HEALTH_SERVING, "");
    script_clock_set(NOON - 2 * HOUR);
    expect_queue_health(
        broker, SEQB_HEALTH_NOT_SERVING,
        "the clock gives no stamps, and every sequence has a period");
    script_clock_set(NOON);
    expect_queue_health(broker, SEQB_HEALTH_SERVING, "");
}

TEST_WITH(PERIOD, plain_counter_serves_without_a_clock)
{
    struct rig_broker *broker;

    fixture->rig->queue.sequence_count = 2;
    broker = broker_at_noon(fixture);
    script_clock_set(NOON - 2 * HOUR);
    expect_queue_health(broker, SEQB_HEALTH_SERVING, "");
}

TEST_WITH(PERIOD, automatic_counter_serves_without_a_clock)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;

    rig_automatic(rig, "*", 10);
    broker = broker_at_noon(fixture);
    script_clock_set(NOON - 2 * HOUR);
    expect_queue_health(broker, SEQB_HEALTH_SERVING, "");
    rig_close(broker);
    rig->automatic.period = &fixture->rules;
    rig->automatic.keep_periods = 2;
    rig->automatic.attributes = " period=second";
    script_clock_set(NOON);
    broker = broker_at_noon(fixture);
    script_clock_set(NOON - 2 * HOUR);
    expect_queue_health(
        broker, SEQB_HEALTH_NOT_SERVING,
        "the clock gives no stamps, and every sequence has a period");
}
