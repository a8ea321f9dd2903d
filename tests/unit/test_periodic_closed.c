/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence with a period that a store knows by other settings, over scripted
 * stores and a scripted clock: it is closed for all stamps, also when that
 * store cannot be asked.
 */
#include "period_fixture.h"
#include "platform/clock.h"
#include "support/failure.h"
#include "support/test.h"

#define STAMPS 6 /* more than a sequence has slots */
#define TAKEN  200
#define OTHER  "order in backend b1 was used with memory_bits"

/* Claims the memory bits of "order" in one store alone. */
static void claim_in(struct rig *rig, size_t i, int32_t memory_bits)
{
    rig->sequences[0].memory_bits = memory_bits;
    fake_set_down(rig->stores[1 - i], true);
    rig_use(rig, 0);
    fake_set_down(rig->stores[1 - i], false);
}

/* The stores know "order" by other bits. Opens a broker with those of the first
 * one, while the second one is away. */
static struct rig_broker *open_apart(struct rig *rig)
{
    rig->queue.sequence_count = 0;
    rig_use(rig, 0);
    rig->queue.sequence_count = 1;
    claim_in(rig, 1, 3);
    claim_in(rig, 0, 2);
    fake_set_down(rig->stores[1], true);
    return rig_open(rig);
}

/* Takes numbers of the present stamp until none comes. */
static enum seqb_status take(struct rig *rig, struct rig_broker *broker,
                             struct seqb_error *err)
{
    enum seqb_status status = SEQB_OK;

    for (int i = 0; i < TAKEN && status == SEQB_OK; i++) {
        struct seqb_stamp stamp;
        int64_t number;

        status = period_take(broker, &number, &stamp, err);
        if (status != SEQB_OK)
            break;
        number |= (stamp.begins_ms - NOON) / SECOND << 40;
        numbers_add(&rig->taken, &number, 1);
    }
    return status;
}

/* The second store is asked, and is then away again. */
static void be_closed(struct rig *rig, struct rig_broker *broker)
{
    struct seqb_error err;

    fake_set_down(rig->stores[1], false);
    RIG_AWAIT(take(rig, broker, &err) == SEQB_LAYOUT);
    rig_expect_words(err.text, OTHER);
    fake_set_down(rig->stores[1], true);
}

TEST_WITH(PERIOD, closed_sequence_is_closed_for_later_stamps)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker = open_apart(rig);

    assert_ok(take(rig, broker, NULL));
    be_closed(rig, broker);
    for (int i = 0; i < STAMPS; i++) {
        script_clock_step(SECOND);
        assert_fails(take(rig, broker, &failure), SEQB_LAYOUT, OTHER);
    }
}

/* Each broker reaches one of the stores, and learned of the other one before.
 */
TEST_WITH(PERIOD, brokers_of_other_bits_share_no_number_of_a_later_stamp)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker = open_apart(rig);
    struct seqb_error err;

    assert_ok(take(rig, broker, &err));
    be_closed(rig, broker);
    script_clock_step(SECOND);
    (void)take(rig, broker, &err);
    rig_close(broker);
    fake_set_down(rig->stores[0], true);
    fake_set_down(rig->stores[1], false);
    rig->sequences[0].memory_bits = 3;
    broker = rig_open(rig);
    assert_ok(take(rig, broker, &err));
    assert_int_equal(numbers_repeats(&rig->taken), 0);
}

static int64_t reserves(const struct rig *rig)
{
    return fake_calls(rig->stores[0], FAKE_RESERVE);
}

TEST_WITH(PERIOD, numbers_of_the_next_stamp_are_dropped_as_well)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t calls;

    rig->sequences[0].prefetch = true;
    script_clock_set(NOON + 100);
    broker = open_apart(rig);
    assert_ok(take(rig, broker, &err));
    rig_await_rest(broker);
    calls = reserves(rig);
    script_clock_set(NOON + 900);
    RIG_AWAIT(reserves(rig) > calls);
    rig_await_rest(broker);
    be_closed(rig, broker);
    script_clock_set(NOON + SECOND);
    assert_status(take(rig, broker, &err), SEQB_LAYOUT);
}
