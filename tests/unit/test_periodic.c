/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences with a period, over scripted stores and a scripted clock: what
 * callers get as stamps come and go. Turns under load are in
 * test_periodic_threads.c, ids in test_periodic_ids.c.
 */
#include <stdlib.h>

#include "period_fixture.h"
#include "platform/clock.h"
#include "queue/periodic/periodic.h"
#include "support/failure.h"
#include "support/test.h"

#define NOON_STAMP INT64_C(20261121120000)

/* The numbers of a direct counter's first value, of two partitions and two
 * memory bits; and those of a windowed one's first window, of 8 bits. */
#define FIRST        8
#define FIRST_WINDOW (1 << 8 << 3)
#define FIRST_COUNT  8

static void expect_first(int64_t number, int64_t first)
{
    assert_in_range(number, first, first + FIRST_COUNT - 1);
}

TEST_WITH(PERIOD, numbers_begin_afresh_with_each_stamp)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t digits;
    int64_t first = period_number(broker, &digits);

    expect_first(first, FIRST);
    assert_int_equal(digits, NOON_STAMP);
    assert_int_not_equal(period_number(broker, &digits), first);
    script_clock_step(SECOND);
    expect_first(period_number(broker, &digits), FIRST);
    assert_int_equal(digits, NOON_STAMP + 1);
    script_clock_step(DAY);
    expect_first(period_number(broker, &digits), FIRST);
    assert_int_equal(digits, NOON_STAMP + 1000000 + 1);
}

TEST_WITH(PERIOD, a_stamp_goes_on_over_brokers_and_restarts)
{
    struct rig_broker *one = rig_open(fixture->rig);
    struct rig_broker *other;
    int64_t digits;

    fixture->rules.unit = PERIOD_DAY;
    for (int i = 0; i < 50; i++) {
        const int64_t number = period_number(one, &digits);

        numbers_add(&fixture->rig->taken, &number, 1);
    }
    rig_close(one);
    one = rig_open(fixture->rig);
    other = rig_open(fixture->rig);
    for (int i = 0; i < 50; i++) {
        const int64_t pair[] = {period_number(one, &digits),
                                period_number(other, &digits)};

        numbers_add(&fixture->rig->taken, pair, 2);
        assert_int_equal(digits, 20261121);
    }
}

static int64_t reserves(const struct rig *rig)
{
    return fake_calls(rig->stores[0], FAKE_RESERVE) +
           fake_calls(rig->stores[1], FAKE_RESERVE);
}

/* The turn is near, and its ring is filled before. */
TEST_WITH(PERIOD, the_next_stamp_is_there_before_it_begins)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    int64_t digits;
    int64_t calls;

    rig->sequences[0].prefetch = true;
    script_clock_set(NOON + 100);
    broker = rig_open(rig);
    (void)period_number(broker, &digits);
    rig_await_rest(broker);
    calls = reserves(rig);
    script_clock_set(NOON + 900);
    RIG_AWAIT(reserves(rig) > calls);
    rig_await_rest(broker);
    rig_set_down(rig, true);
    script_clock_set(NOON + SECOND);
    (void)period_number(broker, &digits);
    assert_int_equal(digits, NOON_STAMP + 1);
}

TEST_WITH(PERIOD, what_is_left_of_a_stamp_is_dropped_and_counted)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence_status status;
    int64_t digits;
    int64_t left;

    (void)period_number(broker, &digits);
    status = rig_status(broker, "order");
    left = status.stock;
    assert_true(left > 0);
    assert_int_equal(status.taken, 1);
    assert_int_equal(status.dropped, 0);
    assert_int_equal(status.stamp.digits, NOON_STAMP);
    assert_string_equal(status.period, "second");
    for (int i = 0; i < 8; i++) {
        script_clock_step(SECOND);
        (void)period_number(broker, &digits);
    }
    status = rig_status(broker, "order");
    assert_int_equal(status.taken, 9);
    assert_true(status.dropped >= left);
    assert_int_equal(status.stamp.digits, NOON_STAMP + 8);
}

TEST_WITH(PERIOD, a_clock_that_goes_back_stays_on_the_last_stamp)
{
    static const int64_t steps[] = {-1, -SECOND, -60 * SECOND, -HOUR + SECOND};
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t digits;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        script_clock_set(NOON + steps[i]);
        for (int j = 0; j < 20; j++) {
            const int64_t number =
                i == 0 && j == 0
                    ? (script_clock_set(NOON), period_number(broker, &digits))
                    : period_number(broker, &digits);

            numbers_add(&fixture->rig->taken, &number, 1);
            assert_int_equal(digits, NOON_STAMP);
            script_clock_set(NOON + steps[i]);
        }
    }
}

TEST_WITH(PERIOD, a_clock_that_goes_back_too_far_is_refused)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_stamp stamp;
    int64_t digits;

    (void)period_number(broker, &digits);
    script_clock_set(NOON - 2 * HOUR);
    assert_fails(period_take(broker, &(int64_t){0}, &stamp, &failure),
                 SEQB_CLOCK, "2 h");
    script_clock_set(NOON + 1);
    (void)period_number(broker, &digits);
    assert_int_equal(digits, NOON_STAMP);
}

TEST_WITH(PERIOD, on_rollback_refuse_says_so_at_once)
{
    struct rig_broker *broker;
    struct seqb_stamp stamp;
    struct seqb_error err;
    int64_t digits;

    fixture->clock.rules.on_rollback = GUARD_REFUSE;
    broker = rig_open(fixture->rig);
    (void)period_number(broker, &digits);
    script_clock_set(NOON - SECOND);
    assert_int_equal(period_take(broker, &(int64_t){0}, &stamp, &err),
                     SEQB_CLOCK);
    script_clock_set(NOON);
    (void)period_number(broker, &digits);
}

TEST_WITH(PERIOD, on_rollback_wait_waits_for_the_clock)
{
    struct rig_broker *broker;
    struct seqb_stamp stamp;
    int64_t digits;

    fixture->clock.rules.on_rollback = GUARD_WAIT;
    broker = rig_open(fixture->rig);
    (void)period_number(broker, &digits);
    script_clock_run(NOON - 200);
    assert_ok(period_take(broker, &(int64_t){0}, &stamp, NULL));
    assert_int_equal(stamp.digits, NOON_STAMP);
}

TEST_WITH(PERIOD, a_wait_for_the_clock_ends_with_the_deadline)
{
    struct rig_broker *broker;
    struct seqb_stamp stamp;
    struct seqb_error err;
    int64_t digits;

    fixture->clock.rules.on_rollback = GUARD_WAIT;
    broker = rig_open(fixture->rig);
    (void)period_number(broker, &digits);
    rig_close(broker);
    fixture->rig->sequences[0].deadline_ms = 50;
    broker = rig_open(fixture->rig);
    script_clock_set(NOON - SECOND);
    assert_int_equal(period_take(broker, &(int64_t){0}, &stamp, &err),
                     SEQB_CLOCK);
}

/* What stands in the error is of this call. */
TEST_WITH(PERIOD, who_tries_while_the_clock_catches_up_is_to_try_again)
{
    struct seqb_error err = {SEQB_CLOCK, "of another call"};
    struct rig_broker *broker;
    int64_t digits;

    fixture->clock.rules.on_rollback = GUARD_WAIT;
    broker = rig_open(fixture->rig);
    (void)period_number(broker, &digits);
    script_clock_set(NOON - SECOND);
    assert_int_equal(
        queue_try_next(rig_sequence(broker, "order"), &(int64_t){0}, &err),
        SEQB_AGAIN);
    assert_int_equal(err.status, SEQB_AGAIN);
    assert_string_equal(err.text, "");
}

TEST_WITH(PERIOD, a_restart_holds_what_was_issued)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t digits;
    int64_t number;

    for (int i = 0; i < 6; i++) {
        number = period_number(broker, &digits);
        numbers_add(&fixture->rig->taken, &number, 1);
        assert_int_equal(digits, NOON_STAMP);
        rig_close(broker);
        script_clock_step(-SECOND);
        broker = rig_open(fixture->rig);
    }
}

TEST_WITH(PERIOD, a_number_and_its_stamp_are_of_one_take)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    int64_t numbers[100];
    struct seqb_stamp stamp;
    const struct queue_take take = {
        .out = numbers, .count = 100, .stamp = &stamp};

    assert_ok(queue_take(order, &take, NULL));
    assert_int_equal(stamp.digits, NOON_STAMP);
    assert_int_equal(stamp.begins_ms, NOON);
    assert_int_equal(stamp.ends_ms, NOON + SECOND);
}

static bool was_given(struct rig_broker *broker, const struct queue_take *take)
{
    struct seqb_error err;
    const enum seqb_status status =
        queue_try_take(rig_sequence(broker, "order"), take, &err);

    if (status != SEQB_OK && status != SEQB_AGAIN)
        fail_msg("no numbers: %s", err.text);
    return status == SEQB_OK;
}

/* More than is held of a sequence that is seldom used, and all at once. */
TEST_WITH(PERIOD, many_of_one_stamp_come_to_who_does_not_wait)
{
    int64_t numbers[513];
    struct seqb_stamp stamp;
    const struct queue_take all = {
        .out = numbers, .count = 512, .stamp = &stamp};
    const struct queue_take more = {
        .out = numbers, .count = 513, .stamp = &stamp};
    struct rig_broker *broker = rig_open(fixture->rig);

    for (int i = 0; i < 3; i++) {
        RIG_AWAIT(was_given(broker, &all));
        numbers_add(&fixture->rig->taken, numbers, all.count);
        assert_int_equal(stamp.digits, NOON_STAMP);
    }
    assert_fails(queue_try_take(rig_sequence(broker, "order"), &more, &failure),
                 SEQB_INVALID, "max_unused");
}

TEST_WITH(PERIOD, what_makes_no_sense_with_a_period_is_refused)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence *order = rig_sequence(broker, "order");
    struct seqb_cursor *cursor;
    int64_t number = 0;
    const struct queue_take sharded = {
        .out = &number, .count = 1, .is_sharded = true};

    assert_fails(queue_cursor_open(order, 0, &cursor, &failure), SEQB_INVALID,
                 "period");
    assert_fails(queue_advance(broker->queue, "order", 1000, &failure),
                 SEQB_INVALID, "period");
    assert_fails(queue_try_run(order, 2, &number, &failure), SEQB_INVALID,
                 "period");
    /* No bound is named that would be refused as well. */
    assert_fails(queue_try_run(order, (size_t)-1, &number, &failure),
                 SEQB_INVALID, "period");
    rig_expect_words(failure.text, "not -1 ");
    assert_fails(queue_take(order, &sharded, &failure), SEQB_INVALID, "no ids");
}

TEST_WITH(DIRECT, a_sequence_without_a_period_has_no_stamp)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_stamp stamp = {.digits = 1};
    int64_t numbers[3];
    const struct queue_take take = {
        .out = numbers, .count = 3, .stamp = &stamp};
    struct seqb_sequence *order = rig_sequence(broker, "order");

    assert_ok(queue_take(order, &take, NULL));
    assert_int_equal(stamp.digits, 0);
    assert_ok(queue_try_take(order, &take, NULL));
    assert_string_equal(rig_status(broker, "order").period, "none");
}

TEST_WITH(PERIOD, another_period_is_another_layout)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t digits;

    (void)period_number(broker, &digits);
    rig_close(broker);
    fixture->rules.unit = PERIOD_DAY;
    fixture->rig->sequences[0].attributes = " period=day";
    rig_expect_open_fails(fixture->rig, SEQB_LAYOUT, "period=second");
}

/* Stamps whose counters are in a store that may forget take windows. */
TEST_WITH(PERIOD_WINDOWED, windows_are_leased_for_each_stamp)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t digits;

    for (int i = 0; i < 10; i++) {
        expect_first(period_number(broker, &digits), FIRST_WINDOW);
        assert_int_equal(digits, NOON_STAMP + i);
        script_clock_step(SECOND);
    }
}

TEST_WITH(PERIOD, warm_fills_the_stamp_that_is)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    int64_t digits;

    rig->sequences[0].prefetch = true;
    rig->sequences[0].warm = true;
    broker = rig_open(rig);
    rig_set_down(rig, true);
    (void)period_number(broker, &digits);
    assert_int_equal(digits, NOON_STAMP);
}

/* Until the refill thread looks again in a minute. */
static bool is_at_rest(void *context)
{
    struct seqb_sequence *front = context;
    struct agenda *agenda = &front->context->agenda;
    bool is_active;

    pthread_mutex_lock(&agenda->lock);
    is_active = front->is_active;
    pthread_mutex_unlock(&agenda->lock);
    return !is_active;
}

struct purging {
    struct rig *rig;
    struct seqb_sequence *front;
    int64_t now_ms;
};

/* A minute later each time: first it is noted, then deleted. */
static bool is_first_day_purged(void *context)
{
    struct purging *purging = context;
    int64_t next_ms;

    purging->now_ms += 60000;
    assert_false(purging->front->source->refill(purging->front, purging->now_ms,
                                                &next_ms));
    assert_int_equal(periodic_of(purging->front)->purged_ms, purging->now_ms);
    return fake_value(purging->rig->stores[0], "main/0/order@20261121") == -1 &&
           fake_value(purging->rig->stores[1], "main/1/order@20261121") == -1;
}

/* Not at the start, when the clock may still be wrong. */
TEST_WITH(PERIOD, old_stamps_are_purged_once_a_minute)
{
    struct rig *rig = fixture->rig;
    struct purging purging = {.rig = rig};
    struct rig_broker *broker;
    int64_t next_ms;
    int64_t digits;

    fixture->rules.unit = PERIOD_DAY;
    broker = rig_open(rig);
    for (int i = 0; i < 4; i++) {
        (void)period_number(broker, &digits);
        script_clock_step(i < 3 ? DAY : 0);
    }
    purging.front = rig_sequence(broker, "order");
    assert_int_equal(periodic_of(purging.front)->attributes->keep_ms, 2 * DAY);
    rig_await(is_at_rest, purging.front);
    purging.now_ms = periodic_of(purging.front)->purged_ms;
    assert_in_range(purging.now_ms, 1, clock_now_ms());
    assert_false(purging.front->source->refill(
        purging.front, purging.now_ms + 59999, &next_ms));
    assert_int_equal(periodic_of(purging.front)->purged_ms, purging.now_ms);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_PURGE), 0);
    assert_int_equal(fake_calls(rig->stores[1], FAKE_PURGE), 0);
    rig_await(is_first_day_purged, &purging);
    assert_true(fake_value(rig->stores[0], "main/0/order@20261122") > 0 ||
                fake_value(rig->stores[1], "main/1/order@20261122") > 0);
}
