/* SPDX-License-Identifier: Apache-2.0 */
/* Time-ordered ids of a sequence over scripted stores: what is in them, and
 * what becomes of callers when a stamp's are used up. */
#include <stdlib.h>

#include "period_fixture.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/test.h"

#define EPOCH     INT64_C(1577836800000)
#define SHARD_MAX 4095

/* Counter bits of which two go to memory and one to the partition. */
#define FEW_BITS 6

static enum seqb_status take_id(struct rig_broker *broker, int64_t shard,
                                int64_t *out, struct seqb_error *err)
{
    const struct queue_take take = {
        .out = out, .count = 1, .shard = shard, .is_sharded = true};

    return queue_take(rig_sequence(broker, "order"), &take, err);
}

static int64_t id_of(struct rig_broker *broker, int64_t shard)
{
    struct seqb_error err;
    int64_t id = 0;

    if (take_id(broker, shard, &id, &err) != SEQB_OK)
        fail_msg("no id: %s", err.text);
    return id;
}

TEST_WITH(PERIOD, an_id_is_decoded_into_what_it_was_made_of)
{
    static const int64_t shards[] = {0, 1, 77, SHARD_MAX};
    struct rig_broker *broker;
    struct seqb_decoded decoded;

    period_use_ids(fixture, 19);
    broker = rig_open(fixture->rig);
    for (size_t i = 0; i < sizeof shards / sizeof shards[0]; i++) {
        const int64_t id = id_of(broker, shards[i]);

        assert_int_equal(id >> 31, (NOON - EPOCH) / SECOND);
        queue_decode(rig_sequence(broker, "order"), id, &decoded);
        assert_int_equal(decoded.time_ms, NOON);
        assert_int_equal(decoded.shard, shards[i]);
        assert_int_equal(decoded.number, id & ((1 << 19) - 1));
        assert_int_equal(decoded.worker, -1);
    }
}

TEST_WITH(PERIOD, ids_grow_with_the_time)
{
    struct rig_broker *broker;
    int64_t last = 0;

    period_use_ids(fixture, 19);
    broker = rig_open(fixture->rig);
    for (int i = 0; i < 20; i++) {
        const int64_t id = id_of(broker, SHARD_MAX - i);

        assert_true(id > last);
        last = id;
        numbers_add(&fixture->rig->taken, &id, 1);
        script_clock_step(SECOND);
    }
}

TEST_WITH(PERIOD, a_shard_out_of_range_is_refused_and_costs_nothing)
{
    static const int64_t wrong[] = {-1, SHARD_MAX + 1, INT64_MAX, INT64_MIN};
    struct rig_broker *broker;
    int64_t id = 0;

    period_use_ids(fixture, 19);
    broker = rig_open(fixture->rig);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(take_id(broker, wrong[i], &id, &failure), SEQB_INVALID,
                     "0 ... 4095");
    }
    assert_int_equal(rig_status(broker, "order").taken, 0);
}

/* Takes until no more come. Returns how many. */
static size_t use_up(struct rig_broker *broker, struct seqb_error *err)
{
    const size_t before = numbers_count(&broker->rig->taken);
    enum seqb_status status;
    int64_t id;

    while ((status = take_id(broker, 5, &id, err)) == SEQB_OK)
        numbers_add(&broker->rig->taken, &id, 1);
    assert_int_equal(status, SEQB_EXHAUSTED);
    return numbers_count(&broker->rig->taken) - before;
}

TEST_WITH(PERIOD, a_full_stamp_refuses_until_the_next_one)
{
    struct rig_broker *broker;
    struct seqb_error err;

    period_use_ids(fixture, FEW_BITS);
    broker = rig_open(fixture->rig);
    /* 8 values of each of two partitions, less the first ones, 0. */
    assert_int_equal(use_up(broker, &err), (2 * 8 - 2) * 4);
    rig_expect_words(err.text, "used up");
    rig_expect_words(err.text, "next one begins in 1000 ms");
    script_clock_step(SECOND);
    assert_int_equal(use_up(broker, &err), (2 * 8 - 2) * 4);
}

/* An alarm of the full stamp would last for ever. Stamps take turns with two
 * sets of slots, so the third stamp has those of the first. */
TEST_WITH(PERIOD, end_of_a_full_stamp_is_reported)
{
    struct rig_broker *broker;
    struct seqb_error err;

    period_use_ids(fixture, FEW_BITS);
    events_start();
    broker = rig_open(fixture->rig);
    (void)use_up(broker, &err);
    events_expect("event=exhausted", "partition=0", 1);
    events_expect("event=counter_recovered", "", 0);
    for (int i = 0; i < 2; i++) {
        script_clock_step(SECOND);
        (void)use_up(broker, &err);
    }
    events_expect("event=counter_recovered", "partition=0", 1);
    events_expect("event=counter_recovered", "partition=1", 1);
}

TEST_WITH(PERIOD, a_full_stamp_waits_for_the_next_one)
{
    struct rig_broker *broker;
    struct seqb_decoded decoded;
    int64_t id = 0;

    period_use_ids(fixture, FEW_BITS);
    fixture->rig->sequences[0].full_waits = true;
    script_clock_run(NOON);
    broker = rig_open(fixture->rig);
    for (int i = 0; i < 3 * 56; i++) {
        id = id_of(broker, 0);
        numbers_add(&fixture->rig->taken, &id, 1);
    }
    queue_decode(rig_sequence(broker, "order"), id, &decoded);
    assert_true(decoded.time_ms >= NOON + 2 * SECOND);
}

TEST_WITH(PERIOD, waiting_for_the_next_stamp_ends_with_the_deadline)
{
    struct rig_broker *broker;
    struct seqb_error err;

    period_use_ids(fixture, FEW_BITS);
    fixture->ids.unit_ms = HOUR; /* the deadline comes long before the next */
    fixture->rules.unit = PERIOD_HOUR;
    fixture->rig->sequences[0].full_waits = true;
    broker = rig_open(fixture->rig);
    assert_int_equal(use_up(broker, &err), (2 * 8 - 2) * 4);
    rig_expect_words(err.text, "used up");
}

TEST_WITH(PERIOD, the_last_time_is_in_the_forecast)
{
    struct rig_broker *broker;
    struct seqb_sequence_status status;
    struct seqb_sequence_counts counts;

    period_use_ids(fixture, 19);
    broker = rig_open(fixture->rig);
    (void)id_of(broker, 0);
    status = rig_status(broker, "order");
    assert_int_equal(status.runs_out_ms,
                     EPOCH + ((int64_t)1 << 32) * SECOND - NOON);
    assert_int_equal(queue_counts(broker->queue, 0, &counts, 1), 1);
    assert_int_equal(counts.runs_out_ms, status.runs_out_ms);
}

TEST_WITH(PERIOD, after_the_last_time_there_are_no_ids)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t id = 0;

    period_use_ids(fixture, 19);
    fixture->ids.time = 27;
    script_clock_set(EPOCH + ((int64_t)1 << 27) * SECOND - 1);
    broker = rig_open(fixture->rig);
    (void)id_of(broker, 0);
    script_clock_step(1);
    assert_int_equal(take_id(broker, 0, &id, &err), SEQB_EXHAUSTED);
    assert_int_equal(rig_status(broker, "order").runs_out_ms, 0);
}

TEST_WITH(PERIOD, the_other_calls_give_ids_of_shard_0)
{
    struct seqb_sequence *order;
    struct seqb_decoded decoded;
    int64_t ids[20];

    period_use_ids(fixture, 19);
    order = rig_sequence(rig_open(fixture->rig), "order");
    ids[19] = -1;
    assert_ok(queue_next_many(order, 19, ids, NULL));
    assert_int_equal(ids[19], -1);
    assert_ok(queue_next(order, &ids[19], NULL));
    for (int i = 0; i < 20; i++) {
        queue_decode(order, ids[i], &decoded);
        assert_int_equal(decoded.time_ms, NOON);
        assert_int_equal(decoded.shard, 0);
    }
}
