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
    const struct queue_take take = {
        .out = &(int64_t){0}, .count = 1, .until_ms = taker->until_ms};

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
    enum seqb_status status;

    rig->queue.sequence_count = 2;
    broker = rig_open(rig);
    refilling_hold_at(rig_sequence(broker, "bill"));
    status = rig_take_one(broker, &(int64_t){0}, NULL);
    refilling_release();
    assert_ok(status);
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
        assert_ok(taker_join(&takers[i]));
    calls = fake_calls(store, FAKE_RESERVE) - calls;
    refilling_release();
    /* The first one's, and one for all that came while it was under way. */
    assert_int_equal(calls, 2);
    rig_close(broker); /* before the options go */
}

/* --- runs --- */

#define SHORT_MS 50

/* As SEQ.INCRBY does; `until_ms` is the deadline. */
static enum seqb_status take_of_run(struct rig_broker *broker, size_t count,
                                    int64_t until_ms, int64_t *first,
                                    struct seqb_error *err)
{
    const struct queue_take take = {.out = first,
                                    .count = count,
                                    .is_contiguous = true,
                                    .until_ms = until_ms};

    return queue_take(rig_sequence(broker, "order"), &take, err);
}

/* The ring holds the rest of a run, which is too short. */
TEST_WITH(DIRECT, run_that_does_not_come_is_refused_at_the_deadline)
{
    struct rig_broker *broker;
    struct seqb_error err;
    int64_t until_ms;
    int64_t first;

    rig->sequences[0].max_unused = 4;
    rig->sequences[0].prefetch = false;
    broker = rig_open(rig);
    assert_int_equal(take_of_run(broker, 1, 0, &first, &err), SEQB_OK);
    rig_await_rest(broker);
    while (rig_status(broker, "order").stock > 4) {
        rig_take(broker, 1);
        rig_await_rest(broker); /* what a refill asked for has come */
    }
    rig_set_down(rig, true);
    until_ms = clock_now_ms() + SHORT_MS;
    assert_int_not_equal(take_of_run(broker, 4, until_ms, &first, &err),
                         SEQB_OK);
    assert_true(clock_now_ms() >= until_ms);
}

/* Rests that callers gave back fill the ring, so that no refill is due. */
TEST_WITH(DIRECT, run_comes_when_the_ring_is_full_of_rests)
{
    struct rig_broker *broker;
    struct seqb_sequence *order;
    struct seqb_error err;
    int64_t first;

    rig->sequences[0].max_unused = 4;
    rig->sequences[0].prefetch = false;
    broker = rig_open(rig);
    order = rig_sequence(broker, "order");
    for (int64_t i = 1; i <= 3; i++)
        sequence_put(order, 4 * i + 2, 2);
    assert_true(rig_status(broker, "order").stock >= 4);
    assert_int_equal(
        take_of_run(broker, 4, clock_now_ms() + RIG_PATIENCE_MS, &first, &err),
        SEQB_OK);
}
