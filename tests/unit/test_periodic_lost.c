/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that is kept in a store that may have lost counters. A counter of a
 * period that begins later begins at 1. So every period that was begun must
 * begin before it, also if the clock went back since.
 */
#include "period_fixture.h"
#include "support/test.h"

#define MINUTE (60 * SECOND)
#define SLACK  (10 * MINUTE) /* between the latest begin and that time */

struct raised {
    struct rig *rig;
    struct rig_broker *broker;
    const char *key;
    const char *counter; /* of the first store */
    int64_t base_ms;
};

static bool is_raised(void *context)
{
    struct raised *raised = context;
    struct seqb_raise raise;

    assert_ok(queue_next(rig_sequence(raised->broker, raised->key),
                         &(int64_t){0}, NULL));
    raise = fake_first_raise(raised->rig->stores[0], raised->counter);
    raised->base_ms = raise.base_ms;
    return raise.limit > 0;
}

/* What the raise passes after the first store was replaced. */
static int64_t base_ms_of(struct rig *rig, struct rig_broker *broker,
                          const char *key, const char *counter)
{
    struct raised raised = {
        .rig = rig, .broker = broker, .key = key, .counter = counter};

    fake_change_origin(rig->stores[0]);
    rig_await(is_raised, &raised);
    return raised.base_ms;
}

TEST_WITH(PERIOD, clock_that_went_back_leaves_no_begun_period_out)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;

    rig->sequences[0].period = NULL;
    rig->sequences[0].attributes = NULL;
    broker = rig_open(rig);
    script_clock_step(-HOUR);
    assert_true(base_ms_of(rig, broker, "order", "main/0/order") >=
                NOON + SLACK);
}

/* A broker begins a period, and starts again 20 minutes behind it. */
static struct rig_broker *begin_and_restart_behind(struct rig *rig)
{
    struct rig_broker *broker = rig_open(rig);
    int64_t digits;

    (void)period_number(broker, &digits);
    rig_close(broker);
    script_clock_step(-20 * MINUTE);
    return rig_open(rig);
}

TEST_WITH(PERIOD, restart_behind_the_begun_period_does_not_leave_it_out)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker = begin_and_restart_behind(rig);

    assert_true(base_ms_of(rig, broker, "order",
                           "main/0/order@20261121120000") >= NOON + SLACK);
}

/* A sequence without a period is asked first. */
TEST_WITH(PERIOD, other_sequence_does_not_leave_out_the_begun_period)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;

    rig->queue.sequence_count = 2;
    broker = begin_and_restart_behind(rig);
    assert_true(base_ms_of(rig, broker, "bill", "main/0/bill") >= NOON + SLACK);
}

/* The clock was ahead between two looks at the store, and no longer is. */
TEST_WITH(PERIOD, clock_that_was_ahead_for_a_moment_leaves_no_begun_period_out)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    int64_t digits;

    rig->queue.sequence_count = 2;
    broker = rig_open(rig);
    script_clock_step(20 * MINUTE);
    (void)period_number(broker, &digits);
    script_clock_step(-20 * MINUTE);
    assert_true(base_ms_of(rig, broker, "bill", "main/0/bill") >=
                NOON + 20 * MINUTE + SLACK);
}
