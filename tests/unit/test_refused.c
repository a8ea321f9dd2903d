/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a partition refuses to one counter while it gives others: told, counted,
 * shown, tried again, and ended, over scripted stores. When what is told is
 * test_refusal.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "ha/counter/counter.h"
#include "health_fixture.h"
#include "platform/text.h"
#include "queue/sequence.h"
#include "support/events.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/rig_shapes.h"

#define BILL_0 "main/0/bill"
#define BILL_1 "main/1/bill"
#define CLAIM  "sequence/main/bill"

#define TAKEN 500

/* A broker with both sequences, neither of which is fetched ahead. */
static struct rig_broker *open_both(struct rig *rig)
{
    rig->queue.sequence_count = 2;
    events_start();
    return rig_open(rig);
}

static enum seqb_status take(struct rig_broker *broker, const char *key,
                             size_t count)
{
    struct seqb_sequence *sequence = rig_sequence(broker, key);
    enum seqb_status status = SEQB_OK;

    for (size_t i = 0; i < count && status == SEQB_OK; i++)
        status = queue_next(sequence, &(int64_t){0}, NULL);
    return status;
}

static void must_take(struct rig_broker *broker, const char *key, size_t count)
{
    assert_string_equal(seqb_status_name(take(broker, key, count)), "OK");
}

/* Takes numbers of "bill" meanwhile. */
static int64_t refused_while_asked(struct rig_broker *broker, int32_t partition)
{
    must_take(broker, "bill", 16);
    return rig_partition(broker, partition).refused;
}

/* Takes numbers of "bill" until a partition refuses so many counters. */
static void take_until_refused(struct rig_broker *broker, int32_t partition,
                               int64_t refused)
{
    RIG_AWAIT(refused_while_asked(broker, partition) == refused);
}

/* The same, but nobody asks for anything. */
static void await_refused(struct rig_broker *broker, int32_t partition,
                          int64_t refused)
{
    RIG_AWAIT(rig_partition(broker, partition).refused == refused);
}

static void expect_no_health_words(struct rig_broker *broker, const char *words)
{
    char reason[512];

    (void)ha_health(broker->ha, reason, sizeof reason);
    assert_null(strstr(reason, words));
}

/* Numbers of "order" come from the partition as ever. */
static void expect_others_served(struct rig_broker *broker, int32_t partition)
{
    const int64_t granted = rig_partition(broker, partition).granted;

    while (rig_partition(broker, partition).granted == granted)
        must_take(broker, "order", 16);
    assert_int_equal(rig_partition(broker, partition).state, SEQB_PARTITION_UP);
}

/* Both calls that tell it. */
static void expect_reason(const struct rig_broker *broker, int32_t partition)
{
    char reason[SEQB_REASON_SIZE];
    struct seqb_error err;

    assert_ok(ha_reason(broker->ha, "main", partition, reason, &err));
    assert_string_equal(reason, rig_partition(broker, partition).reason);
    assert_int_equal(ha_reason(broker->ha, "main", 64, reason, &err),
                     SEQB_INVALID);
    assert_int_equal(ha_reason(broker->ha, "other", 0, reason, &err),
                     SEQB_INVALID);
}

/* The store refuses "order", and then no more: each listed counter was tried
 * again meanwhile, or is next. */
static void pass_a_retry(struct rig *rig, struct rig_broker *broker)
{
    const int64_t refused = rig_partition(broker, 1).refused;

    fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/order", SEQB_REFUSED);
    while (rig_partition(broker, 1).refused == refused)
        must_take(broker, "order", 16);
    fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/order", SEQB_OK);
    RIG_AWAIT(rig_partition(broker, 1).refused <= refused);
}

/* Its claim would close the sequence for brokers with the right settings. */
TEST_WITH(DIRECT, closed_sequence_is_not_claimed_when_it_is_tried_again)
{
    struct rig_broker *broker;
    char text[SEQB_CLAIM_SIZE];

    fake_refuse(rig->stores[1], FAKE_CLAIM, CLAIM, SEQB_REFUSED);
    broker = open_both(rig);
    take_until_refused(broker, 1, 1);
    counter_void(rig_sequence(broker, "bill")->counter, SEQB_LAYOUT);
    fake_refuse(rig->stores[1], FAKE_CLAIM, CLAIM, SEQB_OK);
    for (int i = 0; i < 2; i++)
        pass_a_retry(rig, broker);
    fake_claim_text(rig->stores[1], CLAIM, text, sizeof text);
    assert_string_equal(text, "");
}

TEST_WITH(DIRECT, refused_counter_is_told_once_counted_and_shown)
{
    struct rig_broker *broker = open_both(rig);
    int64_t errors;

    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_REFUSED);
    take_until_refused(broker, 1, 1);
    events_expect("event=counter_refused pool=main partition=1 backend=b1 "
                  "key=bill",
                  BILL_1 ": told to refuse", 1);
    assert_string_equal(rig_partition(broker, 1).reason,
                        "refuses counter bill: fake store-1: " BILL_1
                        ": told to refuse");
    expect_reason(broker, 1);
    errors = rig_partition(broker, 1).errors;
    assert_true(errors > 0);
    expect_health_says(broker, SEQB_HEALTH_DEGRADED,
                       "pool main: partition 1 (b1) refuses counter bill: fake "
                       "store-1: " BILL_1 ": told to refuse");
    while (rig_partition(broker, 1).errors < errors + 2)
        must_take(broker, "bill", 16);
    expect_no_health_words(broker, "no partition grants");
    events_expect("event=counter_refused", "", 1);
    expect_others_served(broker, 1);
    assert_int_equal(rig_partition(broker, 0).refused, 0);
    assert_int_equal(rig_partition(broker, 0).errors, 0);
}
TEST_ALSO(WINDOWED, refused_counter_is_told_once_counted_and_shown);

TEST_WITH(DIRECT, refusal_ends_though_nobody_asks)
{
    struct rig_broker *broker = open_both(rig);

    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_REFUSED);
    take_until_refused(broker, 1, 1);
    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_OK);
    await_refused(broker, 1, 0);
    assert_string_equal(rig_partition(broker, 1).reason, "");
    expect_health_says(broker, SEQB_HEALTH_SERVING, "");
    events_expect("event=counter_recovered pool=main partition=1 backend=b1 "
                  "key=bill",
                  "granted again", 1);
    assert_true(fake_value(rig->stores[1], BILL_1) > 0);
    /* Another time is told again. */
    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_REFUSED);
    take_until_refused(broker, 1, 1);
    events_expect("event=counter_refused", "key=bill", 2);
}
TEST_ALSO(WINDOWED, refusal_ends_though_nobody_asks);

TEST_WITH(DIRECT, refused_counter_is_not_asked_with_each_refill)
{
    struct rig_broker *broker;
    int64_t refills;

    rig->sequences[1].max_unused = 8;
    broker = open_both(rig);
    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_REFUSED);
    take_until_refused(broker, 1, 1);
    refills = fake_calls(rig->stores[0], FAKE_RESERVE);
    must_take(broker, "bill", (size_t)TAKEN * 8);
    refills = fake_calls(rig->stores[0], FAKE_RESERVE) - refills;
    assert_true(refills > TAKEN / 4);
    assert_true(fake_refusals(rig->stores[1]) < refills / 4);
}

/* What every way to a number may be answered, and what is told of it. */
TEST_WITH(DIRECT, every_status_of_one_counter_is_told)
{
    static const struct {
        enum seqb_status status;
        const char *event;
    } cases[] = {
        {SEQB_REFUSED, "counter_refused"},  {SEQB_CORRUPT, "counter_refused"},
        {SEQB_PROTOCOL, "counter_refused"}, {SEQB_INVALID, "counter_refused"},
        {SEQB_UNSAFE, "counter_refused"},   {SEQB_LAYOUT, "layout"},
        {SEQB_EXHAUSTED, "exhausted"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rig_broker *broker = open_both(rig);
        char event[64];

        fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, cases[i].status);
        take_until_refused(broker, 1, 1);
        (void)text_format(event, sizeof event, "event=%s ", cases[i].event);
        events_expect(event, "partition=1", 1);
        events_expect("key=bill", "", 1);
        expect_health_says(broker, SEQB_HEALTH_DEGRADED,
                           "partition 1 (b1) refuses counter bill: ");
        expect_others_served(broker, 1);
        rig_close(broker);
        fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_OK);
    }
}

/* Only an operator's restart, with other settings, changes that. */
TEST_WITH(DIRECT, what_is_used_up_is_never_asked_again)
{
    struct rig_broker *broker = open_both(rig);
    int64_t refusals;

    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_EXHAUSTED);
    take_until_refused(broker, 1, 1);
    fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/order", SEQB_REFUSED);
    refusals = fake_refusals(rig->stores[1]);
    must_take(broker, "order", TAKEN);
    must_take(broker, "bill", TAKEN);
    await_refused(broker, 1, 2);
    rig_expect_words(rig_partition(broker, 1).reason,
                     "refuses 2 counters, first bill: ");
    /* All of them were of the other one, as those that come are. */
    assert_true(fake_refusals(rig->stores[1]) > refusals);
    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_OK);
    fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/order", SEQB_OK);
    await_refused(broker, 1, 1);
    must_take(broker, "bill", TAKEN);
    rig_expect_words(rig_partition(broker, 1).reason, "refuses counter bill: ");
    assert_int_equal(fake_value(rig->stores[1], BILL_1), -1);
}

/* --- claims, raises, windows --- */

/* The call refuses "bill" alone; the partition and all others go on. */
static void expect_refused_by(struct rig *rig, struct rig_broker *broker,
                              enum fake_call call, const char *counter)
{
    fake_refuse(rig->stores[1], call, counter, SEQB_REFUSED);
    take_until_refused(broker, 1, 1);
    rig_expect_words(rig_partition(broker, 1).reason,
                     "refuses counter bill: fake store-1: ");
    expect_others_served(broker, 1);
    events_expect("event=counter_refused", "partition=1", 1);
    fake_refuse(rig->stores[1], call, counter, SEQB_OK);
    await_refused(broker, 1, 0);
    events_expect("event=counter_recovered", "partition=1", 1);
    events_expect("event=quarantined", "", 0);
}

TEST_WITH(DIRECT, refused_claim_is_that_counters_alone)
{
    struct rig_broker *broker;

    rig_automatic(rig, "*", 8);
    events_start();
    broker = rig_open(rig);
    expect_refused_by(rig, broker, FAKE_CLAIM, CLAIM);
}

TEST_WITH(DIRECT, claim_refused_at_the_start_stops_nobody)
{
    struct rig_broker *broker;

    fake_refuse(rig->stores[1], FAKE_CLAIM, CLAIM, SEQB_REFUSED);
    broker = open_both(rig);
    assert_int_equal(rig_partition(broker, 1).state, SEQB_PARTITION_UP);
    expect_refused_by(rig, broker, FAKE_CLAIM, CLAIM);
}

/* Takes until partition 1 has a counter of it. */
static void take_from_1(struct rig *rig, struct rig_broker *broker,
                        const char *key, const char *counter)
{
    while (fake_value(rig->stores[1], counter) < 1)
        must_take(broker, key, 16);
}

TEST_WITH(DIRECT, refused_raise_is_that_counters_alone)
{
    struct rig_broker *broker = open_both(rig);

    take_from_1(rig, broker, "bill", BILL_1);
    take_from_1(rig, broker, "order", "main/1/order");
    fake_change_origin(rig->stores[1]);
    expect_refused_by(rig, broker, FAKE_RAISE, BILL_1);
    events_expect("event=raised", "partition=1", 2);
}

TEST_WITH(WINDOWED, refused_window_is_that_counters_alone)
{
    expect_refused_by(rig, open_both(rig), FAKE_INSTALL, BILL_1);
}

TEST_WITH(WINDOWED, authority_that_refuses_a_lease_stays_up)
{
    static const char lease[] = "window/main/1/bill";
    struct rig_broker *broker = open_both(rig);

    fake_refuse(rig->authority, FAKE_RESERVE, lease, SEQB_REFUSED);
    take_until_refused(broker, 1, 1);
    assert_string_equal(
        rig_partition(broker, 1).reason,
        "refuses counter bill: no window: authority auth: fake authority: "
        "window/main/1/bill: told to refuse");
    expect_others_served(broker, 1);
    assert_int_equal(rig_partition(broker, -1).state, SEQB_PARTITION_UP);
    fake_refuse(rig->authority, FAKE_RESERVE, lease, SEQB_OK);
    await_refused(broker, 1, 0);
    events_expect("event=counter_refused", "", 1);
    events_expect("event=quarantined", "", 0);
}

/* --- together with the partition's own troubles --- */

TEST_WITH(DIRECT, partition_comes_back_though_it_refuses_a_counter)
{
    struct rig_broker *broker = open_both(rig);

    fake_change_origin(rig->stores[1]);
    fake_refuse(rig->stores[1], FAKE_RAISE, BILL_1, SEQB_REFUSED);
    take_until_refused(broker, 1, 1);
    assert_ok(ha_command(broker->ha, "main", 1, SEQB_ORDER_QUARANTINE, NULL));
    /* While it rests, that is all there is to say. */
    assert_int_equal(rig_partition(broker, 1).refused, 0);
    expect_health_says(broker, SEQB_HEALTH_DEGRADED,
                       "partition 1 (b1) is quarantined: ");
    must_take(broker, "bill", TAKEN); /* it was asked last */
    rig_await_use(broker, 1);
    assert_int_equal(rig_partition(broker, 1).refused, 1);
    expect_health_says(broker, SEQB_HEALTH_DEGRADED,
                       "partition 1 (b1) refuses counter bill: ");
    events_expect("event=counter_refused", "", 1);
}

TEST_WITH(DIRECT, partition_that_fails_refuses_nothing)
{
    struct rig_broker *broker = open_both(rig);

    must_take(broker, "bill", TAKEN);
    fake_set_down(rig->stores[1], true);
    while (rig_partition(broker, 1).state != SEQB_PARTITION_QUARANTINED)
        must_take(broker, "bill", 16);
    fake_set_down(rig->stores[1], false);
    rig_await_use(broker, 1);
    must_take(broker, "bill", TAKEN);
    assert_int_equal(rig_partition(broker, 1).refused, 0);
    events_expect("event=counter_", "", 0);
}

/* Why a partition gives nothing is what it says of itself, if it says so. */
TEST_WITH(DIRECT, failure_of_the_partition_is_told_before_a_refusal)
{
    struct rig_broker *broker = open_both(rig);
    struct seqb_error err;

    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_REFUSED);
    take_until_refused(broker, 1, 1);
    assert_ok(
        ha_counter_availability(rig_sequence(broker, "bill")->counter, &err));
    fake_refuse(rig->stores[0], FAKE_RESERVE, BILL_0, SEQB_REFUSED);
    rig_set_deadline(broker, "bill", 20);
    while (rig_partition(broker, 0).refused == 0)
        (void)take(broker, "bill", 1);
    /* Also while a partition is asked, or rests. */
    for (int i = 0; i < 1000; i++)
        assert_int_equal(ha_counter_availability(
                             rig_sequence(broker, "bill")->counter, &err),
                         SEQB_UNAVAILABLE);
    rig_expect_words(err.text, "partition 1 (b1): fake store-1: " BILL_1);
    fake_set_down(rig->stores[1], true);
    while (rig_partition(broker, 1).state != SEQB_PARTITION_QUARANTINED)
        must_take(broker, "order", 16);
    assert_fails(ha_counter_availability(rig_sequence(broker, "bill")->counter,
                                         &failure),
                 SEQB_UNAVAILABLE, "partition 1 (b1): fake store-1: is down");
}

/* The kind of the failure of "bill" in partition 1, if there was one. */
static bool has_failed_as(struct rig_broker *broker, enum refusal_kind kind)
{
    struct ha_counter *counter = rig_sequence(broker, "bill")->counter;
    bool has_failed;

    pthread_mutex_lock(counter->pool->lock);
    has_failed = counter->slots[1].refusal != NULL;
    if (has_failed)
        assert_int_equal(counter->slots[1].refusal->kind, kind);
    pthread_mutex_unlock(counter->pool->lock);
    return has_failed;
}

/* A call had no time for it; and other brokers were always faster. */
TEST_WITH(DIRECT, what_was_not_reached_is_no_refusal)
{
    struct rig_broker *broker = open_both(rig);

    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_AGAIN);
    while (!has_failed_as(broker, REFUSAL_SHARED))
        must_take(broker, "bill", 16);
    rig_close(broker);
    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_FENCED);
    broker = open_both(rig);
    while (!has_failed_as(broker, REFUSAL_PASSING))
        must_take(broker, "bill", 16);
    assert_int_equal(rig_partition(broker, 1).errors, 0);
}

TEST_WITH(DIRECT, caller_is_told_why_when_all_refuse)
{
    struct rig_broker *broker;

    rig->sequences[1].deadline_ms = 50;
    broker = open_both(rig);
    fake_refuse(rig->stores[0], FAKE_RESERVE, BILL_0, SEQB_REFUSED);
    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_CORRUPT);
    while (rig_partition(broker, 0).refused + rig_partition(broker, 1).refused <
           2)
        assert_int_not_equal(take(broker, "bill", 1), SEQB_OK);
    assert_fails(
        queue_next(rig_sequence(broker, "bill"), &(int64_t){0}, &failure),
        SEQB_UNAVAILABLE,
        "partition 0 (b0): fake store-0: " BILL_0 ": told to");
    rig_expect_words(failure.text,
                     "partition 1 (b1): fake store-1: " BILL_1 ": told to");
    expect_health_says(broker, SEQB_HEALTH_DEGRADED,
                       "pool main: no partition grants sequence bill; ");
    expect_health_says(broker, SEQB_HEALTH_DEGRADED,
                       "partition 0 (b0) refuses counter bill: ");
    expect_others_served(broker, 0);
    expect_others_served(broker, 1);
    fake_refuse(rig->stores[1], FAKE_RESERVE, BILL_1, SEQB_OK);
    await_refused(broker, 1, 0);
}
