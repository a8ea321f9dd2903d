/* SPDX-License-Identifier: Apache-2.0 */
/* Deleting the counters of old stamps, over scripted stores. */
#include <stdlib.h>
#include <unistd.h>

#include "ha/counter/counter.h"
#include "platform/clock.h"
#include "queue/queue_state.h"
#include "unit/taker.h"

#define HOUR_MS INT64_C(3600000)

struct purging {
    struct rig *rig;
    struct taker *taker;
    struct ha_stamp keep;
};

static bool is_purged(void *context)
{
    struct purging *purging = context;

    ha_counter_purge(purging->taker->counter, &purging->keep);
    return fake_value(purging->rig->stores[0], "main/0/bill@1") == -1 &&
           fake_value(purging->rig->stores[1], "main/1/bill@2") == -1;
}

TEST_WITH(TAKER_OF_DIRECT, old_stamps_are_noted_first_and_deleted_later)
{
    struct rig *rig = taker->rig;
    struct purging purging = {
        .rig = rig, .taker = taker, .keep = {3, 3 * SECOND, 4 * SECOND}};

    for (int64_t digits = 1; digits <= 4; digits++) {
        assert_true(is_restamped(taker, digits));
        take(taker);
    }
    ha_counter_purge(taker->counter, &purging.keep);
    for (size_t i = 0; i < 2; i++)
        RIG_AWAIT(fake_calls(rig->stores[i], FAKE_PURGE) > 0);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@1"), 2);
    rig_await(is_purged, &purging);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@3"), 2);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@4"), 2);
    /* It begins no more. */
    assert_true(is_restamped(taker, 2));
    (void)ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms());
    while (ha_counter_availability(taker->counter, NULL) == SEQB_OK)
        continue;
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@2"), -1);
}

/* The purges that the second store has made; the first of them. */
static struct seqb_backend_ops purge_recording;
static _Atomic int64_t purges_made;
static _Atomic int32_t first_most;

static enum seqb_status
purge_recording_open(const struct seqb_backend_options *options,
                     struct seqb_backend **out, struct seqb_error *err)
{
    const enum seqb_status status = backend_fake.open(options, out, err);

    if (status == SEQB_OK)
        (*out)->ops = &purge_recording;
    return status;
}

static enum seqb_status purge_recorded(struct seqb_backend *backend,
                                       const struct seqb_purge *purge,
                                       int32_t *deleted, struct seqb_error *err)
{
    const enum seqb_status status =
        backend_fake.purge(backend, purge, deleted, err);

    if (status == SEQB_OK && atomic_fetch_add(&purges_made, 1) == 0)
        atomic_store(&first_most, purge->most);
    return status;
}

/* It was away for the note as well: it notes first, too. */
TEST_WITH(DIRECT, store_that_was_away_deletes_its_old_stamps_later)
{
    const struct ha_stamp keep = {2, 2 * SECOND, 3 * SECOND};
    struct taker taker;

    purge_recording = backend_fake;
    purge_recording.open = purge_recording_open;
    purge_recording.purge = purge_recorded;
    rig->backends[1].ops = &purge_recording;
    taker_begin(&taker, rig);
    assert_true(is_restamped(&taker, 1));
    take(&taker);
    fake_set_down(rig->stores[1], true);
    while (fake_value(rig->stores[0], "main/0/bill@1") != -1) {
        ha_counter_purge(taker.counter, &keep);
        usleep(1000); /* without locks that the worker needs */
    }
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@1"), 2);
    assert_int_equal(atomic_load(&purges_made), 0);
    fake_set_down(rig->stores[1], false);
    RIG_AWAIT((ha_counter_purge(taker.counter, &keep),
               fake_value(rig->stores[1], "main/1/bill@1") == -1));
    assert_int_equal(atomic_load(&first_most), 0);
    taker_end(&taker);
}

/* What is under way is not posted again. */
TEST_WITH(ONE_DIRECT, a_store_that_purges_is_not_asked_to_purge_again)
{
    struct taker taker;
    const struct ha_stamp keep = {2, 2 * SECOND, 3 * SECOND};

    taker_begin(&taker, rig);
    assert_true(is_restamped(&taker, 2));
    take(&taker);
    ha_counter_purge(taker.counter, &keep);
    take(&taker); /* the purge is over */
    fake_hang(rig->stores[0]);
    for (int i = 0; i < 3; i++) {
        ha_counter_purge(taker.counter, &keep);
        assert_true(fake_wait_for_hanging(rig->stores[0], 1, RIG_PATIENCE_MS));
    }
    fake_release(rig->stores[0]);
    take(&taker);
    assert_int_equal(fake_calls(rig->stores[0], FAKE_PURGE), 2);
    taker_end(&taker);
}

static bool are_cells_purged(void *context)
{
    struct purging *purging = context;

    ha_counter_purge(purging->taker->counter, &purging->keep);
    return fake_value(purging->rig->stores[0], "cell:main/0/bill@1") == -1 &&
           fake_value(purging->rig->stores[1], "cell:main/1/bill@2") == -1 &&
           fake_value(purging->rig->authority, "window/main/1/bill@1") == -1;
}

TEST_WITH(TAKER_OF_CELLS, old_cells_are_deleted_with_their_windows)
{
    struct rig *rig = taker->rig;
    struct purging purging = {
        .rig = rig, .taker = taker, .keep = {3, 3 * SECOND, 4 * SECOND}};

    for (int64_t digits = 1; digits <= 4; digits++) {
        assert_true(is_restamped(taker, digits));
        take(taker);
    }
    assert_int_equal(fake_value(rig->stores[0], "cell:main/0/bill@1"), 2);
    rig_await(are_cells_purged, &purging);
    assert_int_equal(fake_value(rig->stores[0], "cell:main/0/bill@3"), 2);
    assert_int_equal(fake_value(rig->stores[1], "cell:main/1/bill@4"), 2);
}

/* What it noted would hold for all brokers. */
TEST_WITH(DIRECT, a_clock_far_ahead_of_the_stores_purges_nothing)
{
    struct ha_stamp keep = {3, 3 * SECOND, 4 * SECOND};
    struct taker taker;

    fake_set_clock(rig->stores[0], -HOUR);
    taker_begin(&taker, rig);
    assert_true(is_restamped(&taker, 1));
    take(&taker);
    for (int i = 0; i < 3; i++) {
        const int64_t calls = fake_calls(rig->stores[1], FAKE_PURGE);

        keep.digits++;
        ha_counter_purge(taker.counter, &keep);
        assert_true(fake_wait_for_calls(rig->stores[1], FAKE_PURGE, calls + 1,
                                        RIG_PATIENCE_MS));
        take(&taker);
    }
    assert_int_equal(fake_calls(rig->stores[0], FAKE_PURGE), 0);
    taker_end(&taker);
}

TEST_WITH(TAKER_OF_DIRECT, stamps_of_a_closed_sequence_are_not_purged)
{
    struct rig *rig = taker->rig;
    const struct ha_stamp keep = {3, 3 * SECOND, 4 * SECOND};

    assert_true(is_restamped(taker, 1));
    take(taker);
    counter_void(taker->counter, SEQB_LAYOUT);
    for (size_t i = 0; i < 2; i++) {
        ha_counter_purge(taker->counter, &keep);
        rig_take(taker->broker,
                 100); /* the workers are asked after any purge */
        assert_int_equal(fake_calls(rig->stores[i], FAKE_PURGE), 0);
    }
}

/* As many periods as are asked for, and an hour at least. */
TEST(past_stamps_are_kept_for_their_periods)
{
    static const struct {
        enum period_unit unit;
        int64_t count;
        int64_t kept_ms;
    } rows[] = {
        {PERIOD_SECOND, 1, HOUR_MS},         {PERIOD_SECOND, 3601, 3601000},
        {PERIOD_MINUTE, 60, HOUR_MS},        {PERIOD_MINUTE, 61, 3660000},
        {PERIOD_HOUR, 2, 2 * HOUR_MS},       {PERIOD_DAY, 3, 72 * HOUR_MS},
        {PERIOD_WEEK, 1, 168 * HOUR_MS},     {PERIOD_MONTH, 1, 744 * HOUR_MS},
        {PERIOD_QUARTER, 1, 2208 * HOUR_MS}, {PERIOD_YEAR, 2, 17568 * HOUR_MS},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct period_rules rules = {.unit = rows[i].unit};
        const struct queue_sequence_options options = {
            .period = &rules, .keep_periods = rows[i].count};

        assert_int_equal(queue_attributes(&options).keep_ms, rows[i].kept_ms);
    }
}
