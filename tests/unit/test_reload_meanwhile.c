/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences that make themselves while a reload looks at the others, or is
 * prepared but not in place. A key has one sequence, whoever comes first.
 */
#include "platform/error.h"
#include "platform/text.h"
#include "queue/queue_state.h"
#include "queue/reload/reload_state.h"
#include "support/failure.h"
#include "support/rig.h"
#include "support/test.h"
#include "support/wrap.h"
#include "unit/rig_shapes.h"

static struct rig_broker *open_automatic(struct rig *rig)
{
    rig_automatic(rig, "tmp-*", 10);
    return rig_open(rig);
}

/* "tmp-a" is to be listed, with "order". */
static struct queue_options
options_with(const struct rig *rig, struct queue_sequence_options sequences[2])
{
    struct queue_options options = rig->queue;

    sequences[0] = rig->sequences[0];
    sequences[1] = rig->automatic;
    sequences[1].key = "tmp-a";
    options.sequences = sequences;
    options.sequence_count = 2;
    return options;
}

static void expect_number(struct rig_broker *broker, const char *key)
{
    assert_ok(queue_next(rig_sequence(broker, key), &(int64_t){0}, NULL));
}

static enum seqb_status commit(struct queue_reload *reload,
                               struct seqb_error *err)
{
    const enum seqb_status status = queue_commit(reload, err);

    queue_reload_free(reload);
    return status;
}

TEST_WITH(DIRECT, key_that_makes_itself_is_not_added_as_well)
{
    struct rig_broker *broker = open_automatic(rig);
    struct queue_sequence_options sequences[2];
    struct queue_options options = options_with(rig, sequences);
    struct queue_reload *reload;

    options.interval_ms++;
    assert_ok(queue_prepare(broker->queue, &options, NULL, &reload, NULL));
    expect_number(broker, "tmp-a");
    assert_fails(commit(reload, &failure), SEQB_AGAIN,
                 "tmp-a made itself meanwhile");
    assert_int_equal(broker->queue->catalog.count, 2);
    assert_ptr_equal(broker->queue->options, &rig->queue);
    assert_int_equal(broker->queue->context.interval_ms,
                     rig->queue.interval_ms);
    assert_ok(queue_prepare(broker->queue, &options, NULL, &reload, NULL));
    assert_ok(commit(reload, NULL));
    assert_int_equal(broker->queue->catalog.count, 2);
    assert_int_equal(broker->queue->automatic, 0);
    rig_close(broker); /* before the options go */
}

/* If the pattern still matches it goes on, and else it is taken out. */
TEST_WITH(DIRECT, another_key_that_makes_itself_is_no_obstacle)
{
    static const char *const patterns[] = {"tmp-*", "tmp-a*"};

    for (size_t i = 0; i < COUNT_OF(patterns); i++) {
        struct rig_broker *broker = open_automatic(rig);
        struct queue_sequence_options sequences[2];
        struct queue_options options = options_with(rig, sequences);
        struct queue_reload *reload;
        struct seqb_sequence *made;

        options.auto_pattern = patterns[i];
        assert_ok(queue_prepare(broker->queue, &options, NULL, &reload, NULL));
        expect_number(broker, "tmp-b");
        made = rig_sequence(broker, "tmp-b");
        assert_ok(commit(reload, NULL));
        assert_int_equal(broker->queue->catalog.count, 3);
        assert_int_equal(sequence_is_removed(made), i == 1);
        expect_number(broker, "tmp-a");
        rig_close(broker);
    }
}

/* Only their addresses are used. */
static const char templates[3];

static enum seqb_status follows(const struct template *runs,
                                const struct template *next, bool *is_same,
                                struct seqb_error *err)
{
    *is_same = runs == next;
    return next == (const void *)&templates[2]
               ? error_set(err, SEQB_LAYOUT, "scripted")
               : SEQB_OK;
}

/* It was made with a template that ends too early, and gets the next one. */
TEST_WITH(DIRECT, key_that_makes_itself_gets_the_next_template)
{
    struct rig_broker *broker;
    struct queue_sequence_options sequences[2];
    struct queue_sequence_options automatic;
    struct queue_options options;
    struct queue_reload *reload;
    struct seqb_sequence *made;

    rig->automatic.template = (const void *)&templates[0];
    rig->automatic.text_max = 9;
    broker = open_automatic(rig);
    options = options_with(rig, sequences);
    options.sequence_count = 1;
    options.compare_templates = follows;
    automatic = rig->automatic;
    automatic.template = (const void *)&templates[1];
    automatic.text_max = 99;
    options.automatic = &automatic;
    assert_ok(queue_prepare(broker->queue, &options, NULL, &reload, NULL));
    made = rig_sequence(broker, "tmp-b");
    queue_refused_text(made, 10, &(struct seqb_stamp){.ends_ms = INT64_MAX});
    RIG_AWAIT(queue_health(broker->queue, NULL, 0) == SEQB_HEALTH_DEGRADED);
    assert_ok(commit(reload, NULL));
    assert_ptr_equal(sequence_texts(made), &automatic);
    RIG_AWAIT(queue_health(broker->queue, NULL, 0) == SEQB_HEALTH_SERVING);
    rig_close(broker); /* before the options go */
}

/* A call looks up this key while the first sequences are made. */
static struct rig_broker *meanwhile;

WRAPPED(enum seqb_status, ha_counter_new, struct ha_pool *pool, const char *key,
        int32_t memory_bits, struct ha_sink *sink, struct ha_counter **out,
        struct seqb_error *err)
{
    struct rig_broker *broker = meanwhile;

    meanwhile = NULL;
    if (broker != NULL)
        expect_number(broker, "tmp-a");
    return __real_ha_counter_new(pool, key, memory_bits, sink, out, err);
}

/* The reload looks at so many with the catalog locked. */
TEST_WITH(DIRECT, key_that_makes_itself_before_it_is_looked_at_is_not_added)
{
    static struct queue_sequence_options sequences[RELOAD_PART + 1];
    static char keys[RELOAD_PART][16];
    struct rig_broker *broker = open_automatic(rig);
    struct queue_sequence_options two[2];
    struct queue_options options = options_with(rig, two);
    struct queue_reload *reload = NULL;

    for (size_t i = 0; i < RELOAD_PART; i++) {
        sequences[i] = rig->sequences[0];
        (void)text_format(keys[i], sizeof keys[i], "key-%zu", i);
        sequences[i].key = keys[i];
    }
    sequences[RELOAD_PART] = two[1];
    options.sequences = sequences;
    options.sequence_count = COUNT_OF(sequences);
    meanwhile = broker;
    assert_fails(
        queue_prepare(broker->queue, &options, NULL, &reload, &failure),
        SEQB_AGAIN, "tmp-a made itself meanwhile");
    queue_reload_free(reload);
    assert_int_equal(broker->queue->catalog.count, 2);
}

/* It makes nothing, and refuses what a reload refuses. */
TEST_WITH(DIRECT, check_changes_nothing)
{
    struct rig_broker *broker;
    struct queue_sequence_options sequences[2];
    struct queue_options options;

    rig->automatic.template = (const void *)&templates[0];
    broker = open_automatic(rig);
    options = options_with(rig, sequences);
    options.compare_templates = follows;
    assert_ok(queue_check(broker->queue, &options, NULL, NULL));
    sequences[1].template = (const void *)&templates[2];
    assert_fails(queue_check(broker->queue, &options, NULL, &failure),
                 SEQB_LAYOUT, "sequence tmp-a cannot get another template");
    sequences[1].template = NULL;
    sequences[0].template = (const void *)&templates[1];
    assert_fails(queue_check(broker->queue, &options, NULL, &failure),
                 SEQB_LAYOUT, "order cannot get another template");
    sequences[0].memory_bits++;
    assert_fails(queue_check(broker->queue, &options, NULL, &failure),
                 SEQB_LAYOUT, "sequence order is served with other settings");
    assert_int_equal(broker->queue->catalog.count, 1);
    assert_ptr_equal(broker->queue->options, &rig->queue);
    expect_number(broker, "order");
}
