/* SPDX-License-Identifier: Apache-2.0 */
/* What a poll of a sequence with a period does ahead of the next stamp, and
 * when the next poll is; and what is left of the sequence once it is closed. */
#include <stdlib.h>

#include "period_fixture.h"
#include "platform/clock.h"
#include "queue/periodic/periodic.h"
#include "support/failure.h"
#include "support/test.h"
#include "support/wrap.h"

#define MINUTE (60 * SECOND)
#define NOW_MS 1000000 /* of the polls: any time */

/* --- the rate --- */

/* Of a stamp that was not made ready before: a thousand numbers a second count
 * for it, not only its first. */
static bool has_rate_of_before(void *context)
{
    struct rig_broker *broker = context;
    int64_t digits;

    rig_take(broker, 1000);
    broker->rig->taken.count = 0; /* the next stamp has the same numbers */
    script_clock_step(SECOND);
    (void)period_number(broker, &digits);
    return rig_status(broker, "order").rate > 20;
}

TEST_WITH(PERIOD, next_stamp_goes_on_with_the_rate)
{
    rig_await(has_rate_of_before, rig_open(fixture->rig));
}

static bool has_next_with_a_rate(void *context)
{
    struct periodic *periodic = context;
    struct seqb_sequence *next = periodic->slots[1].sequence;
    bool has_rate;

    if (next == NULL)
        return false;
    pthread_mutex_lock(&next->lock);
    has_rate = next->refill.rate > 0;
    pthread_mutex_unlock(&next->lock);
    return has_rate;
}

TEST_WITH(PERIOD, next_stamp_has_the_rate_before_it_begins)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct periodic *periodic = periodic_of(rig_sequence(broker, "order"));
    struct seqb_sequence *now;
    int64_t digits;

    (void)period_number(broker, &digits);
    rig_await_rest(broker);
    now = periodic->slots[0].sequence;
    pthread_mutex_lock(&now->lock);
    now->refill.rate = 1;
    pthread_mutex_unlock(&now->lock);
    script_clock_step(SECOND - 100);
    sequence_wake(&periodic->front);
    rig_await(has_next_with_a_rate, periodic);
}

/* --- when --- */

TEST(next_stamp_is_made_ready_a_quarter_ahead)
{
    static const struct {
        int64_t length_ms;
        int64_t left_ms;
        int64_t wait_ms;
    } cases[] = {
        {1000, 251, 1},  {1000, 250, 0},         {1000, 1000, 750},
        {1000, 1, 0},    {1000, 0, INT64_MAX},   {1000, -1, INT64_MAX},
        {8000, 2001, 1}, {8000, 2000, 0},        {DAY, 2001, 1},
        {DAY, 2000, 0},  {DAY, DAY, DAY - 2000},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(
            periodic_ahead_ms(NOON, NOON + cases[i].length_ms,
                              NOON + cases[i].length_ms - cases[i].left_ms),
            cases[i].wait_ms);
}

/* The begin that the clock was asked to keep last; 0: none since. */
static int64_t expected_ms;

WRAPPED(bool, guarded_clock_expect, struct guarded_clock *clock,
        int64_t begin_ms)
{
    expected_ms = begin_ms;
    return __real_guarded_clock_expect(clock, begin_ms);
}

/* A front whose refill thread has ended, so that no other thread polls it.
 * `is_begun`: a stamp is current. */
static struct seqb_sequence *front_alone(struct period_fixture *fixture,
                                         enum period_unit unit, bool is_begun)
{
    struct rig_broker *broker;
    int64_t digits;

    fixture->rules.unit = unit;
    broker = rig_open(fixture->rig);
    if (is_begun)
        (void)period_number(broker, &digits);
    queue_stop(broker->queue);
    return rig_sequence(broker, "order");
}

static void expect_next(struct seqb_sequence *front, int64_t expected)
{
    int64_t next_ms = 0;

    expected_ms = 0;
    assert_false(front->source->refill(front, NOW_MS, &next_ms));
    assert_int_equal(next_ms, INT64_MAX);
    assert_int_equal(front->poll_ms, expected);
}

TEST_WITH(PERIOD, poll_is_put_off_until_something_is_to_be_done)
{
    static const struct {
        int64_t left_ms;
        int64_t wait_ms;
        int64_t expected_ms;
    } rows[] = {
        {MINUTE, MINUTE - 2000, 0},
        {2001, 1, 0},
        {2000, 20, 0},
        {251, 20, 0},
        {250, 20, NOON + MINUTE},
        {1, 20, NOON + MINUTE},
        {-1, INT64_MAX - NOW_MS, 0}, /* until somebody asks */
    };
    struct seqb_sequence *front = front_alone(fixture, PERIOD_MINUTE, true);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        script_clock_set(NOON + MINUTE - rows[i].left_ms);
        expect_next(front, NOW_MS + rows[i].wait_ms);
        assert_int_equal(expected_ms, rows[i].expected_ms);
    }
}

/* The clock may jump. */
TEST_WITH(PERIOD, poll_is_put_off_for_a_minute_at_most)
{
    struct seqb_sequence *front = front_alone(fixture, PERIOD_DAY, true);

    expect_next(front, NOW_MS + MINUTE);
}

TEST_WITH(PERIOD, poll_comes_soon_while_the_clock_gives_no_time)
{
    struct seqb_sequence *front = front_alone(fixture, PERIOD_MINUTE, true);

    script_clock_step(-2 * HOUR);
    expect_next(front, NOW_MS + 20);
}

TEST_WITH(PERIOD, sequence_that_nobody_asks_is_not_polled)
{
    struct seqb_sequence *front = front_alone(fixture, PERIOD_DAY, false);
    struct seqb_sequence_status status = {.key = "of before"};
    struct seqb_sequence_counts counts = {.stock = 1};

    front->source->status(front, NOW_MS, &status);
    assert_string_equal(status.key, "order");
    front->source->counts(front, NOW_MS, &counts);
    assert_int_equal(counts.stock, 0);
    assert_int_equal(counts.runs_out_ms, INT64_MAX);
    expect_next(front, INT64_MAX);
    front->poll_ms = 1;
    atomic_store(&front->settings->admission, SEQUENCE_ADMITTING);
    expect_next(front, 1); /* it was not polled */
    atomic_store(&front->settings->admission, SEQUENCE_ADMITTED);
    assert_false(front->source->warm(front, 0));
    for (int step = 0; step < SOURCE_STEPS; step++)
        front->source->prefetch_counts(front, step); /* there is no slot */
}

/* --- the close --- */

/* Else numbers of no stamp would be taken from it. */
TEST_WITH(PERIOD, slot_that_changes_its_stamp_is_not_current)
{
    struct periodic *periodic =
        periodic_of(front_alone(fixture, PERIOD_DAY, true));
    struct current_period current;

    assert_true(periodic_last(periodic, &current));
    atomic_store(&current.slot->stamp, 0);
    assert_false(periodic_last(periodic, &current));
}

/* Those who waited for a stamp, and those who want to know something. */
TEST_WITH(PERIOD, closed_sequence_begins_no_stamp)
{
    struct rig_broker *broker;
    struct seqb_sequence *front;
    struct current_period current;
    struct seqb_stamp stamp;
    int64_t digits;

    fixture->clock.rules.on_rollback = GUARD_WAIT;
    broker = rig_open(fixture->rig);
    front = rig_sequence(broker, "order");
    (void)period_number(broker, &digits);
    front->source->close(front); /* the clock is not stopped yet */
    script_clock_step(SECOND);
    assert_fails(periodic_find_current(periodic_of(front),
                                       clock_now_ms() + RIG_PATIENCE_MS,
                                       &current, &failure),
                 SEQB_CLOSED, "closing");
    script_clock_step(-2 * SECOND);
    rig_set_deadline(broker, "order", 20);
    assert_fails(period_take(broker, &(int64_t){0}, &stamp, &failure),
                 SEQB_CLOSED, "closing");
    assert_int_equal(rig_status(broker, "order").taken, 1);
    front->source->on_ready(front, NULL, NULL);
    (void)front->source->drop(front);
}
