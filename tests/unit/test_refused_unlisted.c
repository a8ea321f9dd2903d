/* SPDX-License-Identifier: Apache-2.0 */
/* What stores refuse to a sequence, or grant it again, while a reload takes the
 * sequence out: each refusal begins and ends once. An alarm lasts from one to
 * the other. */
#include <stdatomic.h>

#include "ha/counter/counter.h"
#include "queue/sequence.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

static void take_bill(struct rig_broker *broker)
{
    (void)queue_next(rig_sequence(broker, "bill"), &(int64_t){0}, NULL);
}

static void refuse_bill(struct rig *rig, int32_t partition, bool is_refused)
{
    fake_refuse(rig->stores[partition], FAKE_RESERVE,
                partition == 0 ? "main/0/bill" : "main/1/bill",
                is_refused ? SEQB_REFUSED : SEQB_OK);
}

static bool is_bill_refused(struct rig_broker *broker)
{
    struct ha_counter *counter = rig_sequence(broker, "bill")->counter;
    bool is_refused;

    pthread_mutex_lock(counter->pool->lock);
    is_refused = refusal_is_reported(counter->slots[1].refusal);
    pthread_mutex_unlock(counter->pool->lock);
    return is_refused;
}

/* What partition 1 answers from the first end on. */
struct meanwhile {
    struct rig *rig;
    struct rig_broker *broker;
    bool is_refused;
};

static void change_meanwhile(void *context, const struct seqb_event *event)
{
    const struct meanwhile *to = context;

    if (event->kind != SEQB_EVENT_COUNTER_RECOVERED || event->partition != 0)
        return;
    refuse_bill(to->rig, 1, to->is_refused);
    while (is_bill_refused(to->broker) != to->is_refused)
        take_bill(to->broker);
}

static void expect_an_end_for_each_begin(struct rig *rig, bool is_refused)
{
    struct meanwhile to = {.rig = rig, .is_refused = is_refused};

    rig->queue.sequence_count = 2;
    rig->sequences[1].deadline_ms = 20;
    events_start();
    to.broker = rig_open(rig);
    refuse_bill(rig, 0, true);
    refuse_bill(rig, 1, !is_refused);
    while (events_count("event=counter_refused", "key=bill") <
           (is_refused ? 1 : 2))
        take_bill(to.broker);
    ha_on_event(to.broker->ha, change_meanwhile, &to);
    ha_counter_set_listed(rig_sequence(to.broker, "bill")->counter, false);
    ha_on_event(to.broker->ha, NULL, NULL);
    rig_close(to.broker); /* its workers have reported what they had to */
    for (int i = 0; i < 2; i++) {
        const char *partition = i == 0 ? "partition=0" : "partition=1";

        assert_int_equal(events_count("event=counter_recovered", partition),
                         events_count("event=counter_refused", partition));
    }
    events_stop();
}

TEST_WITH(DIRECT, refusal_that_ends_while_it_is_unlisted_ends_once)
{
    expect_an_end_for_each_begin(rig, false);
}

TEST_WITH(DIRECT, refusal_that_begins_while_it_is_unlisted_has_no_end)
{
    expect_an_end_for_each_begin(rig, true);
}

/* A report of partition 1's refusal, which lasts until the sequence is off the
 * list. */
struct report {
    struct ha_counter *bill;
    atomic_bool is_begun;
};

static bool is_unlisted(void *context)
{
    const struct ha_counter *bill = context;
    bool is;

    pthread_mutex_lock(bill->pool->lock);
    is = bill->is_unlisted;
    pthread_mutex_unlock(bill->pool->lock);
    return is;
}

static void report_until_unlisted(void *context, const struct seqb_event *event)
{
    struct report *report = context;

    if (event->kind != SEQB_EVENT_COUNTER_REFUSED)
        return;
    atomic_store(&report->is_begun, true);
    rig_await(is_unlisted, report->bill);
}

TEST_WITH(DIRECT, refusal_that_is_unlisted_while_it_is_reported_ends_once)
{
    struct report report = {.is_begun = false};
    struct rig_broker *broker;

    rig->queue.sequence_count = 2;
    rig->sequences[1].deadline_ms = 20;
    events_start();
    broker = rig_open(rig);
    report.bill = rig_sequence(broker, "bill")->counter;
    ha_on_event(broker->ha, report_until_unlisted, &report);
    refuse_bill(rig, 1, true);
    while (!atomic_load(&report.is_begun))
        take_bill(broker);
    ha_counter_set_listed(report.bill, false);
    rig_close(broker);
    events_expect("event=counter_refused", "key=bill", 1);
    events_expect("event=counter_recovered", "key=bill", 1);
    events_stop();
}
