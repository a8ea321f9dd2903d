/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other options for a queue that serves, over scripted stores: which are
 * refused since numbers would mean something else, and what is put in place.
 * What a topology makes of it is tested in tests/live/test_reload.c.
 */
#include <string.h>

#include "ha/counter/counter.h"
#include "ha/startup.h"
#include "period_fixture.h"
#include "platform/text.h"
#include "queue/queue_state.h"
#include "support/test.h"
#include "unit/refilling.h"
#include "unit/rig_shapes.h"

static enum seqb_status prepare(struct rig_broker *broker,
                                const struct queue_options *options,
                                struct queue_reload **out)
{
    struct seqb_error err = {.text = ""};
    const enum seqb_status status =
        queue_prepare(broker->queue, options, NULL, out, &err);

    if (status == SEQB_LAYOUT)
        rig_expect_words(err.text, "sequence order is served with other "
                                   "settings of its layout");
    return status;
}

static const struct period_rules periods[] = {
    {.unit = PERIOD_DAY},
    {.unit = PERIOD_HOUR},
    {.unit = PERIOD_DAY, .year_month = 2},
    {.unit = PERIOD_DAY, .year_day = 2},
};
static const struct bits_layout layout_of_ids = {.shard = 12, .counter = 19};
static const struct lease_options *const a_snowflake =
    (const struct lease_options *)&layout_of_ids; /* only compared with NULL */

/* Runs with the day; the next one is to have these. */
static const struct next {
    bool is_same;
    const struct period_rules *period;
    const struct bits_layout *ids;
    const struct lease_options *snowflake;
    int32_t pool;
    int32_t memory_bits;
    int32_t window_bits;
    const char *attributes;
} nexts[] = {
    {true, &periods[0], NULL, NULL, 0, 2, 0, " period=day"},
    {false, &periods[1], NULL, NULL, 0, 2, 0, " period=day"},
    {false, &periods[2], NULL, NULL, 0, 2, 0, " period=day"},
    {false, &periods[3], NULL, NULL, 0, 2, 0, " period=day"},
    {false, NULL, NULL, NULL, 0, 2, 0, " period=day"},
    {false, &periods[0], &layout_of_ids, NULL, 0, 2, 0, " period=day"},
    {false, &periods[0], NULL, a_snowflake, 0, 2, 0, " period=day"},
    {false, &periods[0], NULL, NULL, 1, 2, 0, " period=day"},
    {false, &periods[0], NULL, NULL, 0, 3, 0, " period=day"},
    {false, &periods[0], NULL, NULL, 0, 2, 4, " period=day"},
    {false, &periods[0], NULL, NULL, 0, 2, 0, " period=hour"},
    {false, &periods[0], NULL, NULL, 0, 2, 0, NULL},
};

static struct queue_sequence_options
options_of(const struct queue_sequence_options *from, const struct next *next)
{
    struct queue_sequence_options options = *from;

    options.period = next->period;
    options.ids = next->ids;
    options.snowflake = next->snowflake;
    options.pool = next->pool;
    options.memory_bits = next->memory_bits;
    options.window_bits = next->window_bits;
    options.attributes = next->attributes;
    return options;
}

/* Listed, or by the pattern of those that make themselves. */
TEST_WITH(PERIOD, layout_cannot_change_while_it_is_served)
{
    struct rig *rig = fixture->rig;
    struct rig_broker *broker;

    rig->sequences[0] = options_of(&rig->sequences[0], &nexts[0]);
    broker = rig_open(rig);
    for (size_t i = 0; i < 2 * sizeof nexts / sizeof nexts[0]; i++) {
        const struct next *next = &nexts[i / 2];
        const struct queue_sequence_options sequence =
            options_of(&rig->sequences[0], next);
        struct queue_options options = rig->queue;
        struct queue_reload *reload = NULL;

        options.sequences = &sequence;
        if (i % 2 == 1) {
            options.sequence_count = 0;
            options.automatic = &sequence;
            options.auto_pattern = "ord*";
        }
        assert_int_equal(prepare(broker, &options, &reload),
                         next->is_same ? SEQB_OK : SEQB_LAYOUT);
        queue_reload_free(reload);
    }
}

static void commit(struct rig_broker *broker,
                   const struct queue_options *options, bool is_kept)
{
    struct queue_reload *reload;

    assert_ok(prepare(broker, options, &reload));
    assert_ok(queue_commit(reload, NULL));
    assert_int_equal(queue_keeps_options(reload), is_kept);
    queue_reload_free(reload);
}

/* One at a time: what is unchanged is not written. */
TEST_WITH(DIRECT, each_setting_is_put_in_place)
{
    struct queue_sequence_options next = rig->sequences[0];
    struct queue_options options = rig->queue;
    struct rig_broker *broker = rig_open(rig);
    const struct sequence_settings *settings =
        rig_sequence(broker, "order")->settings;

    options.sequences = &next;
    options.interval_ms = 7;
    for (int i = 0; i < 7; i++) {
        next.deadline_ms += i == 0;
        next.runway_ms += i == 1;
        next.max_unused += i == 2;
        next.idle_after_ms += i == 3;
        next.prefetch = i >= 4;
        next.warm = i >= 5;
        next.full_waits = i >= 6;
        commit(broker, &options, false);
        assert_int_equal(queue_deadline_ms(rig_sequence(broker, "order")),
                         next.deadline_ms);
        assert_int_equal(settings->runway_ms, next.runway_ms);
        assert_int_equal(settings->max_unused, next.max_unused);
        assert_int_equal(settings->idle_after_ms, next.idle_after_ms);
        assert_int_equal(settings->prefetch, next.prefetch);
        assert_int_equal(settings->warm, next.warm);
        assert_int_equal(settings->full_waits, next.full_waits);
    }
    assert_int_equal(rig_sequence(broker, "order")->context->interval_ms, 7);
    RIG_AWAIT(rig_status(broker, "order").stock > 0); /* warm, at once */
}

/* Of many, each in its turn; some are served, others new, and a warm one is
 * filled. Whoever is not listed any more refuses calls, and comes back. */
TEST_WITH(DIRECT, sequences_come_and_go)
{
    enum { COUNT = 400 };
    static struct queue_sequence_options sequences[COUNT];
    static char keys[COUNT][16];
    struct queue_options options = rig->queue;
    struct rig_broker *broker = rig_open(rig);
    struct seqb_sequence_counts counts[3];
    struct seqb_sequence_status status;
    struct seqb_sequence *removed;
    int64_t number;

    for (size_t i = 0; i < COUNT; i++) {
        sequences[i] = rig->sequences[0];
        (void)text_format(keys[i], sizeof keys[i], "key-%zu", i);
        sequences[i].key = keys[i];
    }
    sequences[0].warm = sequences[0].prefetch = true;
    options.sequences = sequences;
    for (int round = 0; round < 2; round++) {
        options.sequence_count = round == 0 ? COUNT / 2 + 1 : COUNT;
        commit(broker, &options, false);
        RIG_AWAIT(rig_status(broker, keys[0]).stock > 0);
        for (size_t i = 0; i < options.sequence_count; i += 37)
            assert_ok(queue_next(rig_sequence(broker, keys[i]), &number, NULL));
    }
    removed = rig_sequence(broker, keys[1]);
    options.sequence_count = 1;
    commit(broker, &options, false);
    assert_ok(queue_next(rig_sequence(broker, keys[0]), &number, NULL));
    assert_int_equal(queue_next(removed, &number, NULL), SEQB_UNKNOWN_KEY);
    assert_true(removed->counter->is_unlisted); /* for its pool, too */
    assert_int_equal(queue_find(broker->queue, "order", &removed, NULL),
                     SEQB_UNKNOWN_KEY);
    assert_int_equal(queue_counts(broker->queue, 0, counts, 3), 3);
    for (size_t i = 0; i < 3; i++) {
        const bool is_listed = i == 1; /* behind "order", which came first */

        assert_int_equal(counts[i].is_removed, !is_listed);
        assert_int_equal(queue_status_at(broker->queue, i, &status),
                         is_listed ? SEQB_OK : SEQB_UNKNOWN_KEY);
    }
    assert_string_equal(status.key, keys[0]);
    commit(broker, &rig->queue, false);
    assert_ok(rig_take_one(broker, &number, NULL));
    removed = rig_sequence(broker, "order");
    for (size_t count = 0; count < 2; count++) {
        options = rig->queue;
        options.sequence_count = count;
        commit(broker, &options, false);
        assert_int_equal(removed->counter->is_unlisted, count == 0);
    }
}

/* With a spool what it holds is kept there, and taken when it is listed. */
TEST_WITH(PERIOD, numbers_of_a_sequence_that_goes_are_kept)
{
    struct rig *rig = fixture->rig;
    struct queue_options options;
    struct rig_broker *broker;
    int64_t stock;
    int64_t granted;

    rig->sequences[0].period = NULL;
    rig->queue.clock = NULL;
    rig->queue.spool_path = rig_file(rig, "spool");
    broker = rig_open(rig);
    rig_take(broker, 1);
    rig_await_rest(broker);
    stock = rig_status(broker, "order").stock;
    assert_true(stock > 0);
    options = rig->queue;
    options.sequence_count = 0;
    commit(broker, &options, false);
    rig_close(broker);
    broker = rig_open(rig);
    granted =
        rig_partition(broker, 0).granted + rig_partition(broker, 1).granted;
    rig_take(broker, (size_t)stock);
    assert_int_equal(rig_partition(broker, 0).granted +
                         rig_partition(broker, 1).granted,
                     granted);
    rig_close(broker);
}

/* Its counters point to them. */
TEST_WITH(DIRECT, options_that_say_what_is_claimed_are_kept)
{
    static const char template; /* only its address is used */
    struct queue_sequence_options next[3] = {
        rig->sequences[0], rig->sequences[1], rig->sequences[1]};
    struct queue_options options = rig->queue;
    struct queue_options more;
    struct rig_broker *broker = rig_open(rig);

    options.sequences = next;
    options.sequence_count = 2;
    next[1].attributes = " shuffle=10/0123456789abcdef";
    commit(broker, &options, true);
    commit(broker, &options, false);
    options.sequence_count = 3;
    next[2].key = "text";
    next[2].template = (const void *)&template;
    commit(broker, &options, true);
    more = options;
    more.automatic = &next[1];
    more.auto_pattern = "x*";
    commit(broker, &more, true);
    commit(broker, &more, false);
}

/* The refill thread has seen that it was woken. */
static bool is_seen(void *context)
{
    struct seqb_sequence *sequence = context;
    struct agenda *agenda = &sequence->context->agenda;
    bool is_woken;

    pthread_mutex_lock(&agenda->lock);
    is_woken = sequence->is_woken;
    pthread_mutex_unlock(&agenda->lock);
    return !is_woken;
}

/* Those that it would have added are in the agenda once a store has refused
 * them, before others that are to be polled. The refill thread meanwhile polls
 * another one. */
TEST_WITH(DIRECT, refused_reload_takes_nobody_from_the_agenda)
{
    struct queue_sequence_options next[4] = {
        rig->sequences[0], rig->sequences[0], rig->sequences[1],
        rig->sequences[0]};
    struct queue_options options = rig->queue;
    struct queue_reload *reload = NULL;
    struct rig_broker *broker;
    struct seqb_sequence *other;

    next[1].key = "other";
    next[3].key = "more";
    rig->sequences[1].memory_bits++;
    rig->queue.sequence_count = 2;
    rig_close(rig_open(rig));
    options.sequences = next;
    options.sequence_count = 2;
    rig->queue = options;
    broker = rig_open(rig);
    other = rig_sequence(broker, "other");
    refilling_hold_at(rig_sequence(broker, "order"));
    sequence_wake(other);
    options.sequence_count = 4;
    assert_status(queue_prepare(broker->queue, &options, NULL, &reload, NULL),
                  SEQB_LAYOUT);
    queue_reload_free(reload);
    refilling_release();
    rig_await(is_seen, other);
}

/* The refill thread, and workers that hang, may still use the sequences that it
 * would have added. */
TEST_WITH(DIRECT, options_of_a_refused_reload_are_kept)
{
    struct queue_sequence_options next[2] = {rig->sequences[0],
                                             rig->sequences[1]};
    struct queue_options options = rig->queue;
    struct queue_reload *reload = NULL;
    struct rig_broker *broker;

    rig->queue.sequence_count = 2;
    rig_close(rig_open(rig));
    rig->queue.sequence_count = 0;
    broker = rig_open(rig);
    options.sequences = next;
    options.sequence_count = 2;
    next[0].memory_bits++;
    for (int is_kept = 0; is_kept <= 1; is_kept++) {
        next[1].attributes = is_kept ? " period=day" : NULL;
        assert_status(
            queue_prepare(broker->queue, &options, NULL, &reload, NULL),
            SEQB_LAYOUT);
        assert_int_equal(queue_keeps_options(reload), is_kept);
        queue_reload_free(reload);
        assert_true(broker->queue->abandoned->counter->is_unlisted);
    }
}

static void count_refusal(void *context, const struct seqb_error *why)
{
    size_t *count = context;

    assert_int_equal(why->status, SEQB_LAYOUT);
    (*count)++;
}

/* A store knows two of the three with other settings, or the only one. */
TEST_WITH(DIRECT, each_sequence_that_a_store_refuses_is_named)
{
    struct queue_sequence_options next[3] = {
        rig->sequences[0], rig->sequences[0], rig->sequences[0]};
    struct queue_options options = rig->queue;
    size_t count = 0;
    const struct queue_refusals refusals = {count_refusal, &count};
    struct queue_reload *reload = NULL;
    struct rig_broker *broker;

    rig->queue.sequence_count = 2;
    rig_close(rig_open(rig));
    rig->queue.sequence_count = 0;
    broker = rig_open(rig);
    options.sequences = next;
    options.sequence_count = 3;
    next[0].memory_bits++;
    next[1].key = "new";
    next[2].key = rig->sequences[1].key;
    next[2].memory_bits = next[0].memory_bits;
    assert_status(
        queue_prepare(broker->queue, &options, &refusals, &reload, NULL),
        SEQB_LAYOUT);
    queue_reload_free(reload);
    assert_int_equal(count, 2);
    options.sequence_count = 1;
    assert_status(
        queue_prepare(broker->queue, &options, &refusals, &reload, NULL),
        SEQB_LAYOUT);
    queue_reload_free(reload);
    assert_int_equal(count, 3);
}

TEST_WITH(DIRECT, each_sequence_that_is_served_otherwise_is_named)
{
    struct queue_sequence_options next[2] = {rig->sequences[0],
                                             rig->sequences[1]};
    struct queue_options options = rig->queue;
    size_t count = 0;
    const struct queue_refusals refusals = {count_refusal, &count};
    struct rig_broker *broker;

    rig->queue.sequence_count = 2;
    broker = rig_open(rig);
    options.sequences = next;
    options.sequence_count = 2;
    next[0].memory_bits++;
    next[1].memory_bits++;
    assert_status(queue_check(broker->queue, &options, &refusals, NULL),
                  SEQB_LAYOUT);
    assert_int_equal(count, 2);
}

static int64_t count_of_automatic(const struct rig_broker *broker)
{
    return broker->queue->automatic;
}

/* One that is listed is counted no more among those that made themselves. */
TEST_WITH(DIRECT, listed_sequences_are_not_counted)
{
    struct queue_options options = rig->queue;
    struct rig_broker *broker;

    rig_automatic(rig, "bi*", 10);
    broker = rig_open(rig);
    (void)rig_sequence(broker, "bill");
    (void)rig_sequence(broker, "bid");
    assert_int_equal(count_of_automatic(broker), 2);
    assert_int_equal(broker->queue->context.without_number, 2);
    options = rig->queue;
    options.sequence_count = 2;
    commit(broker, &options, false);
    assert_int_equal(count_of_automatic(broker), 1);
    assert_int_equal(broker->queue->context.without_number, 1);
    assert_ok(queue_next(rig_sequence(broker, "bid"), &(int64_t){0}, NULL));
}
