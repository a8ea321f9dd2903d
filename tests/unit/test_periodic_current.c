/* SPDX-License-Identifier: Apache-2.0 */
/* What a turn of a sequence with a period leaves behind, what a start has
 * ready, and what a stamp is refused; over scripted stores and clock. */
#include <stdatomic.h>
#include <stdlib.h>

#include "period_fixture.h"
#include "platform/error.h"
#include "queue/periodic/periodic.h"
#include "queue/sequence_take.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/test.h"
#include "support/wrap.h"

#define EPOCH INT64_C(1577836800000) /* of the ids */

/* Of the first stamp, too, and not only once its place is needed. */
TEST_WITH(PERIOD, rest_of_a_stamp_is_dropped_once_it_is_over)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t dropped = 0;
    int64_t digits;

    for (int i = 0; i < 3; i++) {
        (void)period_number(broker, &digits);
        rig_await_rest(broker);
        dropped += rig_status(broker, "order").stock;
        script_clock_step(SECOND);
        (void)period_number(broker, &digits);
        RIG_AWAIT(rig_status(broker, "order").dropped == dropped);
    }
}

TEST_WITH(PERIOD, warm_sequence_has_the_stamp_ready_at_the_start)
{
    struct rig_broker *broker;

    fixture->rules.unit = PERIOD_DAY;
    fixture->rig->sequences[0].warm = true;
    fixture->rig->sequences[0].prefetch = true;
    fixture->rig->queue.warm_timeout_ms = RIG_PATIENCE_MS;
    events_start();
    broker = rig_open(fixture->rig);
    assert_true(rig_status(broker, "order").stock > 0);
    assert_int_equal(events_count("event=cold", ""), 0);
}

TEST_WITH(PERIOD, warm_sequence_without_stores_is_told_to_be_cold)
{
    fixture->rules.unit = PERIOD_DAY;
    fixture->rig->sequences[0].warm = true;
    fixture->rig->sequences[0].prefetch = true;
    fixture->rig->queue.warm_timeout_ms = 10;
    for (int i = 0; i < 2; i++)
        fake_fail(fixture->rig->stores[i], FAKE_RESERVE, INT64_MAX,
                  SEQB_UNREACHABLE);
    events_start();
    (void)rig_open(fixture->rig);
    events_expect("event=cold", "keys=order", 1);
}

static enum seqb_status take_ids(struct rig_broker *broker, size_t count,
                                 struct seqb_error *err)
{
    int64_t ids[2];
    const struct queue_take take = {
        .out = ids, .count = count, .shard = 1, .is_sharded = true};

    return queue_take(rig_sequence(broker, "order"), &take, err);
}

static enum seqb_status try_id(struct rig_broker *broker,
                               struct seqb_error *err)
{
    int64_t id;
    const struct queue_take take = {
        .out = &id, .count = 1, .shard = 1, .is_sharded = true};

    return queue_try_take(rig_sequence(broker, "order"), &take, err);
}

/* Each caller gets the reason, not only the first one, who makes the turn. */
TEST_WITH(PERIOD, time_that_ids_have_no_bits_for_is_refused_each_time)
{
    struct rig_broker *broker;
    struct seqb_error err;

    period_use_ids(fixture, 19);
    script_clock_set(EPOCH + (INT64_C(1) << 32) * SECOND);
    broker = rig_open(fixture->rig);
    for (size_t i = 0; i < 4; i++)
        assert_int_not_equal(take_ids(broker, 1 + i % 2, &err), SEQB_OK);
    RIG_AWAIT(try_id(broker, &err) != SEQB_AGAIN);
    assert_status(err.status, SEQB_EXHAUSTED);
    assert_status(try_id(broker, &err), SEQB_EXHAUSTED);
}

/* --- a clock that is ahead of the stores' clocks --- */

#define LEAP     (10000 * DAY) /* longer than any machine runs */
#define SHORT_MS 50

/* A broker whose day holds by the stores' clocks, though by the machine's clock
 * it is long over. */
static struct rig_broker *open_before_leap(struct period_fixture *fixture)
{
    struct rig_broker *broker;
    struct seqb_stamp stamp;

    for (int i = 0; i < 2; i++)
        fake_set_clock(fixture->rig->stores[i], 0);
    fixture->rules.unit = PERIOD_DAY;
    fixture->rig->sequences[0].deadline_ms = SHORT_MS;
    fixture->rig->sequences[0].max_unused = 4;
    broker = rig_open(fixture->rig);
    RIG_AWAIT(period_take(broker, &(int64_t){0}, &stamp, NULL) == SEQB_OK);
    script_clock_step(LEAP);
    return broker;
}

/* Returns the first status that is no number. */
static enum seqb_status take_all(struct rig_broker *broker,
                                 struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;
    struct seqb_stamp stamp;

    while (status == SEQB_OK) {
        status = period_take(broker, &(int64_t){0}, &stamp, err);
        assert_true(status != SEQB_OK || stamp.digits == 20261121);
    }
    return status;
}

TEST_WITH(PERIOD, stamp_that_is_over_by_the_machine_waits_to_the_deadline)
{
    struct rig_broker *broker = open_before_leap(fixture);
    struct seqb_error err;

    rig_set_down(fixture->rig, true);
    assert_int_not_equal(take_all(broker, &err), SEQB_OK);
}

/* It has 15 numbers. A deadline may pass before they have come. Who does not
 * wait is called when the next one begins, or is refused. */
TEST_WITH(PERIOD, used_up_stamp_is_waited_for_to_the_deadline)
{
    struct rig_broker *broker;
    struct seqb_error err;
    enum seqb_status status = SEQB_OK;

    period_use_ids(fixture, 4);
    fixture->rig->sequences[0].full_waits = true;
    broker = open_before_leap(fixture);
    while (status == SEQB_OK || status == SEQB_TIMEOUT)
        status = take_ids(broker, 1, &err);
    assert_status(status, SEQB_EXHAUSTED);
    assert_status(try_id(broker, &err), SEQB_AGAIN);
    assert_status(err.status, SEQB_AGAIN);
    rig_sequence(broker, "order")->settings->full_waits = false;
    assert_fails(try_id(broker, &failure), SEQB_EXHAUSTED, "is used up");
}

/* --- slots --- */

static struct period_slot *slot_of(struct periodic *periodic, int64_t stamp)
{
    const struct period_span span = {stamp, 100 * stamp, 100 * stamp + 100};
    struct period_slot *slot;

    pthread_mutex_lock(&periodic->lock);
    slot = periodic_slot(periodic, &span);
    pthread_mutex_unlock(&periodic->lock);
    assert_non_null(slot);
    assert_int_equal(slot->stamp, stamp);
    assert_int_equal(slot->begin_ms, span.begin_ms);
    assert_int_equal(slot->end_ms, span.end_ms);
    assert_int_equal(slot->first_id, -1);
    assert_false(atomic_load(&slot->sequence->is_over));
    return slot;
}

/* A slot becomes that of a later stamp, never the current one, and never that
 * of an earlier stamp. What it held is not of the new one. */
TEST_WITH(PERIOD, slot_is_made_that_of_a_later_stamp)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct periodic *periodic = periodic_of(rig_sequence(broker, "order"));
    struct period_slot *slots = periodic->slots;

    for (int i = 0; i < 2; i++) {
        assert_ptr_equal(slot_of(periodic, 10 + i), &slots[i]);
        atomic_store(&periodic->now, &slots[i]);
        assert_ptr_equal(slot_of(periodic, 10 + i), &slots[i]);
    }
    periodic->taken = 12; /* which is no stamp */
    sequence_put(slots[0].sequence, 800, 8);
    assert_ptr_equal(slot_of(periodic, 12), &slots[0]);
    assert_int_equal(ring_stock(slots[0].sequence->ring), 0);
    assert_int_equal(periodic->dropped, 8);
    assert_ptr_equal(slot_of(periodic, 11), &slots[1]);
    assert_ptr_equal(slot_of(periodic, 9), &slots[2]);
    assert_ptr_equal(slot_of(periodic, 12), &slots[0]);
}

/* --- a stamp that no store ever serves --- */

static enum seqb_status try_one(struct rig_broker *broker,
                                struct seqb_error *err)
{
    const struct queue_take take = {.out = &(int64_t){0}, .count = 1};

    return queue_try_take(rig_sequence(broker, "order"), &take, err);
}

TEST_WITH(PERIOD, stamp_that_stores_refuse_for_good_is_refused_at_once)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    int64_t waits;

    rig->sequences[0].deadline_ms = SHORT_MS;
    for (int i = 0; i < 2; i++)
        fake_refuse(rig->stores[i], FAKE_RESERVE,
                    i == 0 ? "main/0/order@20261121120000"
                           : "main/1/order@20261121120000",
                    SEQB_LAYOUT);
    broker = rig_open(rig);
    assert_int_equal(rig_take_refused(broker, "order").status, SEQB_LAYOUT);
    waits = rig_status(broker, "order").waits;
    assert_int_equal(rig_take_refused(broker, "order").status, SEQB_LAYOUT);
    /* One wait of the front, and one of the stamp's slot. */
    assert_int_equal(rig_status(broker, "order").waits, waits + 2);
    assert_fails(try_one(broker, &failure), SEQB_LAYOUT, "told to refuse");
}

/* --- the end of a stamp --- */

static void count_call(void *context)
{
    atomic_fetch_add((atomic_int *)context, 1);
}

static bool is_called(void *context)
{
    return atomic_load((atomic_int *)context) > 0;
}

/* A thread has read which slot is current, and tries after another one has made
 * the next slot current. */
TEST_WITH(PERIOD, who_arms_a_slot_that_is_over_is_called)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence *front = rig_sequence(broker, "order");
    struct current_period current;
    atomic_int calls = 0;
    int64_t digits;

    (void)period_number(broker, &digits);
    assert_true(periodic_last(periodic_of(front), &current));
    front->source->on_ready(front, count_call, &calls);
    atomic_store(&current.slot->sequence->is_armed, true);
    script_clock_step(SECOND);
    (void)period_number(broker, &digits);
    assert_true(is_called(&calls)); /* who armed it before */
    atomic_store(&calls, 0);
    assert_status(sequence_again(current.slot->sequence, NULL), SEQB_AGAIN);
    rig_await(is_called, &calls);
    front->source->on_ready(front, NULL, NULL);
}

/* It was not when the caller looked. */
TEST_WITH(PERIOD, who_waits_for_a_slot_is_called_if_one_is_current)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence *front = rig_sequence(broker, "order");
    atomic_int calls = 0;
    int64_t digits;

    (void)period_number(broker, &digits);
    front->source->on_ready(front, count_call, &calls);
    atomic_store(&front->is_armed, true);
    sequence_wake(front);
    rig_await(is_called, &calls);
    front->source->on_ready(front, NULL, NULL);
}

/* The sequence of that front is removed while its stamp is issued. */
static struct {
    _Atomic(struct seqb_sequence *) front;
    atomic_int waits; /* of its callers, after that */
} removed;

/* Its stores hang until a wait of this thread ends after that time. */
static _Thread_local struct rig *hung;
static int64_t hung_until_ms;

WRAPPED(bool, condition_wait, pthread_cond_t *condition, pthread_mutex_t *lock,
        int64_t until_ms)
{
    struct seqb_sequence *front = removed.front;
    bool was_woken;

    if (front != NULL && condition == &front->filled)
        atomic_fetch_add(&removed.waits, 1);
    was_woken = __real_condition_wait(condition, lock, until_ms);
    if (hung != NULL && clock_wall_ms() >= hung_until_ms) {
        fake_release(hung->stores[0]);
        fake_release(hung->stores[1]);
        hung = NULL;
    }
    return was_woken;
}

/* A call that has read the clock makes another one, so much later, before it
 * issues the stamp. */
static struct rig_broker *overtaken;
static int64_t overtaken_ms;

static _Thread_local int issues;

WRAPPED(enum seqb_status, guarded_clock_issue, struct guarded_clock *clock,
        int64_t begin_ms, int64_t until_ms, struct seqb_error *err)
{
    struct rig_broker *broker = overtaken;
    int64_t digits;

    issues++;
    overtaken = NULL;
    if (removed.front != NULL) {
        sequence_remove(removed.front, false);
        return error_set(err, SEQB_TIMEOUT, "scripted");
    }
    if (broker != NULL) {
        script_clock_step(overtaken_ms);
        (void)period_number(broker, &digits);
    }
    return __real_guarded_clock_issue(clock, begin_ms, until_ms, err);
}

TEST_WITH(PERIOD, number_of_the_next_stamp_is_waited_for)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    int64_t digits;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    (void)period_number(broker, &digits);
    rig_await_rest(broker);
    fake_hang(rig->stores[0]);
    fake_hang(rig->stores[1]);
    rig_take(broker, (size_t)rig_status(broker, "order").stock);
    hung_until_ms = NOON + SECOND;
    hung = rig;
    script_clock_run(NOON + SECOND - 30);
    (void)period_number(broker, &digits);
    assert_null(hung);
}

/* It was called before it would have waited. */
TEST_WITH(PERIOD, who_is_removed_before_the_wait_does_not_wait)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_error err;
    int64_t number;

    removed.front = rig_sequence(broker, "order");
    assert_status(rig_take_one(broker, &number, &err), SEQB_UNKNOWN_KEY);
    assert_int_equal(atomic_load(&removed.waits), 0);
    removed.front = NULL;
}

TEST_WITH(PERIOD, stamp_that_another_caller_has_passed_is_not_current)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence *front = rig_sequence(broker, "order");
    struct current_period current;
    struct seqb_error err;

    overtaken = broker;
    overtaken_ms = 0;
    assert_ok(periodic_find_current(periodic_of(front), 0, &current, &err));
    script_clock_step(SECOND);
    overtaken = broker;
    overtaken_ms = SECOND;
    assert_status(periodic_find_current(periodic_of(front), 0, &current, &err),
                  SEQB_AGAIN);
    assert_true(periodic_last(periodic_of(front), &current));
    assert_int_equal(current.span.begin_ms, NOON + 2 * SECOND);
}

/* It may be issued already. */
TEST_WITH(PERIOD, stamp_that_is_held_is_not_issued_again)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t digits;

    (void)period_number(broker, &digits);
    script_clock_step(-1);
    issues = 0;
    (void)period_number(broker, &digits);
    assert_int_equal(issues, 0);
}

/* The slot that gets four numbers during the next try, after the first look. */
static _Atomic(struct seqb_sequence *) comes_to;

enum seqb_status
__real_ha_counter_availability(const struct ha_counter *counter,
                               struct seqb_error *err);
enum seqb_status
__wrap_ha_counter_availability(const struct ha_counter *counter,
                               struct seqb_error *err);
enum seqb_status
__wrap_ha_counter_availability(const struct ha_counter *counter,
                               struct seqb_error *err)
{
    struct seqb_sequence *slot = comes_to;

    if (slot == NULL || slot->counter != counter)
        return __real_ha_counter_availability(counter, err);
    comes_to = NULL;
    sequence_put(slot, 8000, 4);
    return SEQB_OK;
}

TEST_WITH(PERIOD, numbers_that_come_during_a_try_are_taken)
{
    struct rig_broker *broker;
    struct seqb_sequence *front;
    struct current_period current = {.slot = NULL};
    int64_t out[3];
    size_t taken = 9;
    const struct queue_take take = {.out = out, .count = 3, .taken = &taken};
    const struct queue_take one = {.out = out, .count = 1, .taken = &taken};
    int64_t digits;

    fixture->rules.unit = PERIOD_DAY;
    broker = rig_open(fixture->rig);
    front = rig_sequence(broker, "order");
    (void)period_number(broker, &digits);
    rig_set_down(fixture->rig, true);
    rig_await_rest(broker);
    assert_true(periodic_last(periodic_of(front), &current));
    (void)sequence_drop_all(current.slot->sequence);
    comes_to = current.slot->sequence;
    assert_ok(queue_try_take(front, &take, NULL));
    assert_int_equal(taken, 3);
    assert_int_equal(out[0], 8000);
    assert_int_not_equal(queue_try_take(front, &take, NULL), SEQB_OK);
    assert_int_equal(taken, 1);
    assert_int_not_equal(queue_try_take(front, &one, NULL), SEQB_OK);
    assert_int_equal(taken, 0);
    comes_to = current.slot->sequence;
    assert_ok(queue_try_take(front, &one, NULL));
    assert_int_equal(taken, 1);
}

TEST_WITH(PERIOD, who_armed_a_slot_is_called_at_the_removal)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence *front = rig_sequence(broker, "order");
    struct current_period current = {.slot = NULL};
    atomic_int calls = 0;
    int64_t digits;

    front->source->on_ready(front, count_call, &calls);
    (void)period_number(broker, &digits);
    rig_await_rest(broker);
    assert_true(periodic_last(periodic_of(front), &current));
    atomic_store(&calls, 0);
    atomic_store(&current.slot->sequence->is_armed, true);
    sequence_remove(front, false);
    rig_await(is_called, &calls);
    front->source->on_ready(front, NULL, NULL);
}

/* They may be of several. */
TEST_WITH(PERIOD, numbers_with_a_period_are_no_run)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence *front = rig_sequence(broker, "order");
    int64_t numbers[2];
    struct queue_take run = {.out = numbers, .count = 2, .is_contiguous = true};

    assert_fails(queue_take(front, &run, &failure), SEQB_INVALID,
                 "has a period");
    assert_fails(queue_try_take(front, &run, &failure), SEQB_INVALID,
                 "has a period");
    run.count = 1;
    assert_ok(queue_take(front, &run, NULL));
}
