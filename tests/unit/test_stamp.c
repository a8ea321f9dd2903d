/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that become those of other stamps, and the forgetting of old ones;
 * over scripted stores. */
#include <stdlib.h>

#include "ha/counter/counter.h"
#include "platform/clock.h"
#include "platform/text.h"
#include "support/events.h"
#include "support/rig.h"
#include "support/test.h"

#define SECOND INT64_C(1000)
#define HOUR   (3600 * SECOND)

/* A counter of its own, whose grants are counted. */
struct taker {
    struct ha_sink sink; /* first */
    atomic_llong granted;
    atomic_llong first; /* of the last grant */
    struct ha_counter *counter;
};

static const struct ha_counter_attributes attributes = {
    .claim = "", .value_bits = 63, .keep_ms = HOUR};

static void taker_deliver(struct ha_sink *sink, const struct ha_grant *grant)
{
    struct taker *taker = (struct taker *)sink;

    atomic_store(&taker->first, grant->first);
    atomic_fetch_add(&taker->granted, grant->count);
}

static void taker_make(struct taker *taker, const struct rig_broker *broker)
{
    *taker = (struct taker){.sink = {.deliver = taker_deliver}};
    assert_ok(ha_counter_new(ha_pool_at(broker->ha, 0), "bill", 2, &taker->sink,
                             &taker->counter, NULL));
    ha_counter_set_attributes(taker->counter, &attributes);
}

static bool is_restamped(struct taker *taker, int64_t digits)
{
    const struct ha_stamp stamp = {digits, digits * SECOND,
                                   (digits + 1) * SECOND};

    return ha_counter_restamp(taker->counter, &stamp);
}

/* Until nothing is under way. */
static void await_rest(struct taker *taker)
{
    struct ha_view view = {.all = 1};

    while (view.all > 0)
        ha_counter_view(taker->counter, clock_now_ms(), &view);
}

static void take(struct taker *taker)
{
    atomic_store(&taker->granted, 0);
    assert_int_equal(
        ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms()), 4);
    RIG_AWAIT(atomic_load(&taker->granted) > 0);
    await_rest(taker);
}

/* Its sinks live as long as the workers. */
static void taker_end(struct taker *taker, struct rig_broker *broker)
{
    queue_stop(broker->queue);
    ha_close(broker->ha);
    queue_free(broker->queue);
    ha_counter_free(taker->counter);
    rig_forget(broker);
}

TEST_WITH(DIRECT, each_stamp_has_a_counter_of_its_own)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    for (int64_t digits = 1; digits <= 5; digits++) {
        assert_true(is_restamped(&taker, digits));
        take(&taker);
    }
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@1"), 2);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@5"), 2);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@3"), 2);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill"), -1);
    taker_end(&taker, broker);
}

TEST_WITH(DIRECT, a_counter_that_is_asked_keeps_its_stamp)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;
    bool was_restamped;

    taker_make(&taker, broker);
    assert_true(is_restamped(&taker, 1));
    take(&taker);
    fake_hang(rig->stores[0]);
    assert_true(ha_counter_ask(taker.counter, 4, HA_ASK_ALL, clock_now_ms()) >
                0);
    was_restamped = is_restamped(&taker, 2);
    fake_release(rig->stores[0]);
    await_rest(&taker);
    while (!is_restamped(&taker, 2))
        continue;
    take(&taker);
    taker_end(&taker, broker);
    /* Only now: a worker may deliver to the taker until then. */
    assert_false(was_restamped);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@2"), 2);
}

static bool restamp_for_an_hour(struct taker *taker, int64_t digits)
{
    const struct ha_stamp stamp = {digits, digits * HOUR, (digits + 1) * HOUR};

    return ha_counter_restamp(taker->counter, &stamp);
}

/* Asks until the spare window is in use: then the next one is leased, while no
 * partition has anything to answer. */
static void use_up_a_window(struct taker *taker)
{
    for (int64_t used = 0; used <= 2 << 8; used += 64) {
        (void)ha_counter_ask(taker->counter, 64, HA_ASK_ALL, clock_now_ms());
        await_rest(taker);
    }
}

/* Each lessor's counter of the new stamp begins below that of the old one,
 * which is no step back. */
TEST_WITH(NEIGHBOURS, lessors_count_each_stamp_for_itself)
{
    struct rig_broker *broker;
    struct taker taker;

    rig_set_timeout(rig, RIG_FOREVER_MS);
    broker = rig_open(rig);
    taker_make(&taker, broker);
    for (int64_t digits = 1; digits <= 5; digits++) {
        char name[64];

        RIG_AWAIT(is_restamped(&taker, digits)); /* a spare may be leased */
        for (int64_t i = digits; i <= 5; i++)
            use_up_a_window(&taker);
        (void)text_format(name, sizeof name, "window/main/0/bill@%d",
                          (int)digits);
        assert_true(fake_value(rig->stores[0], name) > 0 ||
                    fake_value(rig->stores[1], name) > 0);
    }
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(rig_partition(broker, i).state, SEQB_PARTITION_UP);
        assert_int_equal(rig_partition(broker, i).errors, 0);
    }
    taker_end(&taker, broker);
}

/* Else that window, of the old stamp, would be one of the new stamp. */
TEST_WITH(WINDOWED, a_counter_that_leases_a_window_keeps_its_stamp)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;
    bool was_restamped;

    taker_make(&taker, broker);
    assert_true(restamp_for_an_hour(&taker, 1));
    take(&taker);
    /* The spare windows have come. */
    RIG_AWAIT(fake_value(rig->authority, "window/main/0/bill@1") == 2 &&
              fake_value(rig->authority, "window/main/1/bill@1") == 2);
    fake_hang(rig->authority);
    use_up_a_window(&taker);
    assert_true(fake_wait_for_hanging(rig->authority, 1, RIG_PATIENCE_MS));
    was_restamped = restamp_for_an_hour(&taker, 2);
    fake_release(rig->authority);
    while (!restamp_for_an_hour(&taker, 2))
        continue;
    take(&taker);
    taker_end(&taker, broker);
    /* Only now: a worker may deliver to the taker until then. */
    assert_false(was_restamped);
    assert_int_equal(fake_window(rig->stores[0], "main/0/bill@2"), 1);
}

/* What it had learned is of the old stamp. */
TEST_WITH(DIRECT, a_new_stamp_is_not_exhausted)
{
    static const struct ha_counter_attributes few = {
        .claim = "", .value_bits = 5, .keep_ms = HOUR};
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    ha_counter_set_attributes(taker.counter, &few);
    for (int64_t digits = 1; digits <= 3; digits++) {
        assert_true(is_restamped(&taker, digits));
        while (ha_counter_availability(taker.counter, NULL) == SEQB_OK) {
            (void)ha_counter_ask(taker.counter, 8, HA_ASK_ALL, clock_now_ms());
            await_rest(&taker);
        }
        assert_int_equal(ha_counter_availability(taker.counter, NULL),
                         SEQB_EXHAUSTED);
        /* 5 bits less 1 of the partition and 2 of memory. */
        assert_int_equal(fake_value(rig->stores[0], "main/0/bill@1"), 3);
    }
    taker_end(&taker, broker);
}

/* For a stamp whose time does not end. */
static bool is_restamped_for_long(struct taker *taker, int64_t digits)
{
    const struct ha_stamp stamp = {digits, digits * SECOND, INT64_MAX};

    return ha_counter_restamp(taker->counter, &stamp);
}

/* Moves it far, in its stamp, and takes from there. */
static void advance_far(struct taker *taker)
{
    assert_ok(ha_counter_advance(taker->counter, 1 << 20, NULL));
    take(taker);
    assert_true(atomic_load(&taker->first) > 1 << 20);
}

TEST_WITH(DIRECT, a_new_stamp_begins_at_1_though_the_old_one_was_advanced)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    assert_true(is_restamped_for_long(&taker, 1));
    advance_far(&taker);
    assert_true(is_restamped_for_long(&taker, 2));
    take(&taker);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@2"), 2);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@2"), 2);
    taker_end(&taker, broker);
}

TEST_WITH(WINDOWED, windows_of_a_new_stamp_begin_at_1_though_it_was_advanced)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    assert_true(is_restamped_for_long(&taker, 1));
    advance_far(&taker);
    RIG_AWAIT(is_restamped_for_long(&taker, 2)); /* a spare may be leased */
    take(&taker);
    assert_int_equal(fake_window(rig->stores[0], "main/0/bill@2"), 1);
    assert_int_equal(fake_window(rig->stores[1], "main/1/bill@2"), 1);
    taker_end(&taker, broker);
}

/* --- what a stamp is refused --- */

static void restamp_for_long(struct taker *taker, int64_t digits)
{
    await_rest(taker);
    assert_true(is_restamped_for_long(taker, digits));
}

static void ask_in_vain(struct taker *taker)
{
    (void)ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms());
    await_rest(taker);
}

TEST_WITH(DIRECT, a_new_stamp_is_refused_nothing_that_was_used_up)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    restamp_for_long(&taker, 1);
    fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/bill@1", SEQB_EXHAUSTED);
    ask_in_vain(&taker);
    assert_int_equal(rig_partition(broker, 1).refused, 1);
    restamp_for_long(&taker, 2);
    assert_int_equal(rig_partition(broker, 1).refused, 0);
    take(&taker);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@2"), 2);
    taker_end(&taker, broker);
}

TEST_WITH(DIRECT, what_every_stamp_is_refused_is_told_once)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    events_start();
    for (int64_t digits = 1; digits <= 5; digits++) {
        char counter[SEQB_COUNTER_SIZE];

        (void)text_format(counter, sizeof counter, "main/1/bill@%d",
                          (int)digits);
        fake_refuse(rig->stores[1], FAKE_RESERVE, counter, SEQB_INVALID);
        restamp_for_long(&taker, digits);
        ask_in_vain(&taker);
        assert_int_equal(rig_partition(broker, 1).refused, 1);
    }
    events_expect("event=counter_refused", "key=bill", 1);
    restamp_for_long(&taker, 6);
    take(&taker);
    assert_int_equal(rig_partition(broker, 1).refused, 0);
    events_expect("event=counter_recovered", "key=bill", 1);
    taker_end(&taker, broker);
}

TEST_WITH(DIRECT, a_stamp_that_is_over_is_no_trouble)
{
    static const enum seqb_status statuses[] = {SEQB_EXHAUSTED, SEQB_REFUSED};
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    for (size_t i = 0; i < 2; i++) {
        fake_refuse(rig->stores[1], FAKE_RESERVE, "main/1/bill@1", statuses[i]);
        assert_true(is_restamped(&taker, 1));
        ask_in_vain(&taker);
        RIG_AWAIT(rig_partition(broker, 1).refused == 0);
        assert_int_equal(ha_health(broker->ha, NULL, 0), SEQB_HEALTH_SERVING);
    }
    taker_end(&taker, broker);
}

/* Whether a stamp that ended so many minutes ago is raised, as its store became
 * another one. */
static bool is_raised(struct rig *rig, struct taker *taker, int64_t minutes)
{
    const int64_t now_ms = clock_wall_ms();
    const struct ha_stamp stamp = {minutes, now_ms - 4 * HOUR,
                                   now_ms - minutes * 60 * SECOND};
    char name[32];

    (void)text_format(name, sizeof name, "main/0/bill@%d", (int)minutes);
    assert_true(ha_counter_restamp(taker->counter, &stamp));
    take(taker);
    fake_change_origin(rig->stores[0]);
    (void)ha_counter_ask(taker->counter, 4, HA_ASK_ALL, clock_now_ms());
    await_rest(taker);
    return fake_first_raise(rig->stores[0], name).limit != 0;
}

/* Others may have purged it after keep_ms, by clocks that differ by half of
 * that: a raise would make it again. */
TEST_WITH(DIRECT, a_stamp_that_may_be_purged_is_not_raised)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    events_start();
    assert_true(is_raised(rig, &taker, 25));
    assert_false(is_raised(rig, &taker, 35));
    events_expect("event=exhausted", "bill@35: the period is over", 1);
    assert_int_equal(rig_partition(broker, 0).state, SEQB_PARTITION_UP);
    taker_end(&taker, broker);
}

TEST_WITH(DIRECT, stamps_of_a_closed_sequence_are_not_purged)
{
    const struct ha_stamp keep = {3, 3 * SECOND, 4 * SECOND};
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;

    taker_make(&taker, broker);
    assert_true(is_restamped(&taker, 1));
    take(&taker);
    counter_void(taker.counter, SEQB_LAYOUT);
    for (size_t i = 0; i < 2; i++) {
        ha_counter_purge(taker.counter, &keep);
        rig_take(broker, 100); /* the workers are asked after any purge */
        assert_int_equal(fake_calls(rig->stores[i], FAKE_PURGE), 0);
    }
    taker_end(&taker, broker);
}

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

TEST_WITH(DIRECT, old_stamps_are_noted_first_and_deleted_later)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;
    struct purging purging = {
        .rig = rig, .taker = &taker, .keep = {3, 3 * SECOND, 4 * SECOND}};

    taker_make(&taker, broker);
    for (int64_t digits = 1; digits <= 4; digits++) {
        assert_true(is_restamped(&taker, digits));
        take(&taker);
    }
    ha_counter_purge(taker.counter, &purging.keep);
    for (size_t i = 0; i < 2; i++)
        RIG_AWAIT(fake_calls(rig->stores[i], FAKE_PURGE) > 0);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@1"), 2);
    rig_await(is_purged, &purging);
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@3"), 2);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@4"), 2);
    /* It begins no more. */
    assert_true(is_restamped(&taker, 2));
    (void)ha_counter_ask(taker.counter, 4, HA_ASK_ALL, clock_now_ms());
    while (ha_counter_availability(taker.counter, NULL) == SEQB_OK)
        continue;
    assert_int_equal(fake_value(rig->stores[0], "main/0/bill@2"), -1);
    taker_end(&taker, broker);
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
    struct rig_broker *broker;
    struct taker taker;

    purge_recording = backend_fake;
    purge_recording.open = purge_recording_open;
    purge_recording.purge = purge_recorded;
    rig->backends[1].ops = &purge_recording;
    broker = rig_open(rig);
    taker_make(&taker, broker);
    assert_true(is_restamped(&taker, 1));
    take(&taker);
    fake_set_down(rig->stores[1], true);
    while (fake_value(rig->stores[0], "main/0/bill@1") != -1)
        ha_counter_purge(taker.counter, &keep);
    assert_int_equal(fake_value(rig->stores[1], "main/1/bill@1"), 2);
    assert_int_equal(atomic_load(&purges_made), 0);
    fake_set_down(rig->stores[1], false);
    RIG_AWAIT((ha_counter_purge(taker.counter, &keep),
               fake_value(rig->stores[1], "main/1/bill@1") == -1));
    assert_int_equal(atomic_load(&first_most), 0);
    taker_end(&taker, broker);
}

static bool are_cells_purged(void *context)
{
    struct purging *purging = context;

    ha_counter_purge(purging->taker->counter, &purging->keep);
    return fake_value(purging->rig->stores[0], "cell:main/0/bill@1") == -1 &&
           fake_value(purging->rig->stores[1], "cell:main/1/bill@2") == -1 &&
           fake_value(purging->rig->authority, "window/main/1/bill@1") == -1;
}

TEST_WITH(CELLS, old_cells_are_deleted_with_their_windows)
{
    struct rig_broker *broker = rig_open(rig);
    struct taker taker;
    struct purging purging = {
        .rig = rig, .taker = &taker, .keep = {3, 3 * SECOND, 4 * SECOND}};

    taker_make(&taker, broker);
    for (int64_t digits = 1; digits <= 4; digits++) {
        assert_true(is_restamped(&taker, digits));
        take(&taker);
    }
    assert_int_equal(fake_value(rig->stores[0], "cell:main/0/bill@1"), 2);
    rig_await(are_cells_purged, &purging);
    assert_int_equal(fake_value(rig->stores[0], "cell:main/0/bill@3"), 2);
    assert_int_equal(fake_value(rig->stores[1], "cell:main/1/bill@4"), 2);
    taker_end(&taker, broker);
}

/* What it noted would hold for all brokers. */
TEST_WITH(DIRECT, a_clock_far_ahead_of_the_stores_purges_nothing)
{
    struct ha_stamp keep = {3, 3 * SECOND, 4 * SECOND};
    struct rig_broker *broker;
    struct taker taker;

    fake_set_clock(rig->stores[0], -HOUR);
    broker = rig_open(rig);
    taker_make(&taker, broker);
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
    taker_end(&taker, broker);
}
