/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that find the ring empty ask the partitions by themselves. */

#include <pthread.h>

#include "platform/clock.h"
#include "platform/text.h"
#include "queue/sequence.h"
#include "support/rig.h"
#include "support/test.h"
#include "unit/refilling.h"

#define MANY 20

struct taker {
    struct seqb_sequence *sequence;
    int64_t until_ms;
    pthread_t thread;
    enum seqb_status status;
};

static void *take_run(void *argument)
{
    struct taker *taker = argument;
    int64_t number;
    const struct queue_take take = {
        .out = &number, .count = 1, .until_ms = taker->until_ms};

    taker->status = queue_take(taker->sequence, &take, NULL);
    return NULL;
}

static void taker_start(struct taker *taker, struct seqb_sequence *sequence,
                        int64_t wait_ms)
{
    taker->sequence = sequence;
    taker->until_ms = clock_now_ms() + wait_ms;
    assert_int_equal(pthread_create(&taker->thread, NULL, take_run, taker), 0);
}

static enum seqb_status taker_join(struct taker *taker)
{
    pthread_join(taker->thread, NULL);
    return taker->status;
}

static bool is_waited_for(void *context)
{
    struct seqb_sequence *sequence = context;
    struct seqb_sequence_status status;

    sequence_status(sequence, clock_now_ms(), &status);
    return status.in_flight > 0;
}

TEST_WITH(DIRECT, the_refill_thread_has_no_part_in_it)
{
    struct rig_broker *broker;
    int64_t number;
    enum seqb_status status;

    rig->queue.sequence_count = 2;
    broker = rig_open(rig);
    refilling_hold_at(rig_sequence(broker, "bill"));
    status = rig_take_one(broker, &number, NULL);
    refilling_release();
    assert_int_equal(status, SEQB_OK);
}

static void make_row(struct rig *rig, struct queue_sequence_options *sequences,
                     char keys[][32])
{
    for (size_t i = 0; i <= MANY; i++) {
        (void)text_format(keys[i], 32, "row.%zu", i);
        sequences[i] = rig->sequences[0];
        sequences[i].key = keys[i];
    }
    rig->queue.sequences = sequences;
    rig->queue.sequence_count = MANY + 1;
}

/* The refill thread might ask once more while a taker that has its number was
 * not yet scheduled. */
TEST_WITH(ONE_DIRECT, a_burst_of_dry_sequences_is_one_call)
{
    struct queue_sequence_options sequences[MANY + 1];
    struct taker takers[MANY];
    char keys[MANY + 1][32];
    struct rig_broker *broker;
    struct fake_store *store = rig->stores[0];
    int64_t calls;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    make_row(rig, sequences, keys);
    broker = rig_open(rig);
    refilling_hold_at(rig_sequence(broker, keys[MANY]));
    calls = fake_calls(store, FAKE_RESERVE);
    fake_hang(store);
    for (size_t i = 0; i < MANY; i++) {
        taker_start(&takers[i], rig_sequence(broker, keys[i]), RIG_FOREVER_MS);
        if (i == 0)
            assert_true(fake_wait_for_hanging(store, 1, RIG_PATIENCE_MS));
    }
    for (size_t i = 0; i < MANY; i++)
        rig_await(is_waited_for, takers[i].sequence);
    fake_release(store);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(taker_join(&takers[i]), SEQB_OK);
    calls = fake_calls(store, FAKE_RESERVE) - calls;
    refilling_release();
    /* The first one's, and one for all that came while it was under way. */
    assert_int_equal(calls, 2);
    rig_close(broker); /* before the options go */
}
