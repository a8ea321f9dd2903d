/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted of a sequence, read without the rest of its status: it is the
 * same, and does not go back. */
#include "period_fixture.h"
#include "platform/clock.h"
#include "queue/periodic/periodic.h"
#include "queue/sequence_take.h"
#include "support/numbers.h"
#include "support/test.h"

/* Of the only sequence that there is. */
static struct seqb_sequence_counts counts_of(const struct rig_broker *broker)
{
    struct seqb_sequence_counts counts[2];

    assert_int_equal(queue_counts(broker->queue, 0, counts, 2), 1);
    return counts[0];
}

static void expect_status(const struct rig_broker *broker)
{
    const struct seqb_sequence_status status = rig_status(broker, "order");
    const struct seqb_sequence_counts counts = counts_of(broker);

    assert_int_equal(counts.taken, status.taken);
    assert_int_equal(counts.waits, status.waits);
    assert_int_equal(counts.dropped, status.dropped);
    assert_int_equal(counts.stock, status.stock);
    assert_int_equal(counts.runs_out_ms == INT64_MAX,
                     status.runs_out_ms == INT64_MAX);
}

TEST_WITH(DIRECT, counts_are_those_of_the_status)
{
    struct rig_broker *broker = rig_open(rig);

    rig_take(broker, 300);
    rig_await_rest(broker);
    expect_status(broker);
    assert_int_equal(counts_of(broker).taken, 300);
    assert_true(counts_of(broker).waits > 0);
}

/* --- of an idle sequence, which are noted at its ring --- */

#define HOUR_MS INT64_C(3600000)

static struct seqb_sequence_counts
counts_read(struct seqb_sequence *sequence, int64_t now_ms,
            void (*read)(struct seqb_sequence *sequence, int64_t now_ms,
                         struct seqb_sequence_counts *out))
{
    struct seqb_sequence_counts counts;

    read(sequence, now_ms, &counts);
    return counts;
}

static void expect_same(const struct seqb_sequence_counts *a,
                        const struct seqb_sequence_counts *b)
{
    assert_int_equal(a->taken, b->taken);
    assert_int_equal(a->waits, b->waits);
    assert_int_equal(a->dropped, b->dropped);
    assert_int_equal(a->stock, b->stock);
    assert_int_equal(a->rate, b->rate);
    assert_int_equal(a->runway_ms, b->runway_ms);
    assert_int_equal(a->runs_out_ms, b->runs_out_ms);
}

/* Reads them, which notes them, reads the note, and compares both with what is
 * in the sequence. Long after the last use the rate is 0. */
static void expect_noted(struct seqb_sequence *sequence, int64_t taken,
                         int64_t stock)
{
    const int64_t later_ms = clock_now_ms() + HOUR_MS;
    const struct seqb_sequence_counts first =
        counts_read(sequence, later_ms, sequence->source->counts);
    const struct seqb_sequence_counts noted =
        counts_read(sequence, later_ms, sequence->source->counts);
    const struct seqb_sequence_counts real =
        counts_read(sequence, later_ms, sequence_counts);
    int64_t unused;

    assert_true(ring_rests(sequence->ring, &unused, &unused));
    expect_same(&first, &real);
    expect_same(&noted, &real);
    assert_int_equal(noted.taken, taken);
    assert_int_equal(noted.stock, stock);
    assert_int_equal(noted.rate, 0);
}

TEST_WITH(DIRECT, counts_of_an_idle_sequence_follow_its_use)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *sequence = rig_sequence(broker, "order");
    int64_t waits;
    int64_t stock;

    expect_noted(sequence, 0, 0);
    rig_take(broker, 300);
    rig_await_rest(broker);
    stock = (int64_t)ring_stock(sequence->ring);
    expect_noted(sequence, 300, stock);
    sequence_put(sequence, 1000000, 10);
    expect_noted(sequence, 300, stock + 10);
    rig_take(broker, 1);
    expect_noted(sequence, 301, stock + 9);
    assert_int_equal(sequence_drop_all(sequence), stock + 9);
    expect_noted(sequence, 301, 0);
    waits = counts_of(broker).waits;
    (void)sequence_again(sequence, NULL);
    assert_int_equal(counts_of(broker).waits, waits + 1);
}

/* A sequence that is used has a rate, which falls from one reading to the
 * next. */
TEST_WITH(DIRECT, counts_with_a_rate_are_not_noted)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence *sequence = rig_sequence(broker, "order");
    int64_t unused;

    rig_take(broker, 300);
    rig_await_rest(broker);
    pthread_mutex_lock(&sequence->lock);
    sequence->refill.rate = 2;
    pthread_mutex_unlock(&sequence->lock);
    assert_true(counts_of(broker).rate > 0);
    assert_false(ring_rests(sequence->ring, &unused, &unused));
}

/* The refill thread drops what is left of the first stamp. */
TEST_WITH(PERIOD, counts_with_a_period_are_those_of_the_status)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    int64_t digits;

    (void)period_number(broker, &digits);
    script_clock_step(SECOND);
    (void)period_number(broker, &digits);
    RIG_AWAIT(counts_of(broker).dropped > 0);
    rig_await_rest(broker);
    expect_status(broker);
    assert_int_equal(counts_of(broker).taken, 2);
}

/* Takes what the current stamp's slot holds, a hundred at a time, until it is
 * found to hold too few: that is a wait of this slot. */
static void find_too_few(struct rig_broker *broker)
{
    int64_t numbers[100];
    const struct queue_take take = {.out = numbers, .count = 100};

    while (queue_try_take(rig_sequence(broker, "order"), &take, NULL) ==
           SEQB_OK)
        continue;
}

/* Callers wait at a slot of the stamp; slots take turns, and are those of other
 * stamps then. Nobody waits as often at the second one as at the first. */
TEST_WITH(PERIOD, what_is_counted_does_not_go_back_with_the_stamps)
{
    struct rig_broker *broker = rig_open(fixture->rig);
    struct seqb_sequence_counts before = {.taken = 0};
    int64_t digits;

    for (int i = 0; i < 3 * PERIOD_SLOTS; i++) {
        struct seqb_sequence_counts now;

        (void)period_number(broker, &digits);
        for (int k = 0; k < 8 && i == 0; k++)
            find_too_few(broker);
        now = counts_of(broker);
        assert_true(now.taken > before.taken);
        assert_true(now.waits > before.waits);
        assert_true(now.dropped >= before.dropped);
        assert_int_equal(rig_status(broker, "order").waits, now.waits);
        before = now;
        script_clock_step(HOUR);
    }
}

TEST_WITH(DIRECT, there_is_no_sequence_behind_the_last)
{
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence_counts counts[1];
    struct seqb_sequence_status status;

    assert_non_null(rig_sequence(broker, "order"));
    assert_int_equal(queue_counts(broker->queue, 1, counts, 1), 0);
    assert_ok(queue_status_at(broker->queue, 0, &status));
    assert_string_equal(status.key, "order");
    assert_int_equal(queue_status_at(broker->queue, 1, &status), SEQB_INVALID);
}

TEST_WITH(DIRECT, status_says_why_a_single_number_was_asked_for)
{
    struct rig_broker *broker;

    rig->sequences[0].memory_bits = 0;
    broker = rig_open(rig);
    assert_string_equal(rig_status(broker, "order").why, "");
    rig_sequence(broker, "order")->asked =
        (struct refill_plan){.runs = 1, .target = 9, .reason = REFILL_ROOM};
    assert_string_equal(rig_status(broker, "order").why,
                        "room: too little for 9 numbers");
}
