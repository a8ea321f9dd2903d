/* SPDX-License-Identifier: Apache-2.0 */
/* What no sequence of given options can give, whatever it holds. */
#include "queue/sequence_take.h"

#include <string.h>

#include "lease/lease.h"
#include "support/test.h"

static const struct period_rules day = {.unit = PERIOD_DAY};
static const struct bits_layout layout = {.shard = 12, .counter = 4};
static const struct lease_options lease = {.layout = {.counter = 4}};

static const struct queue_sequence_options plain = {.memory_bits = 2};
static const struct queue_sequence_options daily = {.memory_bits = 2,
                                                    .period = &day};
static const struct queue_sequence_options ids = {.period = &day,
                                                  .ids = &layout};
static const struct queue_sequence_options flakes = {.snowflake = &lease};

/* `shard` -2: none is passed. `words` NULL: it may be had. */
static const struct {
    const struct queue_sequence_options *options;
    bool is_contiguous;
    size_t count;
    int64_t shard;
    const char *words;
} takes[] = {
    {&plain, false, 0, -2, "count 0 is not in 1 ..."},
    {&plain, false, 1, -2, NULL},
    {&plain, false, SEQB_TAKE_MAX, -2, NULL},
    {&plain, false, (size_t)SEQB_TAKE_MAX + 1, -2, "is not in 1 ..."},
    {&plain, true, 0, -2, "the increment must be 1 ... 4"},
    {&plain, true, 1, -2, NULL},
    {&plain, true, 4, -2, NULL},
    {&plain, true, 5, -2, "not 5"},
    {&plain, true, SIZE_MAX, -2, "not -1"},
    {&plain, false, 1, 0, "has no ids"},
    {&daily, true, 1, -2, NULL},
    {&daily, true, 2, -2, "has a period"},
    {&daily, false, 2, -2, NULL},
    {&ids, false, 2, 0, NULL},
    {&ids, false, 2, 4095, NULL},
    {&ids, false, 2, 4096, "shard 4096 is not in 0 ... 4095"},
    {&ids, false, 2, -1, "shard -1 is not in 0 ... 4095"},
    {&flakes, true, 100, -2, NULL}, /* its generator knows better */
    {&flakes, false, 100, -2, NULL},
};

TEST(take_that_can_never_be_had_is_refused_with_the_reason)
{
    for (size_t i = 0; i < COUNT_OF(takes); i++) {
        const struct queue_meaning meaning = {.options = takes[i].options,
                                              .key = "order"};
        const struct queue_take take = {.count = takes[i].count,
                                        .is_contiguous = takes[i].is_contiguous,
                                        .is_sharded = takes[i].shard != -2,
                                        .shard = takes[i].shard};
        struct seqb_error err = {.text = ""};

        assert_int_equal(queue_check_take(&meaning, &take, &err),
                         takes[i].words == NULL ? SEQB_OK : SEQB_INVALID);
        if (takes[i].words == NULL)
            continue;
        assert_non_null(strstr(err.text, "sequence order"));
        assert_non_null(strstr(err.text, takes[i].words));
    }
}

/* A stamp of these ids has 15 of them; one of numbers has any. */
TEST(ids_of_one_stamp_are_as_many_as_it_has)
{
    const struct seqb_sequence of_ids = {.options = &ids, .key = "order"};
    const struct seqb_sequence of_days = {.options = &daily, .key = "order"};
    const size_t most = (size_t)bits_counter_max(&layout);

    assert_ok(queue_check_stamp(&of_ids, most, NULL));
    assert_status(queue_check_stamp(&of_ids, most + 1, NULL), SEQB_INVALID);
    assert_ok(queue_check_stamp(&of_days, most + 1, NULL));
}

/* --- of a sequence, whose source is scripted --- */

static const struct queue_take *asked; /* what the source was asked for */

static enum seqb_status note_take(struct seqb_sequence *sequence,
                                  const struct queue_take *take,
                                  struct seqb_error *err)
{
    (void)sequence;
    (void)err;
    asked = take;
    return SEQB_EXHAUSTED;
}

static enum seqb_status note_try(struct seqb_sequence *sequence,
                                 const struct queue_take *take,
                                 struct seqb_error *err)
{
    (void)note_take(sequence, take, err);
    return SEQB_CLOCK;
}

static const struct source scripted = {.take = note_take, .try_take = note_try};
static const struct bits_layout tiny = {.shard = 12, .counter = 0};
static const struct queue_sequence_options single = {.period = &day,
                                                     .ids = &tiny};

/* NULL: the source is asked. Half of max_unused is 5. */
static const struct {
    const struct queue_sequence_options *options;
    struct queue_take take;
    bool has_stamp, has_taken;
    const char *take_words, *try_words;
} calls[] = {
    {.options = &plain, .take = {.count = 1}},
    {.options = &plain, .take = {.count = 5}},
    {.options = &plain,
     .take = {.count = 6},
     .try_words = "6 numbers at once are more than half "
                  "of its max_unused, 5:"},
    {.options = &plain, .take = {.count = 6}, .has_taken = true},
    {.options = &plain, .take = {.count = 6, .is_contiguous = true}},
    {.options = &plain, .take = {.count = 0, .is_contiguous = true}},
    {.options = &plain,
     .take = {.count = 0},
     .take_words = "count 0",
     .try_words = "count 0"},
    {.options = &plain,
     .take = {.count = 1, .is_sharded = true},
     .take_words = "has no ids",
     .try_words = "has no ids"},
    {.options = &ids, .take = {.count = 1, .is_sharded = true, .shard = 4095}},
    {.options = &ids,
     .take = {.count = 15},
     .has_stamp = true,
     .has_taken = true},
    {.options = &ids,
     .take = {.count = 16},
     .has_stamp = true,
     .has_taken = true,
     .take_words = "sequence order: 16 ids, and a stamp has 15: with"},
    {.options = &ids, .take = {.count = 16}, .has_taken = true},
    {.options = &single, .take = {.count = 1}, .has_stamp = true},
    {.options = &single,
     .take = {.count = 2},
     .has_stamp = true,
     .take_words = "2 ids, and a stamp has 0"},
};

static void expect_call(struct seqb_sequence *sequence,
                        const struct queue_take *take, bool waits,
                        const char *words)
{
    struct seqb_error err = {.text = ""};
    const enum seqb_status status = waits
                                        ? queue_take(sequence, take, &err)
                                        : queue_try_take(sequence, take, &err);

    if (words == NULL) {
        assert_status(status, waits ? SEQB_EXHAUSTED : SEQB_CLOCK);
        assert_ptr_equal(asked, take);
    } else {
        assert_status(status, SEQB_INVALID);
        assert_non_null(strstr(err.text, words));
        assert_null(asked);
    }
    asked = NULL;
}

TEST(source_is_asked_for_what_may_be_had)
{
    static struct seqb_sequence sequence = {.source = &scripted,
                                            .key = "order",
                                            .settings = &sequence.own_settings,
                                            .own_settings = {.max_unused = 10}};

    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        struct queue_take take = calls[i].take;
        struct seqb_stamp stamp = {.ends_ms = 4711};
        size_t taken;

        sequence.options = calls[i].options;
        take.stamp = calls[i].has_stamp ? &stamp : NULL;
        take.taken = calls[i].has_taken ? &taken : NULL;
        expect_call(&sequence, &take, true, calls[i].take_words);
        assert_true(stamp.ends_ms == (calls[i].has_stamp ? INT64_MAX : 4711));
        expect_call(&sequence, &take, false, calls[i].try_words);
    }
    sequence.own_settings.max_unused = 1;
    expect_call(&sequence, &(struct queue_take){.count = 1}, false, NULL);
}
